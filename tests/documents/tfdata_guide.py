"""Items of "Analyze tf.data performance with the TF Profiler"."""

from __future__ import annotations

from .item import Item

TITLE = "Analyze tf.data performance with the TF Profiler"

ITEMS: list[Item] = []
