"""What remains of a step without its cause."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.instruments.laws.violation import Weakens
from stepscope.instruments.step_breakdown.labels import ON_DEVICES

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement

HOLDS = (
    "What remains of a step without its cause is at least what the device itself executed in it besides, "
    "without the copies that the line of the cause makes, at most the step, and a typical one of the same "
    "steps. Bounds lie around it."
)
TOLERANCE = "One picosecond for each part."
WEAKENS: tuple[Weakens, ...] = ("left",)


def proved(judgement: Judgement) -> Judgement:
    """The judgement, with what remains kept within what is possible."""
    least = 0
    if judgement.on_device and judgement.cause not in ("compute", "none"):
        executed = {
            part.label: part.ps_per_step
            for part in judgement.parts
            if part.label in ON_DEVICES and part.label != judgement.cause
        }
        least = sum(executed.values()) - min(executed.get("copy", 0), judgement.besides_ps)
    left = min(max(judgement.left_ps, min(least, judgement.mean_ps)), judgement.mean_ps)
    low, high = min(judgement.low_ps, left), min(max(judgement.high_ps, left), max(judgement.mean_ps, left))
    return (
        judgement
        if (left, low, high) == (judgement.left_ps, judgement.low_ps, judgement.high_ps)
        else replace(judgement, left_ps=left, low_ps=low, high_ps=high)
    )
