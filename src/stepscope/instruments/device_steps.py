"""Steps that an accelerator shows itself, and whether the host's steps may stand beside them.

A host that runs ahead of its accelerator calls again before the accelerator has done what it was called for:
the times of its calls say how fast it queues work, and nothing of a step. Where the accelerator has no row of
steps or programs, the work that each step of the host launched tells when it took that step.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from stepscope.instruments.step_evidence import Mark, Step

STEPS, PROGRAMS = "Steps", "XLA Modules"
"""Rows of an accelerator: its steps, and runs of whole programs."""
FEWEST = 2
"""Runs of a program that show a loop."""
APART = 0.5
"""What devices do at once is one step where it shares this part of the shorter one."""
AHEAD = 0.25
"""A host runs ahead when this part of the accelerator's steps does not lie within one of its own."""
SLACK = 0.05
"""A step of the accelerator lies within one of the host when no more than this part of it lies outside: the
clocks of both are not the same."""
FEWEST_LAUNCHED = 3
"""Steps from which on it shows whether the host runs further ahead with each."""
FALLS_BEHIND = 0.1
"""The host runs ahead when the accelerator falls behind by more than this part of the time that it takes for
all steps: by as much their mean would be too short."""
FALLS_LATER = 0.1
"""It falls behind by this part of a step after the first one, too. Where a step waits for the accelerator and
then launches more, it is behind by as much after each."""
_ENDS = "the recording ends before all of what it launched does"
_FINGERPRINT = re.compile(r"\(\d+\)$")


class LaunchedWork(NamedTuple):
    """What an accelerator executed of what a stretch of the host's time launched."""

    end_ps: int
    delay_ps: int
    """The least time from a launch to the begin of what it launched: negative where clocks differ."""


def steps_on_devices(marks: Sequence[Mark], rows: Mapping[int, str]) -> list[Step]:
    """The steps that accelerators show: those of the profiler where it has a row of them, else the runs of
    the program that takes most of the time. rows: the names of the rows that marks lie on."""
    step_marks = [mark for mark in marks if rows[mark.track_id] == STEPS and mark.dur_ps > 0]
    return _together(step_marks or _main_program([mark for mark in marks if rows[mark.track_id] == PROGRAMS]))


def runs_ahead(host: Sequence[Step], device: Sequence[Step]) -> bool:
    """Whether the host's steps do not show how long a step takes: within their time, many steps of the
    accelerator lie in none of them. Both are in order of time."""
    if not host or not device:
        return False
    starts = [step.ts_ps for step in host]
    outside = 0
    for step in device:
        at = bisect_right(starts, step.ts_ps + _slack(step)) - 1
        if at < 0 or step.end_ps - _slack(step) > host[at].end_ps:
            outside += 1
    return outside >= AHEAD * len(device)


def steps_of_launches(host: Sequence[Step], works: Sequence[LaunchedWork | None]) -> list[Step]:
    """The host's steps as the accelerator took them, where the host runs ahead further with each: a step
    ends when the last of what it launched does, and the next begins then. Empty where the host keeps pace,
    where it waits for the accelerator in each step, or where what a step launched is not known.

    host: in order of time. works: what was launched before the first of them, then in each.
    """
    before, launched = works[0], list(works[1:])
    while launched and launched[-1] is None:
        launched.pop()
    known = [work for work in launched if work is not None]
    if len(known) < max(FEWEST_LAUNCHED, len(launched)) or any(work.delay_ps < 0 for work in known):
        return []
    begin_ps = host[0].ts_ps if before is None else max(host[0].ts_ps, before.end_ps)
    bounds = [begin_ps, *accumulate((work.end_ps for work in known), max)]
    if any(end <= begin for begin, end in pairwise(bounds)):
        return []
    whole_ps = bounds[-1] - begin_ps
    behind = [end_ps - step.end_ps for end_ps, step in zip(bounds[1:], host, strict=False)]
    fell_ps, fell_later_ps = behind[-1] - (begin_ps - host[0].ts_ps), max(behind) - behind[0]
    if fell_ps <= FALLS_BEHIND * whole_ps or fell_later_ps <= FALLS_LATER * whole_ps / len(known):
        return []
    steps = [
        step._replace(ts_ps=begin, end_ps=end, recovered_from="device")
        for step, (begin, end) in zip(host, pairwise(bounds), strict=False)
    ]
    if len(launched) < len(host):  # the recording ends before what the host launched does
        steps[-1] = steps[-1]._replace(averaged=False, reason=_ENDS)
    return steps


def _slack(step: Step) -> int:
    return round(SLACK * (step.end_ps - step.ts_ps))


def _main_program(runs: Sequence[Mark]) -> list[Mark]:
    time: Counter[str] = Counter()
    number: Counter[tuple[str, int]] = Counter()
    for run in runs:
        time[run.name] += run.dur_ps
        number[run.name, run.track_id] += 1
    repeated = {name for (name, _), runs_of in number.items() if runs_of >= FEWEST}
    if not repeated:
        return []
    main = max(repeated, key=lambda name: (time[name], name))
    return [run for run in runs if run.name == main and run.dur_ps > 0]


def _together(marks: Sequence[Mark]) -> list[Step]:
    """One step where several devices record theirs at the same time: from the first begin to the last end."""
    steps: list[Step] = []
    reached: set[int] = set()
    for mark in sorted(marks, key=lambda span: (span.ts_ps, -span.dur_ps)):
        name = _FINGERPRINT.sub("", mark.name)
        if steps:
            last = steps[-1]
            shared = min(last.end_ps, mark.end_ps) - mark.ts_ps
            least = min(mark.dur_ps, last.end_ps - last.ts_ps)
            if mark.track_id not in reached and shared > APART * least:
                steps[-1] = last._replace(end_ps=max(last.end_ps, mark.end_ps))
                reached.add(mark.track_id)
                continue
            if last.end_ps > mark.ts_ps:
                steps[-1] = last._replace(end_ps=mark.ts_ps)
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 18 else None
        steps.append(Step(name, number, mark.ts_ps, mark.end_ps, "device"))
        reached = {mark.track_id}
    return [step for step in steps if step.end_ps > step.ts_ps]
