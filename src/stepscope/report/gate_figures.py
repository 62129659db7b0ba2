"""Figures of a comparison as words: what grew, by how much, beyond which limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from stepscope import units
from stepscope.report.bases import called

if TYPE_CHECKING:
    from stepscope.instruments.compare.budgets import Kept
    from stepscope.instruments.compare.recordings import RecordedRun
    from stepscope.instruments.compare.timed_figures import TimedFigure

FIGURES = {
    "ops_per_step": "ops in a step",
    "kernels_per_step": "kernels in a step",
    "copies_per_step": "copies in a step",
    "copied_bytes_per_step": "bytes copied in a step",
    "recompilations": "recompilations",
    "memory_peak_bytes": "peak of memory",
    "float_ops_per_step": "floating point operations in a step",
    "graph_nodes": "nodes of graphs",
}


def how_many(side: Sequence[RecordedRun]) -> str:
    """The recordings of a side, counted."""
    return units.count(len(side), "recording")


def exceeded_text(kept: Kept) -> str:
    """A figure beyond its limit, and the limit."""
    most, allowed = (figure_text(value, kept.unit) for value in (kept.candidate[1], kept.allowed))
    return f"{FIGURES[kept.name]} {most}, allowed {allowed}"


def slower_text(figure: TimedFigure) -> str:
    """What takes longer or less, by how much, and within which bounds."""
    name = {
        "op": called(figure.names),
        "part": f"the part {figure.names[0]}",
        "step": f"the step's {figure.names[0]}",
    }
    return f"{name[figure.what]} {change_text(figure.shift)}{interval_text(figure)}"


def interval_text(figure: TimedFigure) -> str:
    """The bounds between which a change lies; empty where they are unknown."""
    if figure.low is None or figure.high is None:
        return ""
    return f" ({change_text(figure.low)} to {change_text(figure.high)})"


def change_text(share: float | None) -> str:
    """A change with its sign."""
    if share is None:
        return units.NOTHING
    return f"{'-' if share < 0 else '+'}{units.show(abs(share), 'ratio')}"


def figure_text(value: float, unit: str) -> str:
    """A figure in its unit; without decimals where it is whole."""
    return units.show(units.whole(value), cast("units.Unit", unit))


def span_text(values: tuple[float, float], unit: str) -> str:
    """From the least to the most, or one value where they are equal."""
    low, high = (figure_text(value, unit) for value in values)
    return low if low == high else f"{low} to {high}"
