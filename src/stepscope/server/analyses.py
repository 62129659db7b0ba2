"""One analysis or finding of the library with filters, and the ops that the page groups interactively."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from stepscope import library
from stepscope.errors import NothingFound
from stepscope.kernel_names import function_name
from stepscope.library.statements import statement
from stepscope.server.catalog import dicts, page_row
from stepscope.server.replies import refuse

if TYPE_CHECKING:
    from stepscope.library import Entry
    from stepscope.session.trace import OpenTrace

MOST_ROWS = 5_000
MOST_OPS = 20_000
MOST_BLOCKS = 4_000
_TOTALS = ("rows_in_all", "self_in_all_ps")


def find(name: str) -> Entry:
    """An analysis or finding by its name. NothingFound when there is none."""
    known = [*library.names("analysis"), *library.names("finding")]
    if name not in known or name.startswith("_"):
        raise NothingFound(
            "There is no such analysis.", seen=repr(name)[:60], todo="ask /api/schema for their names"
        )
    return library.named(name)


def answer(trace: OpenTrace, entry: Entry, filters: Mapping[str, str]) -> dict[str, Any]:
    """The rows of an analysis whose columns have these values, at most MOST_ROWS, as a section of a report.
    Refused with status 400 for an unknown column."""
    names = [column.name for column in entry.columns]
    for name in filters:
        if name not in names:
            refuse(repr(name)[:60], f"use {', '.join(names)}", "The analysis has no such column.")
    at = {names.index(name): value for name, value in filters.items()}
    found = trace.ask(entry).rows()
    rows = [row for row in found if all(_text(row[i]) == value for i, value in at.items())]
    chart = entry.chart
    return {
        "name": entry.name,
        "title": entry.title,
        "question": entry.question,
        "notes": entry.notes,
        "table": {
            "columns": [
                {"name": field.name, "unit": field.unit, "title": field.title, "about": field.about}
                for field in entry.columns
            ],
            "rows": [page_row(dict(zip(names, row, strict=True))) for row in rows[:MOST_ROWS]],
            "total": len(rows),
        },
        "chart": None if chart is None else {**chart._asdict(), "title": entry.title},
        "sql": entry.sql,
    }


def ops(trace: OpenTrace) -> dict[str, Any]:
    """Ops by device, op and type, with short names of those that are kernels; rows beyond a limit are
    counted."""
    rows = dicts(trace.query(statement("page_ops", most=MOST_OPS)))
    total, all_ps = (rows[0][name] for name in _TOTALS) if rows else (0, 0)
    kept = [{key: value for key, value in row.items() if key not in _TOTALS} for row in rows]
    names = {row[key] for row in kept for key in ("op", "op_type") if row[key]}
    return {
        "rows": kept,
        "short_names": {name: short for name in names if (short := function_name(name))},
        "total": total,
        "left_out_self_ps": all_ps - sum(row["self_ps"] for row in kept),
    }


def launching(trace: OpenTrace) -> dict[str, Any]:
    """Work on devices by the op of the program that launched it; the largest self times."""
    rows = dicts(trace.query(statement("page_launching_ops", most=MOST_OPS)))
    return {"rows": [{**row, "self_ps": row.pop("own_ps"), "feeds": False} for row in rows]}


def buffers(trace: OpenTrace) -> dict[str, Any]:
    """The largest blocks of each allocator, on the page's axis of time."""
    rows = dicts(trace.query(statement("page_buffers", most=MOST_BLOCKS)))
    return {"rows": [page_row(row) for row in rows]}


ROWS: dict[str, Callable[[OpenTrace], dict[str, Any]]] = {
    "ops": ops,
    "launching": launching,
    "buffers": buffers,
}


def _text(value: Any) -> str:
    """A value as the text of a query string."""
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
