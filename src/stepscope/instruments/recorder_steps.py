"""The steps that a recorder timed, cut to the time of a recording."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.step_evidence import Mark, Step
from stepscope.instruments.step_kinds import classify, compiling, numbered

RecordedStep = tuple[int, int, int, bool]
"""Number, begin and end in Unix nanoseconds, and whether it was traced."""
_IN_FULL = "traced in full, which takes long, beside steps that were recorded"
_INSIDE = 0.6
"""A step counts as recorded if at least this part of it lies within the recording."""
_WHOLE = 0.95
"""It counts as whole if this part does: a profiler stops a little before the last step ends."""


class RecordedSpan(NamedTuple):
    """The time of a recording, and the Unix time of its origin."""

    origin_unix_ns: int | None
    start_ps: int
    end_ps: int


def span_of(facts: Mapping[str, Any]) -> RecordedSpan | None:
    """The time that a source covers; None if its events have no times."""
    start_ps, end_ps = facts.get("start_ps"), facts.get("end_ps")
    if start_ps is None or end_ps is None:
        return None
    return RecordedSpan(facts.get("origin_unix_ns"), start_ps, end_ps)


def recorder_steps(
    recorded_steps: Sequence[RecordedStep], span: RecordedSpan, marks: Sequence[Mark]
) -> list[Step]:
    """The recorder's steps in the recording, cut to it, named after the call that takes longest in them."""
    origin_unix_ns, start, end = span
    if origin_unix_ns is None or not recorded_steps:
        return []
    steps: list[Step] = []
    cut: dict[int, float] = {}
    first = min(start, 0)
    for number, begin, stop, traced in recorded_steps:
        whole_ps = (stop - begin) * 1000
        # The profiler starts a little later than the first step, and stops a little before the last one ends.
        ts_ps, end_ps = (min(max((at - origin_unix_ns) * 1000, first), end) for at in (begin, stop))
        inside = end_ps > ts_ps and end_ps - ts_ps >= whole_ps * _INSIDE
        if traced and inside and (not steps or ts_ps >= steps[-1].end_ps):
            steps.append(Step("step", number, ts_ps, end_ps, "recorder"))
            if end_ps - ts_ps < whole_ps * _WHOLE:
                cut[ts_ps] = (end_ps - ts_ps) / whole_ps
    calls: Counter[str] = Counter()
    for mark in marks:
        if mark.is_call:
            calls[mark.name] += mark.dur_ps
    if calls:
        name = max(calls, key=lambda call: (calls[call], call))
        steps = [step._replace(name=name) for step in steps]
    return numbered(_leave_out_cut(classify(steps, compiling(marks)), cut))


def _leave_out_cut(steps: list[Step], cut: Mapping[int, float]) -> list[Step]:
    """The steps, of which averages leave out those that the recording has in part, where it has others whole.
    cut: the part of a step that was recorded, by when it begins."""
    if not any(step.averaged and step.ts_ps not in cut for step in steps):
        return steps
    return [
        step._replace(
            kind="cut_off",
            averaged=False,
            reason=f"the recorder saw it, and {round(100 * cut[step.ts_ps])} % of it was recorded",
        )
        if step.averaged and step.ts_ps in cut
        else step
        for step in steps
    ]


def counted(found: list[Step], recorded: list[Step]) -> list[Step]:
    """The recorder's steps, if calls would make another number of them: the recorder knows where the program
    makes each call, and the call that ends a recording of JAX is not in it."""
    return found if len(recorded) < 2 or len(found) == len(recorded) else recorded


def traced_in_full(steps: list[Step], recorded: Sequence[RecordedStep]) -> list[Step]:
    """Runs that were traced in full: averages leave them out if a recorder saw the others."""
    if not any(traced for *_, traced in recorded):
        return steps
    return [step._replace(averaged=False, reason=_IN_FULL) for step in steps]
