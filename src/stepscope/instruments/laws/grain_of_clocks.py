"""Nothing is told that a clock cannot tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stepscope.instruments.laws.violation import Weakens

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement

HOLDS = (
    "A duration that is concluded is no shorter than a tick of the finest clock of a recorder, a nanosecond."
)
TOLERANCE = "None."
WEAKENS: tuple[Weakens, ...] = ("left",)

GRAIN_PS = 1000


def proved(judgement: Judgement) -> Judgement:
    """The judgement; what is shorter than a tick is nothing."""
    return replace(judgement, left_ps=0, low_ps=0) if 0 < judgement.left_ps < GRAIN_PS else judgement
