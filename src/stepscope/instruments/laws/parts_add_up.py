"""Parts of a step add up to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.instruments.laws.violation import Broken, Weakens

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement

HOLDS = (
    "The parts of a step add up to its duration, none is larger than the step, and no share exceeds 100 %."
)
TOLERANCE = "One part in a million: means are whole picoseconds."
WEAKENS: tuple[Weakens, ...] = ("share", "left")

RELATIVE = 1e-6


def proved(judgement: Judgement) -> Judgement:
    """The judgement, without a cause where its parts are impossible."""
    sums = sum(part.ps_per_step for part in judgement.parts)
    slack = len(judgement.parts) + 1 + RELATIVE * judgement.mean_ps
    shares = [part.share for part in judgement.parts] + [
        judgement.share,
        judgement.op_share or 0.0,
        judgement.layer_share or 0.0,
    ]
    if abs(sums - judgement.mean_ps) <= slack and all(0 <= share <= 1 + RELATIVE for share in shares):
        return judgement
    sentence = "the parts of a step do not add up to it, so nothing is said of its cause"
    law = Broken(
        judgement.run_id,
        judgement.host_id,
        0,
        "parts_add_up",
        abs(sums - judgement.mean_ps),
        judgement.mean_ps,
        sentence,
    )
    return replace(
        judgement,
        cause="unknown",
        share=0.0,
        ps_per_step=0,
        left_ps=judgement.mean_ps,
        broken=(*judgement.broken, law),
    )
