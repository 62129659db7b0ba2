"""Memory by step in words: which step peaks, how the others differ, and what makes the difference."""

from collections.abc import Iterator, Sequence
from statistics import median_low

from stepscope import units
from stepscope.instruments.memory.by_step import StepPeak, Windows, difference, typical
from stepscope.instruments.memory.peak import op_of, tensor_of
from stepscope.report.parts import Chart, Column, Section, Table

_MOST = 5
"""Holders whose difference is listed."""
_NEAR = 0.99
"""Peaks that reach this part of the highest one are as high."""
_STEPS = (
    Column("step", "int", "Step"),
    Column("bytes", "bytes", "Peak", "the most that was held during the step"),
    Column("below_bytes", "bytes", "Below the highest", "how much less that is than in the highest step"),
)
_DIFFERENCE = (
    Column("name", "text", "Holder"),
    Column("bytes", "bytes", "Highest step", "held at the peak of the highest step"),
    Column("other_bytes", "bytes", "Typical step", "held at the peak of the typical step"),
    Column("more_bytes", "bytes", "Difference"),
)


def sections(peaks: Sequence[StepPeak], steps: Windows) -> Iterator[Section]:
    """The peaks of the steps, and how the highest differs from a typical one. steps: all of each source,
    also those in which nothing was allocated."""
    if len(peaks) < 2:
        return
    recorded = sum(len(steps[source_id]) for source_id in {peak.memory.source_id for peak in peaks})
    high = max(peaks, key=lambda peak: (peak.bytes, -peak.step))
    others = [peak for peak in peaks if peak is not high]
    rows = tuple((peak.step, peak.bytes, high.bytes - peak.bytes) for peak in peaks)
    yield Section(
        "by_step",
        "By step",
        "Which step peaks, and how do the others differ?",
        (_sentence(high, others, recorded),),
        Table.whole(_STEPS, rows),
        Chart("strip", "step", ("bytes",), "Peak of each step"),
    )
    low = typical(peaks)
    by = tensor_of if any(block.shape is not None for block in high.held()) else op_of
    differing = difference(high, low, by)
    if _is_near(low, high) or not differing:
        return
    difference_rows = tuple((name, more, less, more - less) for name, more, less in differing[:_MOST])
    yield Section(
        "step_difference",
        f"Step {high.step} against step {low.step}",
        "What does the highest step hold that a typical one does not?",
        (
            f"At its peak, step {high.step} holds {_size(high.bytes - low.bytes)} more than step {low.step}"
            f"{', the middle one of the others' if len(others) > 1 else ''}.",
        ),
        Table(_DIFFERENCE, difference_rows, len(differing)),
    )


def _sentence(high: StepPeak, others: Sequence[StepPeak], recorded: int) -> str:
    all_seen = len(others) + 1 == recorded
    steps = "steps" if all_seen else f"steps that have allocations, of {recorded:,},"
    sizes = sorted(peak.bytes for peak in others)
    most, top = _size(sizes[-1]), _size(high.bytes)
    low = min(others, key=lambda peak: (peak.bytes, peak.step))
    if _is_near(low, high):
        about = "" if low.bytes == high.bytes else "about "
        every = "Both" if len(others) == 1 else f"All {len(others) + 1:,}"
        return f"{every} {steps} peak at {about}{top}."
    if len(others) == 1:
        return f"Step {high.step} peaks at {top}, step {low.step} at {most}."
    if _is_near(typical([high, *others]), high):
        return (
            f"Most of the {len(others) + 1:,} {steps} peak at about {top}; step {low.step} has the lowest "
            f"peak, {_size(low.bytes)}."
        )
    middle = _size(median_low(sizes))
    if _size(low.bytes) == most:
        return f"Step {high.step} peaks at {top}, the {len(others):,} others at {most}."
    return (
        f"Step {high.step} peaks at {top}; the peaks of the {len(others):,} others lie between "
        f"{_size(low.bytes)} and {most}, their median is {middle}."
    )


def _is_near(peak: StepPeak, high: StepPeak) -> bool:
    return peak.bytes >= _NEAR * high.bytes


def _size(value: int) -> str:
    return units.show(value, "bytes")
