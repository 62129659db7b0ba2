"""Marks that leave out where the program takes its batch: `for batch in data: with Trace(…)`.

The loop is the step, and it waits between its marks: so a step reaches to the next mark.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import median_low
from typing import TYPE_CHECKING

from stepscope.instruments.intervals import Interval, shared, union

if TYPE_CHECKING:
    from stepscope.instruments.step_evidence import Step

FEWEST = 3
"""Marks that show a loop."""
BETWEEN = 0.1
"""Part of the loop that fetching a batch between its marks takes at least, and that gaps take at the
median."""
BREAK = 3
"""What takes more than so many times as long as the median iteration is a break: an evaluation, a
checkpoint."""
LAST = "the recording ends before the next mark, up to which the others reach"


def reaching(steps: Sequence[Step], fetches: Sequence[Interval]) -> list[Step]:
    """The steps, each extended to the next mark except the last; empty when the marks are the steps as they
    are. fetches: when the program fetched a batch."""
    if len(steps) < FEWEST or steps[0].recovered_from != "marker":
        return []
    pairs = list(pairwise(steps))
    periods = [after.ts_ps - step.ts_ps for step, after in pairs]
    typical = median_low(periods)
    if median_low([after.ts_ps - step.end_ps for step, after in pairs]) < BETWEEN * typical:
        return []
    spans = union(fetches)
    marked = shared(spans, union((step.ts_ps, step.end_ps) for step, _ in pairs))
    around = shared(spans, [(steps[0].ts_ps, steps[-1].ts_ps)])
    if around - marked < BETWEEN * sum(periods) or 2 * marked > around:
        return []
    reached = [
        step._replace(end_ps=after.ts_ps) if period <= BREAK * typical else step
        for (step, after), period in zip(pairs, periods, strict=True)
    ]
    return [*reached, steps[-1]]
