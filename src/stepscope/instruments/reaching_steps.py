"""Steps that leave out where the program takes its batch: `for batch in data: with Trace(…)`.

The loop is the step, and it waits between its marks: so a step reaches to the next mark. An accelerator's own
steps begin with the first of its work, after the batch was fetched: so they reach back to the one before.
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
FIRST = "the recording does not show how long the accelerator waited for it, as for the others"
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


def reaching_back(steps: Sequence[Step], waits_from_ps: Sequence[int]) -> list[Step]:
    """The accelerator's own steps, each from the end of the one before, where it has nothing to do between
    them for a tenth of the loop or more: until then it waits for the program. One after a break stays as it
    is. waits_from_ps: when it begins to wait for the first, or for each where they are too few for a loop."""
    before = [*waits_from_ps, *(step.end_ps for step in steps[len(waits_from_ps) - 1 : -1])]
    periods = [step.end_ps - end_ps for end_ps, step in zip(before, steps, strict=True)]
    waits = [step.ts_ps - end_ps for end_ps, step in zip(before, steps, strict=True)]
    # Of the first it is not always recorded how long it waited.
    whole = slice(1 if len(waits_from_ps) < len(steps) else 0, None)
    typical = median_low(periods[whole])
    if median_low(waits[whole]) < BETWEEN * typical:
        return list(steps)
    reached = [
        step._replace(ts_ps=end_ps) if period <= BREAK * typical else step
        for step, end_ps, period in zip(steps, before, periods, strict=True)
    ]
    return (
        reached
        if waits[0] or whole.start == 0
        else [reached[0]._replace(averaged=False, reason=FIRST), *reached[1:]]
    )
