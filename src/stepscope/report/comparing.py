"""Two recordings side by side as a report: the largest differences first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.report.parts import Column, Report, Section, Table

if TYPE_CHECKING:
    from stepscope.instruments.comparing import Measured
    from stepscope.units import Unit

UNKNOWN_NOISE = (
    "This describes one recording of each. How much recordings of the same program differ is not known, so a"
    " small difference may mean nothing."
)
_MOST_NAMED = 3
_LEAST = 0.05
"""A part is named in the headline when it changes by more than this of the difference of the steps."""


def build(a: Measured, b: Measured) -> Report:
    """The report: a headline, then steps, parts, op types, stages and memory."""
    whole = "a step" if a.steps and b.steps else "the recording"
    tables = (
        ("parts", "Step parts", "What changed in a step?", "Part", "ps", a.parts, b.parts),
        ("ops", "Op types", f"Which types take more or less of {whole}?", "Op type", "ps", a.ops, b.ops),
        ("counts", "Executions", f"Which types run more in {whole}?", "Op type", "float", a.counts, b.counts),
        ("stages", "Stages", "Which stages need more or less for a step?", "Stage", "ps", a.stages, b.stages),
        ("memory", "Memory", "Where is the peak higher or lower?", "Allocator", "bytes", a.memory, b.memory),
    )  # fmt: skip
    sections = [_steps(a, b), *(_section(*table) for table in tables)]
    kept = tuple(section for section in sections if section.table is not None and section.table.rows)
    return Report(f"{a.name} (A) and {b.name} (B)", tuple(_headline(a, b)), kept)


def _headline(a: Measured, b: Measured) -> list[str]:
    if not a.steps or not b.steps:
        without = [one.name for one in (a, b) if not one.steps]
        return [
            f"Steps are not known of {' and '.join(without)}, so whole recordings are compared.",
            UNKNOWN_NOISE,
        ]
    change = b.mean_ps - a.mean_ps
    lengths = f"{units.show(a.mean_ps, 'ps')} in A and {units.show(b.mean_ps, 'ps')} in B"
    if not change:
        return [f"A step takes {lengths}.", UNKNOWN_NOISE]
    way = "less" if change < 0 else "more"
    share = f" ({units.show(abs(change) / a.mean_ps, 'ratio')})" if a.mean_ps else ""
    told = [f"A step takes {lengths}: {units.show(abs(change), 'ps')} {way}{share}."]
    changes = {name: b.parts.get(name, 0) - a.parts.get(name, 0) for name in {**a.parts, **b.parts}}
    large = sorted(
        (name for name, by in changes.items() if abs(by) > _LEAST * abs(change)),
        key=lambda name: (-abs(changes[name]), name),
    )
    if large:
        named = ", ".join(f"{name} {_signed(changes[name])}" for name in large[:_MOST_NAMED])
        told.append(f"By part: {named}.")
    return [*told, UNKNOWN_NOISE]


def _signed(ps: int) -> str:
    return f"{'-' if ps < 0 else '+'}{units.show(abs(ps), 'ps')}"


def _steps(a: Measured, b: Measured) -> Section:
    columns = (
        Column("side", "text", "Side", "A or B"),
        Column("name", "text", "Recording", "run or host"),
        Column("steps", "int", "Steps", "steps that averages include"),
        Column("mean_ps", "ps", "Mean", "mean duration of a step"),
        Column("median_ps", "ps", "Median", "median duration of a step"),
    )
    rows = tuple(
        (side, one.name, one.steps, one.mean_ps, one.median_ps) for side, one in (("A", a), ("B", b))
    )
    return Section("compared_steps", "Steps", "How long do steps take?", table=Table(columns, rows, 2))


def _section(
    name: str,
    title: str,
    question: str,
    what: str,
    unit: Unit,
    a: Mapping[str, float],
    b: Mapping[str, float],
) -> Section:
    """A table of both sides, the largest change first."""
    columns = (
        Column("name", "text", what, "name on either side"),
        Column("a", unit, "A", "in A; nothing where A lacks it"),
        Column("b", unit, "B", "in B; nothing where B lacks it"),
        Column("change", unit, "Change", "B less A"),
        Column("matched", "text", "In", "both, A only or B only"),
    )
    rows = []
    for key in {**a, **b}:
        change = b.get(key, 0) - a.get(key, 0)
        where = "both" if key in a and key in b else "A only" if key in a else "B only"
        rows.append((key, a.get(key), b.get(key), change, where))
    rows.sort(key=lambda row: (-abs(row[3]), row[0]))
    left = sum(row[4] == "A only" for row in rows)
    new = sum(row[4] == "B only" for row in rows)
    answer = []
    if left or new:
        answer.append(f"Names are matched exactly: {left} only in A, {new} only in B.")
    return Section(f"compared_{name}", title, question, tuple(answer), Table(columns, tuple(rows), len(rows)))
