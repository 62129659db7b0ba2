"""Columns with one value in every row: it is said once, above the table."""

from collections.abc import Sequence
from typing import Any

from stepscope.presenters.plain import plain
from stepscope.report import Table
from stepscope.units import Scale

_PLACES = ("run_id", "host_id", "source_id")
"""Where rows come from. If all come from one place, the report says so elsewhere, and the SQL has the
columns."""
_FEWEST_ROWS = 3
"""In a shorter table a repeated value does not disturb."""
_LONGEST = 200


def drop_constants(table: Table) -> tuple[Table, str]:
    """The table without the columns of text that have one value, and a sentence with these values.

    Numbers stay: that they are equal may be the news. The sentence is empty when no column is dropped.
    """
    rows = table.rows
    alike = {i for i in range(len(table.columns)) if _are_alike(rows, i)}
    places = {i for i in alike if table.columns[i].name in _PLACES}
    words = _words(table, alike - places) if len(rows) >= _FEWEST_ROWS else set()
    kept = sorted(set(range(len(table.columns))) - places - words)
    if not kept:
        return table, ""
    scales = table.scales()
    constants = [_constant(table.columns[i].title, rows[0][i], scales[i]) for i in sorted(words)]
    columns = tuple(table.columns[i] for i in kept)
    short = Table(columns, tuple(tuple(row[i] for i in kept) for row in rows), table.total)
    # Rows that a limit left out may say something else.
    where = "In every row" if table.total <= len(rows) else "In every row shown"
    return short, f"{where}: {'; '.join(constants)}." if constants else ""


def _words(table: Table, columns: set[int]) -> set[int]:
    """Those of the columns that hold no numbers."""
    return {i for i in columns if table.columns[i].unit in ("text", "bool")}


def _are_alike(rows: Sequence[Sequence[Any]], column: int) -> bool:
    return len(rows) > 1 and len({row[column] for row in rows}) == 1


def _constant(title: str, value: Any, scale: Scale) -> str:
    return f"{title} has no value" if value is None else f"{title} = {plain(scale.cell(value), _LONGEST)}"
