"""Sums of labels by step and by the stack that the driving thread had."""

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from stepscope.instruments.intervals import Interval
from stepscope.instruments.step_breakdown.labels import NUMBER, Label
from stepscope.instruments.step_breakdown.stack_samples import SampleSpan
from stepscope.instruments.step_breakdown.sweep import StepPiece

StackKey = tuple[int, int, Label]
"""Number of a step, a stack, a label."""


class StackSums:
    """Sums of steps, from pieces and samples that come in order of time.

    Where steps overlap, time counts to the one that began last: added up over steps, no time counts twice.
    """

    def __init__(self, steps: Sequence[Interval]) -> None:
        self._steps = steps
        self._waiting = sorted(range(len(steps)), key=lambda number: steps[number], reverse=True)
        self._open: list[tuple[int, int]] = []  # minus the begin, number of the step
        self._sums: Counter[StackKey] = Counter()

    def add(self, pieces: Iterable[StepPiece], looks: Sequence[SampleSpan]) -> None:
        """Adds pieces, none of which reaches over a begin or an end of a step. Samples do not overlap."""
        at = 0
        for piece in pieces:
            while at < len(looks) and looks[at].to_ps <= piece.from_ps:
                at += 1
            step = self._step(piece.from_ps)
            for number in range(at, len(looks)):
                look = looks[number]
                if look.from_ps >= piece.to_ps or step is None:
                    break
                shared = min(look.to_ps, piece.to_ps) - max(look.from_ps, piece.from_ps)
                self._sums[step, look.stack_id, piece.label] += shared

    def _step(self, moment: int) -> int | None:
        """The step around a moment."""
        while self._waiting and self._steps[self._waiting[-1]][0] <= moment:
            number = self._waiting.pop()
            heapq.heappush(self._open, (-self._steps[number][0], number))
        while self._open and self._steps[self._open[0][1]][1] <= moment:
            heapq.heappop(self._open)
        return self._open[0][1] if self._open else None

    def sums(self) -> Iterator[tuple[StackKey, int]]:
        """Picoseconds, by step, stack and label in the order of LABELS."""
        yield from sort_sums(self._sums)


def sort_sums(sums: Counter[StackKey]) -> list[tuple[StackKey, int]]:
    """By step, stack and label, in the order of LABELS."""
    return sorted(sums.items(), key=lambda item: (*item[0][:2], NUMBER[item[0][2]]))
