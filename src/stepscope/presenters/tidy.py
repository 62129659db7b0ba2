"""The report as one CSV, a value a line: what spreadsheets and data frames can pivot."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from stepscope.presenters.rows import to_csv
from stepscope.report import Report, Table

COLUMNS = ("part", "name", "row", "column", "unit", "value")


def render(report: Report) -> str:
    """Lines of part (section or finding), its name, number of the row, column, unit and the raw value."""
    out = io.StringIO(newline="")
    to_csv(COLUMNS, _lines(report), out)
    return out.getvalue()


def _lines(report: Report) -> Iterator[tuple[Any, ...]]:
    for finding in report.findings:
        yield from _table("finding", finding.slug, finding.evidence)
    for section in report.sections:
        if section.table is not None:
            yield from _table("section", section.name, section.table)


def _table(part: str, name: str, table: Table) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(table.rows, 1):
        for column, value in zip(table.columns, row, strict=True):
            yield part, name, number, column.name, column.unit, value
