"""Items of "tfprof: profile the model"."""

from __future__ import annotations

from .item import Item

TITLE = "tfprof: profile the model"

ITEMS: list[Item] = []
