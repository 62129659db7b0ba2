"""Steps that an accelerator shows itself, and whether the host's steps may stand beside them.

A host that runs ahead of its accelerator calls again before the accelerator has done what it was called for:
the times of its calls say how fast it queues work, and nothing of a step.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence

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
_FINGERPRINT = re.compile(r"\(\d+\)$")


def steps_on_devices(marks: Sequence[Mark], rows: Mapping[int, str]) -> list[Step]:
    """The steps that accelerators show: those of the profiler where it has a row of them, else the runs of
    the program that takes most of the time. rows: the names of the rows that marks lie on."""
    step_marks = [mark for mark in marks if rows[mark.track_id] == STEPS and mark.dur_ps > 0]
    return _together(step_marks or _main_program([mark for mark in marks if rows[mark.track_id] == PROGRAMS]))


def runs_ahead(host: Sequence[Step], device: Sequence[Step]) -> bool:
    """Whether the steps of the host say nothing of how long a step takes: many of the accelerator's, within
    the time of the host's, lie in none of them. Both in order of time."""
    if not host or not device:
        return False
    starts = [step.ts_ps for step in host]
    outside = 0
    for step in device:
        at = bisect_right(starts, step.ts_ps + _slack(step)) - 1
        if at < 0 or step.end_ps - _slack(step) > host[at].end_ps:
            outside += 1
    return outside >= AHEAD * len(device)


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
    """One step where several devices show theirs at once, from the first begin to the last end."""
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
