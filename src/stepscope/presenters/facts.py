"""A single row that is wider than a page is read downwards."""

from __future__ import annotations

from stepscope import units
from stepscope.report import Column, Table

_MOST_ACROSS = 9
"""Columns that a page is wide enough for, mostly."""


def facts(table: Table) -> list[tuple[Column, str]]:
    """The columns of a table of one wide row, each with its value; empty for any other table."""
    if len(table.rows) != 1 or table.total != 1 or len(table.columns) <= _MOST_ACROSS:
        return []
    pairs = zip(table.columns, table.rows[0], strict=True)
    return [(column, units.show(value, column.unit)) for column, value in pairs]
