"""Items of "Methods of XLA: dumps, flags, clusters, debuggers"."""

from __future__ import annotations

from .item import Item

TITLE = "Methods of XLA: dumps, flags, clusters, debuggers"

ITEMS: list[Item] = []
