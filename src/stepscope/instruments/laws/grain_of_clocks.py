"""No time is reported that is shorter than a tick of the clock that measured it."""

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
    """The judgement, in which a time below a tick is zero."""
    return replace(judgement, left_ps=0, low_ps=0) if 0 < judgement.left_ps < GRAIN_PS else judgement
