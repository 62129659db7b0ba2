"""The parts of a report: plain data, every value with its unit, no arithmetic left to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from stepscope.engines import first_rows
from stepscope.units import Scale, Severity, Unit, scales

if TYPE_CHECKING:
    from stepscope import library
    from stepscope.session.trace import OpenTrace

Rows = list[dict[str, Any]]
"""Rows of a result as a sentence reads them: values by column."""


@dataclass(frozen=True)
class Column:
    """A column of a result: its SQL name, its unit and a heading for people."""

    name: str
    unit: Unit
    title: str
    about: str = ""
    signed: bool = False
    """Whether it holds differences, which are shown with their sign."""


@dataclass(frozen=True)
class Table:
    """Rows of a result; `total` counts those that a limit left out as well."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int

    @classmethod
    def whole(cls, columns: tuple[Column, ...], rows: Iterable[tuple[Any, ...]]) -> Table:
        """A table of which nothing was left out."""
        kept = tuple(rows)
        return cls(columns, kept, len(kept))

    def scales(self) -> list[Scale]:
        """How the values of each column are written."""
        return scales(
            [column.unit for column in self.columns], self.rows, [column.signed for column in self.columns]
        )


@dataclass(frozen=True)
class Chart:
    """How to draw a table: bar (a bar per row), line or area (y over x), strip (a thin bar per x)."""

    kind: Literal["bar", "stacked_bar", "line", "strip", "area"]
    x: str
    y: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's program."""

    file: str
    line: int


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree. Its parent is the closest node before it with a smaller depth."""

    depth: int
    name: str
    values: tuple[Any, ...]
    """One value per column of the tree; None where the node has none."""
    line: SourceLine | None = None
    mark: str = ""
    """Why the node stands out, in a word or two: "bottleneck"."""
    about: str = ""
    kind: str = ""
    """Of a frame of code, whose it is: program, library, python, native or unknown; or folded."""


@dataclass(frozen=True)
class Tree:
    """Things inside of things, each with its values. Parents come before their children."""

    columns: tuple[Column, ...]
    nodes: tuple[TreeNode, ...]
    note: str = ""
    """How to read the names."""
    size: str = ""
    """Column that says how wide each node is within its parent, so that the tree can be drawn as a flame
    graph; empty for a tree whose values say nothing of that kind."""


@dataclass(frozen=True)
class Edit:
    """A line of the program before and after a change; `after` is None when only the place is known."""

    at: SourceLine
    before: str
    after: str | None


@dataclass(frozen=True)
class Change:
    """Something that the user could change, and what it would do."""

    name: str
    what: str
    helps: bool | None
    """None when the effect cannot be predicted."""
    values: tuple[Any, ...]
    """One value per column of the diff; all None when the effect cannot be predicted."""
    outcome: str = ""
    edit: Edit | None = None


@dataclass(frozen=True)
class Diff:
    """Changes to the program with their predicted effects, the best advice first."""

    columns: tuple[Column, ...]
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Share:
    """What one class of work takes of a mean step."""

    label: str
    word: str
    """What it is called."""
    ps: int
    share: float


@dataclass(frozen=True)
class Split:
    """A mean step by classes of work, in the order in which a bar shows them."""

    of: str
    """Whose step it is, where there are several: run and host."""
    long: str
    """How long it takes, in words."""
    shares: tuple[Share, ...]


Kind = Literal["table", "bars", "curve", "tree", "diff", "findings", "prose"]


@dataclass(frozen=True)
class Section:
    """One question with its answer: sentences first, then the rows that prove them.

    A section holds at most one of table, tree, diff and findings; `kind` says which. `parts` are the
    sections of a section about one thing (a recording, an allocator), which `subject` names."""

    name: str
    title: str
    question: str = ""
    answer: tuple[str, ...] = ()
    table: Table | None = None
    chart: Chart | None = None
    sql: str = ""
    tree: Tree | None = None
    diff: Diff | None = None
    findings: tuple[ReportFinding, ...] = ()
    subject: str = ""
    parts: tuple[Section, ...] = ()
    splits: tuple[Split, ...] = ()
    """Mean steps by classes of work, for a screen that has room for one bar; the table has all of it."""

    @property
    def kind(self) -> Kind:
        """What the section shows besides its sentences."""
        if self.table is not None:
            if self.chart is None:
                return "table"
            return "bars" if self.chart.kind in ("bar", "stacked_bar") else "curve"
        if self.tree is not None:
            return "tree"
        if self.diff is not None:
            return "diff"
        return "findings" if self.findings else "prose"

    def walk(self) -> Iterator[Section]:
        """The section and those inside it, outer ones first."""
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True)
class ReportFinding:
    """A problem shown by the data."""

    slug: str
    severity: Severity
    title: str
    impact: str
    action: str
    evidence: Table
    sql: str
    weakened_by: tuple[str, ...] = ()
    reasoning: str = ""
    """Why what was found costs time."""
    formula: str = ""
    """How the numbers come about, and from when on it is reported."""

    @property
    def cases(self) -> Table:
        """The evidence without the severity of its rows, where that is the finding's."""
        columns, rows = self.evidence.columns, self.evidence.rows
        severities = {
            at
            for at, column in enumerate(columns)
            if column.name == "severity" and all(row[at] == self.severity for row in rows)
        }
        kept = [at for at in range(len(columns)) if at not in severities]
        short = tuple(tuple(row[at] for at in kept) for row in rows)
        return Table(tuple(columns[at] for at in kept), short, self.evidence.total)


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
    """Everything a presenter needs. Every verb makes one; every presenter shows any of them."""

    title: str
    headline: tuple[str, ...]
    sections: tuple[Section, ...] = ()
    findings: tuple[ReportFinding, ...] = ()
    notes: tuple[Note, ...] = ()
    next_commands: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)
    document: Mapping[str, Any] = field(default_factory=dict)
    """Keys that the JSON of a verb has promised to programs beside those above (`verdict`, `allocators`);
    values are raw: integer picoseconds, bytes, shares from 0 to 1."""

    @property
    def other_notes(self) -> tuple[Note, ...]:
        """The notes that no finding says as well."""
        told_by_findings = {finding.slug for finding in self.findings}
        return tuple(note for note in self.notes if note.slug not in told_by_findings)


class FirstRows(NamedTuple):
    """How much of an answer is wanted that may have a row for each slice."""

    order: tuple[str, ...]
    """The columns that its rows are in order by; "-" before one whose largest value is first."""
    each: Mapping[str, tuple[str, ...]] = {}
    """A column and its values: `most` rows are wanted for each of these."""
    most: int = 0


def ask(
    trace: OpenTrace,
    entries: Sequence[library.Entry],
    keep: Sequence[str],
    first: Mapping[str, FirstRows] | None = None,
) -> dict[str, Table]:
    """What entries of the library answer, by their names. keep: base views to compute once. first: entries of
    which not all rows are wanted."""
    first = first or {}
    asked = [_cut(entry, first[entry.name]) if entry.name in first else entry for entry in entries]
    found: dict[str, Table] = {}
    for entry, rows in zip(entries, trace.answers(asked, keep), strict=True):
        columns = tuple(Column(f.name, cast("Unit", f.unit), f.title, f.about) for f in entry.columns)
        total = len(rows)
        if entry.name in first:
            total = rows[0][-1] if rows else 0
            rows = [row[:-1] for row in rows]
        found[entry.name] = Table(columns, tuple(rows), total)
    return found


def _cut(entry: library.Entry, wanted: FirstRows) -> library.Entry:
    names = [column.name for column in entry.columns]
    return entry._replace(sql=first_rows(entry.sql, names, wanted.order, wanted.most, wanted.each))


def dicts(table: Table) -> Rows:
    """The rows of a table, values by column."""
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]
