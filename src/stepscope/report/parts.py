"""The parts of a report: plain data, every value with its unit, no arithmetic left to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from stepscope.units import Unit

if TYPE_CHECKING:
    from stepscope import library
    from stepscope.session.trace import Trace

Rows = list[dict[str, Any]]
"""Rows of a result as a sentence reads them: values by column."""


@dataclass(frozen=True)
class Column:
    """A column of a result: its SQL name, its unit and a heading for people."""

    name: str
    unit: Unit
    title: str
    about: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of a result; `total` counts those that a limit left out as well."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int


@dataclass(frozen=True)
class Chart:
    """How a table is better looked at: kind bar (one row a bar), line (x over y), strip (x, many y)."""

    kind: Literal["bar", "stacked_bar", "line", "strip"]
    x: str
    y: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class Section:
    """One question with its answer: sentences first, then the rows that prove them."""

    name: str
    title: str
    question: str
    answer: tuple[str, ...]
    table: Table | None
    chart: Chart | None
    sql: str


@dataclass(frozen=True)
class Finding:
    """A problem shown by the data."""

    slug: str
    severity: Literal["high", "medium", "low", "info"]
    title: str
    impact: str
    action: str
    evidence: Table
    sql: str
    weakened_by: tuple[str, ...] = ()
    reasoning: str = ""
    """Why what was found costs time."""
    formula: str = ""
    """How the numbers come about, and from when on it is told."""


@dataclass(frozen=True)
class Note:
    """Something lost, repaired, capped or missing, and the statements it weakens."""

    slug: str
    effect: str
    path: str
    events: int
    detail: str
    weakens: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """Everything a presenter needs."""

    title: str
    headline: tuple[str, ...]
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    next_commands: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict)


def ask(trace: Trace, entries: Sequence[library.Entry], keep: Sequence[str]) -> dict[str, Table]:
    """What entries of the library answer, by their names. keep: base views to compute once."""
    found: dict[str, Table] = {}
    for entry, rows in zip(entries, trace.answers(entries, keep), strict=True):
        columns = tuple(Column(f.name, cast("Unit", f.unit), f.title, f.about) for f in entry.columns)
        found[entry.name] = Table(columns, tuple(rows), len(rows))
    return found


def dicts(table: Table) -> Rows:
    """The rows of a table, values by column."""
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]
