"""Parts of a step add up to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.instruments.laws.broken import Broken, Weakens

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement

HOLDS = (
    "The parts of a step add up to its duration, none is larger than the step, and no share exceeds 100 %."
)
TOLERANCE = "One part in a million: means are whole picoseconds."
WEAKENS: tuple[Weakens, ...] = ("share", "left")

RELATIVE = 1e-6


def proved(one: Judgement) -> Judgement:
    """The judgement, without a cause where its parts are impossible."""
    sums = sum(part.ps_per_step for part in one.parts)
    slack = len(one.parts) + 1 + RELATIVE * one.mean_ps
    shares = [part.share for part in one.parts] + [one.share, one.op_share or 0.0, one.layer_share or 0.0]
    if abs(sums - one.mean_ps) <= slack and all(0 <= share <= 1 + RELATIVE for share in shares):
        return one
    said = "the parts of a step do not add up to it, so nothing is said of its cause"
    law = Broken(one.run_id, one.host_id, 0, "parts_add_up", abs(sums - one.mean_ps), one.mean_ps, said)
    return replace(
        one, cause="unknown", share=0.0, ps_per_step=0, left_ps=one.mean_ps, broken=(*one.broken, law)
    )
