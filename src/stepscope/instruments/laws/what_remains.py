"""What remains of a step without its cause."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.instruments.laws.broken import Weakens
from stepscope.instruments.step_breakdown.labels import ON_DEVICES

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement

HOLDS = (
    "What remains of a step without its cause is at least what the device itself executed in it besides, "
    "at most the step, and a mean over the same steps. Bounds lie around it."
)
TOLERANCE = "One picosecond for each part."
WEAKENS: tuple[Weakens, ...] = ("left",)


def proved(one: Judgement) -> Judgement:
    """The judgement, with what remains kept within what is possible."""
    least = 0
    if one.on_device and one.cause not in ("compute", "none"):
        least = sum(
            part.ps_per_step for part in one.parts if part.label in ON_DEVICES and part.label != one.cause
        )
    left = min(max(one.left_ps, min(least, one.mean_ps)), one.mean_ps)
    low, high = min(one.low_ps, left), min(max(one.high_ps, left), max(one.mean_ps, left))
    return (
        one
        if (left, low, high) == (one.left_ps, one.low_ps, one.high_ps)
        else replace(one, left_ps=left, low_ps=low, high_ps=high)
    )
