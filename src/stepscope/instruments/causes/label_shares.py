"""What labels take of a mean step, and which of them limits it, as far as labels tell."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.step_breakdown.labels import LABELS, Label

CauseName = Label | Literal["none"]


@dataclass(frozen=True)
class LabelShare:
    """What one label takes of a mean step."""

    label: Label
    ps_per_step: int
    share: float


@dataclass(frozen=True)
class Weighed:
    """What labels take of the steps that are judged, and so what limits them."""

    parts: tuple[LabelShare, ...]
    """All labels that took any time, the longest first."""
    cause: CauseName
    """As far as labels alone tell: never `compute`, which is said of one type of op."""
    steps: int
    """How many were judged."""
    mean_ps: int
    whole_capture: bool
    """No steps were found; the whole recording stands for one."""
    elsewhere: bool = field(default=False, kw_only=True)
    """The steps are untraced ones of the loop whose pipeline was traced."""

    def share_of(self, label: str) -> float:
        """The part of a mean step that counts to a label."""
        return next((part.share for part in self.parts if part.label == label), 0.0)

    def ps_per_step_of(self, label: str) -> int:
        """What counts to a label in a mean step."""
        return next((part.ps_per_step for part in self.parts if part.label == label), 0)


def parts_of(steps: Sequence[tuple[int, Sums]]) -> tuple[LabelShare, ...]:
    """What labels take of a mean step, the longest first. steps: duration and parts of each."""
    whole = sum(dur_ps for dur_ps, _ in steps)
    if not whole:
        return ()
    sums: dict[str, int] = {}
    for _, parts in steps:
        for label, ps in parts.items():
            sums[label] = sums.get(label, 0) + ps
    totals = [(label, sums[label]) for label in LABELS if sums.get(label)]
    found = [LabelShare(label, total // len(steps), total / whole) for label, total in totals]
    return tuple(sorted(found, key=lambda part: (-part.share, LABELS.index(part.label))))
