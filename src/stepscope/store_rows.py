"""Rows and notes that Python adds to a decoded store. `messages` explains the slugs of notes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope._core import Store

TRACK = ("device_id", "kind", "records", "process", "name", "origin", "sort_index")
DEVICE = ("name", "kind", "args_json")
LACKS = ("lost", "capped", "missing")
"""Effects of notes that say that something is not there."""


def put(
    store: Store, table: str, rows: Sequence[Mapping[str, Any]], columns: Collection[str] | None = None
) -> None:
    """Replaces the rows of a table, where there are any. columns: those to keep; by default all."""
    if rows:
        store.replace(table, {name: [row[name] for row in rows] for name in columns or rows[0]})


def note(
    slug: str, effect: str, detail: str, events: int = 0, first_offset: int | None = None
) -> dict[str, Any]:
    """A note as the facts of a store have it: how many events it is about, and where the first lies."""
    return {"slug": slug, "effect": effect, "events": events, "first_offset": first_offset, "detail": detail}


def add_notes(store: Store, *notes: dict[str, Any]) -> None:
    """Adds notes to those of a store."""
    if notes:
        store.update_facts({"notes": [*store.facts.get("notes", ()), *notes]})
