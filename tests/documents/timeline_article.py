"""Items of "Timelines of a session's run"."""

from __future__ import annotations

from .item import Item

TITLE = "Timelines of a session's run"

ITEMS: list[Item] = []
