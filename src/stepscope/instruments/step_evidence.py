"""What shows where a step begins, evidence by evidence: marks and calls become steps.

Each kind of evidence is a function that returns the steps it finds, or none. EVIDENCE lists them, best first.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

EVALUATES = re.compile(r"(^|[^a-z])(eval|evaluate|evaluation|test|valid|validation|predict)([^a-z]|$)", re.I)
_NUMBERED = re.compile(r"ProfilerStep#(\d+)")
_NUMBER_BEHIND = re.compile(r"[A-Za-z_ ]*?[ _#:=-]*(\d+)")
_UPDATES = "Optimizer.step#"
"""What PyTorch calls an update of the weights."""
_LOADS = "enumerate(DataLoader)#"
"""What PyTorch calls the fetch of a batch."""
KERAS = re.compile(r"(multi|one)(_test)?_step_on_")


class Mark(NamedTuple):
    """A slice that may delimit a step, or that compiles."""

    track_id: int
    name: str
    ts_ps: int
    dur_ps: int
    step: int | None = None
    is_call: bool = False
    traced: bool = False

    @property
    def end_ps(self) -> int:
        """Where it ends."""
        return self.ts_ps + self.dur_ps


class Step(NamedTuple):
    """A row of the table step_stored, without its ids."""

    name: str
    number: int | None
    ts_ps: int
    end_ps: int
    recovered_from: str
    kind: str = "unknown"
    averaged: bool = True
    reason: str = ""
    work: str | None = None


_COUNTED = re.compile(r"execute_(?:\d+_)?context_(\d+)(?:\(.*\))?_generation_(\d+)")
"""A batch of vLLM: how many requests begin in it, and how many go on."""
_NAMED = re.compile(r"step\[([A-Z_]+) bs=\d+.*\]")
"""A batch of SGLang: what it does, and for how many requests."""
_MODES = {"EXTEND": "prefill", "DECODE": "decode", "MIXED": "mixed"}


def batch_kind(name: str) -> str | None:
    """What a batch of an inference server does, as its mark says: prefill, decode, both (mixed), or unknown;
    None for what is no such mark."""
    if counted := _COUNTED.match(name):
        begin, go_on = (int(number) > 0 for number in counted.groups())
        return "mixed" if begin and go_on else "prefill" if begin else "decode"
    named = _NAMED.fullmatch(name)
    return None if named is None else _MODES.get(named[1], "unknown")


def _batches(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    return _intervals([m for m in marks if batch_kind(m.name) is not None], evidence)


def _profiler_steps(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    found = [(mark, _NUMBERED.fullmatch(mark.name)) for mark in marks]
    return _intervals([mark._replace(step=int(number[1])) for mark, number in found if number], evidence)


def _numbered_marks(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    return _intervals([m for m in marks if m.step is not None and not _is_call(m.name)], evidence)


def _plain_marks(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    found = [m for m in marks if not m.is_call and not _is_call(m.name)]
    numbers = [_NUMBER_BEHIND.fullmatch(m.name) for m in found]
    numbered_marks = [m._replace(step=int(n[1])) if n else m for m, n in zip(found, numbers, strict=True)]
    # A mark alone may be around all that was recorded, unless a number says that it is one of several.
    several = len(found) > 1 or any(number for number in numbers)
    return _intervals(numbered_marks, evidence) if several else []


def _session_runs(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    return _periods(busiest_track([m for m in marks if m.name == "SessionRun"]), evidence)


def _function_calls(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    calls = _outermost([m for m in marks if m.is_call or KERAS.match(m.name)])
    return _periods(_loop(busiest_track(calls)), evidence)


def _function_runs(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    # Threads of tf.data run functions of the pipeline: theirs are elements, not steps.
    runs = [m for m in marks if m.name == "FunctionRun" and not tracks.get(m.track_id, "").startswith("tf_")]
    return _periods(busiest_track(_outermost(runs)), evidence)


def _jitted_calls(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    calls = _outermost([m for m in marks if m.name.startswith(("PjitFunction(", "PjRtCApiLoaded"))])
    track_calls = busiest_track(calls)
    return _periods(_rounds(_loop(track_calls), track_calls), evidence)


def _next_batches(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    return _periods(busiest_track(marks_of(marks, "IteratorGetNext")), evidence)


def _optimizer_steps(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    """From the end of one update of the weights to the end of the next. What lies before the first is a step
    where the batches of it were seen."""
    updates = [mark for mark in busiest_track(marks_of(marks, _UPDATES)) if mark.dur_ps > 0]
    # Of several optimizers, as for two networks, each updates once in an iteration.
    number = Counter(mark.name for mark in updates)
    most = max(number, key=lambda name: number[name], default="")
    updates = [mark for mark in updates if mark.name == most]
    loads = [mark.ts_ps for mark in marks_of(marks, _LOADS) if updates and mark.ts_ps < updates[0].ts_ps]
    edges = [*([min(loads)] if loads else []), *(mark.end_ps for mark in updates)]
    return [Step(most, None, begin, end, evidence) for begin, end in pairwise(edges)]


def _loaded_batches(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    """From one batch of PyTorch's loader to the next; when the last one is done with, nothing tells."""
    return _periods(busiest_track(marks_of(marks, _LOADS)), evidence)[:-1]


def marks_of(marks: Sequence[Mark], begin: str) -> list[Mark]:
    """The marks whose names begin so."""
    return [mark for mark in marks if mark.name.startswith(begin)]


EVIDENCE: tuple[tuple[str, Callable[[Sequence[Mark], dict[int, str], str], list[Step]]], ...] = (
    ("batch", _batches),
    ("profiler_step", _profiler_steps),
    ("marker", _numbered_marks),
    ("marker", _plain_marks),
    ("optimizer_step", _optimizer_steps),
    ("get_next", _loaded_batches),
    ("session_run", _session_runs),
    ("function_call", _function_calls),
    ("function_run", _function_runs),
    ("function_call", _jitted_calls),
    ("get_next", _next_batches),
)


def _is_call(name: str) -> bool:
    return (
        name in ("SessionRun", "FunctionRun")
        or name.startswith(("IteratorGetNext", "PjitFunction(", "PjRtCApiLoaded", _UPDATES, _LOADS))
        or bool(KERAS.match(name))
    )


def _outermost(marks: Iterable[Mark]) -> list[Mark]:
    """The marks that no other mark of the same track contains, in order of time."""
    kept: list[Mark] = []
    reached: dict[int, int] = {}
    for mark in sorted(marks, key=lambda m: (m.ts_ps, -m.dur_ps)):
        if mark.end_ps > reached.get(mark.track_id, mark.ts_ps - 1):
            kept.append(mark)
            reached[mark.track_id] = mark.end_ps
    return kept


def busiest_track(marks: Sequence[Mark]) -> list[Mark]:
    """The marks of the track that has most of their time: one loop, not one for each thread."""
    time: Counter[int] = Counter()
    for mark in marks:
        time[mark.track_id] += mark.dur_ps + 1
    if not time:
        return []
    busiest = max(time, key=lambda track: (time[track], -track))
    return sorted((m for m in marks if m.track_id == busiest), key=lambda m: (m.ts_ps, -m.dur_ps))


def _loop(calls: Sequence[Mark]) -> list[Mark]:
    """Of calls of several functions, those that begin an iteration: the function with most time among
    those called more than once, and functions whose name says evaluation."""
    time: Counter[str] = Counter()
    number = Counter(call.name for call in calls)
    for call in calls:
        time[call.name] += call.dur_ps + 1
    repeated = [name for name in time if number[name] > 1] or list(time)
    if not repeated:
        return []
    main = max(repeated, key=lambda name: (time[name], name))
    return [c for c in calls if c.name == main or (EVALUATES.search(c.name) and number[c.name] > 1)]


_TINY_PS = 2_000_000_000
"""Calls that follow one another this closely may be ops: JAX jits its own as well."""
_LEAST_ROUNDS, _CALLS_OF_STEP, _ALIKE = 3, 20, 0.9
"""What a program logs every tenth step makes no round of it."""


def _rounds(loop: Sequence[Mark], calls: Sequence[Mark]) -> list[Mark]:
    """The calls that begin an iteration, or those of a function that has equally many of them in each of its
    rounds, where they follow one another closely: ops of a step, or rows of a batch."""
    periods = sorted(after.ts_ps - before.ts_ps for before, after in pairwise(loop))
    if len({call.name for call in loop}) != 1 or not periods or periods[len(periods) // 2] >= _TINY_PS:
        return list(loop)
    starts = [call.ts_ps for call in loop]
    by_name = defaultdict(list)
    for call in calls:
        by_name[call.name].append(call)
    for around in sorted(by_name.values(), key=lambda around: (-len(around), around[0].name)):
        if not _LEAST_ROUNDS <= len(around) <= len(loop) // 2:
            continue
        edges = [bisect_left(starts, call.ts_ps) for call in around]
        inside = Counter(to - begin for begin, to in pairwise(edges))
        ((most, rounds),) = inside.most_common(1)
        if most >= _CALLS_OF_STEP and rounds >= _ALIKE * (len(around) - 1):
            return around
    return list(loop)


def _intervals(marks: Sequence[Mark], evidence: str) -> list[Step]:
    """Marks as they are. An outer mark that holds several of another name is not a step but a group of
    them (an epoch); otherwise what lies inside a mark belongs to its step."""
    ordered = sorted((m for m in marks if m.dur_ps > 0), key=lambda m: (m.ts_ps, -m.dur_ps))
    starts = [m.ts_ps for m in ordered]
    steps: list[Step] = []
    for i, mark in enumerate(ordered):
        inside = ordered[i + 1 : bisect_left(starts, mark.end_ps, lo=i + 1)]
        others = Counter(m.name for m in inside if m.step is not None and m.name != mark.name)
        if max(others.values(), default=0) > 1:
            continue
        if steps and mark.ts_ps < steps[-1].end_ps:
            before = steps[-1]
            if mark.end_ps <= before.end_ps or (mark.ts_ps - before.ts_ps) * 2 < before.end_ps - before.ts_ps:
                continue
            # Neighbours that overlap a little, as rounded times do: the later one keeps its start.
            steps[-1] = before._replace(end_ps=mark.ts_ps)
        steps.append(Step(mark.name, mark.step, mark.ts_ps, mark.end_ps, evidence))
    if not steps and len(marks) > 1:
        return _periods(sorted(marks, key=lambda m: m.ts_ps), evidence)
    return steps


def _periods(calls: Sequence[Mark], evidence: str) -> list[Step]:
    """From each call to the next; the last step ends with its call."""
    steps = []
    for i, call in enumerate(calls):
        end = calls[i + 1].ts_ps if i + 1 < len(calls) else call.end_ps
        if end > call.ts_ps:
            steps.append(Step(call.name, call.step, call.ts_ps, end, evidence))
    return steps
