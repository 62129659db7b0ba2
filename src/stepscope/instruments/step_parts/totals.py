"""Adds pieces of time up, step by step. Steps may overlap: each gets all that lies in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from stepscope.instruments.step_parts.labels import LABELS
from stepscope.instruments.step_parts.sweep import Interval, Piece

_PLACE = {label: number for number, label in enumerate(LABELS)}

Sums = list[int]
"""Picoseconds by label in the order of LABELS, then the same of what is hidden."""


class Totals:
    """Sums of steps, from pieces that come in order of time."""

    def __init__(self, steps: Sequence[Interval]) -> None:
        self._running: Sums = [0] * (2 * len(LABELS))
        self._steps = steps
        self._begins = sorted(range(len(steps)), key=lambda number: -steps[number][0])
        self._ends = sorted(range(len(steps)), key=lambda number: -steps[number][1])
        self._before: dict[int, Sums] = {}
        self._found: dict[int, Sums] = {}

    def add(self, pieces: Iterable[Piece]) -> None:
        """Adds pieces, none of which reaches over a begin or an end of a step."""
        running = self._running
        for from_ps, to_ps, label, hidden in pieces:
            self._reach(from_ps)
            running[_PLACE[label]] += to_ps - from_ps
            for other in hidden:
                running[len(LABELS) + _PLACE[other]] += to_ps - from_ps

    def _reach(self, moment: int | None) -> None:
        while self._begins and (moment is None or self._steps[self._begins[-1]][0] <= moment):
            self._before[self._begins.pop()] = list(self._running)
        while self._ends and (moment is None or self._steps[self._ends[-1]][1] <= moment):
            number = self._ends.pop()
            before = self._before.pop(number)
            self._found[number] = [now - then for now, then in zip(self._running, before, strict=True)]

    def of_steps(self) -> list[Sums]:
        """The sums of each step. No pieces can be added afterwards."""
        self._reach(None)
        return [self._found[number] for number in range(len(self._steps))]
