"""Steps that no profiler recorded: how long they took, and where their thread was meanwhile.

A profiler makes some parts of a step longer than others, so the parts of recorded steps tell of no other step
how long it takes. The recorder times the steps after the recorded ones, and looks at their stacks. What part
of the time at a place goes with a cause is known from the recorded steps, whose ops are known.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, median
from typing import NamedTuple

from stepscope.instruments.causes.call_paths import CallPath
from stepscope.instruments.causes.gain import LeftUntraced
from stepscope.instruments.causes.sampled_lines import StackEvidence
from stepscope.instruments.step_breakdown import labels
from stepscope.instruments.step_breakdown.labels import Label

FEW_LOOKS, FEW_STEPS = 50, 10
"""Fewer steps or samples are not worth comparing."""
_Place = tuple[CallPath, Label | None]


class UntracedLooks(NamedTuple):
    """Samples of one stack."""

    stack_id: int
    looks: int
    weight_ps: int
    active_ps: int | None


class GoesAtStack(NamedTuple):
    """Picoseconds of the recorded steps at one stack."""

    goes_ps: float
    whole_ps: float


class UntracedSteps(NamedTuple):
    """Steps without a profiler, and their samples."""

    durations_ps: Sequence[float]
    seen: Sequence[UntracedLooks]

    @property
    def typical_ps(self) -> float:
        """How long such a step takes."""
        return median(self.durations_ps)

    def left_without(
        self, cause: str, traced: Mapping[int, GoesAtStack], evidence: StackEvidence
    ) -> LeftUntraced | None:
        """The remaining time of such a step. traced: by stack, the part of the recorded steps that
        disappears. None if too little was sampled."""
        number, whole_ps = sum(seen.looks for seen in self.seen), sum(seen.weight_ps for seen in self.seen)
        if number < FEW_LOOKS or len(self.durations_ps) < FEW_STEPS:
            return None
        places = _places(evidence)
        known: dict[_Place, list[float]] = defaultdict(lambda: [0.0, 0.0])
        for stack_id, at in traced.items():
            sums = known[places.get(stack_id, _NOWHERE)]
            sums[0] += at.goes_ps
            sums[1] += at.whole_ps
        share = squares = 0.0
        for seen in self.seen:
            goes, whole = known.get(places.get(seen.stack_id, _NOWHERE), (0.0, 0.0))
            part = goes / whole if whole > 0 else _stack_share(cause, seen, evidence)
            share += part * seen.weight_ps / whole_ps
            squares += part * part * seen.weight_ps / whole_ps
        # Where none was seen, the next recording may see one.
        error = sqrt(max(squares - share * share, 1 / number) / number)
        return LeftUntraced(self.typical_ps, fmean(self.durations_ps), share, error)


_NOWHERE: _Place = ((), None)


def untraced_of(durations_ns: Sequence[float], rows: Sequence[UntracedLooks]) -> UntracedSteps | None:
    """From the rows of untraced_steps and of untraced_stacks; None where nothing was seen."""
    return UntracedSteps([1000 * ns for ns in durations_ns], rows) if rows and durations_ns else None


def _places(evidence: StackEvidence) -> Mapping[int, _Place]:
    return {
        stack_id: (path, stacks.meanings.get(stack_id, labels.NOTHING).label)
        for stacks in evidence.stacks.values()
        for stack_id, path in stacks.paths.items()
    }


def _stack_share(cause: str, seen: UntracedLooks, evidence: StackEvidence) -> float:
    """The part that disappears of a place outside all recorded steps, by the label of its stack."""
    ran = None if seen.active_ps is None else seen.active_ps / seen.weight_ps
    for stacks in evidence.stacks.values():
        if (meaning := stacks.meanings.get(seen.stack_id)) is not None:
            return sum(share for label, share in labels.shares(meaning.label, ran) if label == cause)
    return 0.0
