"""Measures the slack of thresholds: `python -m tests.instruments.threshold_slack [PATH…]`.

For each threshold, the values around its own between which no answer about a recording changes, and the
recordings whose answers change first. Recordings are those of tests/samples, or those named. Takes minutes.
"""

import sys
from collections.abc import Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from stepscope.engines import Statement
from stepscope.errors import StepscopeError
from stepscope.instruments.causes import catalogue, ranking
from stepscope.instruments.causes.judgement import Judgement
from stepscope.session.trace import OpenTrace
from stepscope.session.trace import open as open_trace

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
FACTORS = (0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.35, 0.2, 0.1, 0.0)
"""What a value is multiplied with, and divided by, from near to far."""
HALVINGS = 5
"""How often the last stretch is halved, to find where the answer changes."""
WORTH = 0.05
"""What is left of a step changes when it does so by more than this part of the step."""


class CachedAnswer(NamedTuple):
    """Rows that were asked for before."""

    found: list[tuple[Any, ...]]

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows."""
        return self.found


class CachedRecording:
    """A recording that answers each statement once, so that judging it again takes no engine."""

    def __init__(self, name: str, trace: OpenTrace) -> None:
        self.name = name
        self._trace = trace
        self._known: dict[str, CachedAnswer] = {}
        self.answers = self.judge()

    def query(self, asked: Statement) -> CachedAnswer:
        """The rows of a statement."""
        if asked.sql not in self._known:
            self._known[asked.sql] = CachedAnswer(self._trace.query(asked).rows())
        return self._known[asked.sql]

    def judge(self) -> list[Judgement]:
        """What limits its steps by the thresholds as they are."""
        return ranking.judge(self.query)

    def changes(self) -> bool:
        """Whether it is judged otherwise than at first."""
        now = self.judge()
        return len(now) != len(self.answers) or any(map(_differ, self.answers, now))


def _differ(a: Judgement, b: Judgement) -> bool:
    said = [
        (one.cause, one.place, one.called_from, one.spent_in, one.op_type, one.layer_share, one.confidence)
        for one in (a, b)
    ]
    return said[0] != said[1] or abs(a.left_ps - b.left_ps) > WORTH * a.mean_ps


def recordings(paths: Sequence[Path]) -> Iterator[CachedRecording]:
    """Those that have steps to judge."""
    for path in paths:
        try:
            found = CachedRecording(path.relative_to(path.parents[1]).as_posix(), open_trace(path))
        except StepscopeError as error:
            print(f"{path}: {error.slug}", file=sys.stderr)
            continue
        if found.answers:
            yield found


def changed_by(group: Any, name: str, value: float, known: Sequence[CachedRecording]) -> set[str]:
    """The recordings that are judged otherwise when a threshold has another value."""
    before = getattr(group, name)
    object.__setattr__(group, name, type(before)(value))  # frozen for everyone else
    try:
        return {one.name for one in known if one.changes()}
    finally:
        object.__setattr__(group, name, before)


def bound(group: Any, name: str, up: bool, known: Sequence[CachedRecording]) -> tuple[float, set[str]]:
    """The last value on one side by which nothing changes, and what changes beyond."""
    value = last = float(getattr(group, name))
    for factor in FACTORS:
        if up and not factor:
            break
        at = value / factor if up else value * factor
        if not changed_by(group, name, at, known):
            last = at
            continue
        for _ in range(HALVINGS):
            middle = (last + at) / 2
            last, at = (last, middle) if changed_by(group, name, middle, known) else (middle, at)
        return last, changed_by(group, name, at, known)
    return (inf if up else 0.0), set()


def main(paths: Sequence[str]) -> None:
    """Prints a line for each threshold."""
    known = list(
        recordings([Path(path) for path in paths] or sorted([*SAMPLES.glob("*/*"), *SAMPLES.glob("*")]))
    )
    print(f"{len(known)} recordings")
    for entry in catalogue.causes():
        for threshold in entry.thresholds:
            low, below = bound(entry.group, threshold.name, False, known)
            high, above = bound(entry.group, threshold.name, True, known)
            by = ", ".join(sorted(below)[:3]) + " | " + ", ".join(sorted(above)[:3])
            print(
                f"{entry.name}.{threshold.name} = {threshold.value}: {low:.3g} to {high:.3g}; {by}",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
