"""The report as one CSV, a value a line: what spreadsheets and data frames can pivot."""

import io
from collections.abc import Iterator, Sequence
from typing import Any

from stepscope.presenters.rows import write_csv
from stepscope.report import Column, Report, Section, Table

COLUMNS = ("part", "name", "row", "column", "unit", "value")


def render(report: Report, *, spreadsheet: bool = False) -> str:
    """Lines of part (section or finding), its name, number of the row, column, unit and the raw value.

    spreadsheet: as in to_csv.
    """
    out = io.StringIO(newline="")
    write_csv(COLUMNS, _lines(report), out, spreadsheet=spreadsheet)
    return out.getvalue()


def _lines(report: Report) -> Iterator[tuple[Any, ...]]:
    for finding in report.findings:
        yield from _table("finding", finding.slug, finding.evidence)
    for section in report.sections:
        yield from _section(section, ())


def _section(section: Section, within: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    path = (*within, section.subject) if section.subject else within
    name = " ".join((*path, section.name))
    for finding in section.findings:
        yield from _table("finding", " ".join((*path, finding.slug)), finding.evidence)
    if section.table is not None:
        yield from _table("section", name, section.table)
    if (tree := section.tree) is not None:
        for number, node in enumerate(tree.nodes, 1):
            yield "section", name, number, "depth", "int", node.depth
            yield "section", name, number, "name", "text", node.name
            yield from _row("section", name, number, tree.columns, node.values)
    if (diff := section.diff) is not None:
        for number, change in enumerate(diff.changes, 1):
            yield "section", name, number, "change", "text", change.what
            yield "section", name, number, "helps", "bool", change.helps
            yield from _row("section", name, number, diff.columns, change.values)
    for part in section.parts:
        yield from _section(part, path)


def _table(part: str, name: str, table: Table) -> Iterator[tuple[Any, ...]]:
    for number, row in enumerate(table.rows, 1):
        yield from _row(part, name, number, table.columns, row)


def _row(
    part: str, name: str, number: int, columns: Sequence[Column], values: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    for column, value in zip(columns, values, strict=True):
        yield part, name, number, column.name, column.unit, value
