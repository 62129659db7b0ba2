"""Finds the steps of a recording, from the best evidence that it holds, and says which that was.

The evidence, best first: numbered marks (`train` with a step_num, `ProfilerStep#7`), marks without a
number, Session.run calls, calls of a tf.function, FunctionRun, calls of a jitted function, calls that
fetch the next batch, a file that holds one step by its nature (RunMetadata, tf Timeline). Where there
is none, the whole capture counts as one step and a note says so.

Marks are taken as they are, but where the program takes its batches between them: then a step reaches to the
next mark. Calls only tell when an iteration begins: a step lasts from one call to the next, so that time
spent between calls (fetching input, callbacks) is not lost; the last one ends with its call. Steps of one
source never overlap.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from stepscope.instruments.reaching_steps import LAST, reaching

if TYPE_CHECKING:
    from stepscope._core import Store

COMPILE_SHARE = 0.1
"""A step is a compile step when compiling takes at least this part of it."""
WARM_UP_FACTOR = 3
"""The first step is warm-up when it takes more than this many times the median of the others."""
WARM_UP_OTHERS = 3
"""How many other steps that median needs."""
CUT_SHARE = {"marker": 0.1}
"""The last step is cut off by the end of the recording when it lasts less than this part of the others'
median: a mark of the user's is hardly ever cut."""
CUT_OTHERS = 0.5
"""The same for other evidence: PyTorch's profiler ends its marks when it stops, and of steps that last from
one call to the next the last ends with its call."""
STUB_SHARE = 0.1
"""What lasts less than this part of the others' median tells nothing of a step: it is a stub."""
SOURCE_OP = "_SOURCE"
"""The node that every run of a graph begins with."""
MOST_MERGED = 200_000
"""Slices of a timeline that are looked through for the sessions that it was merged from."""

_EVAL = re.compile(r"(^|[^a-z])(eval|evaluate|evaluation|test|valid|validation|predict)([^a-z]|$)", re.I)
_TRAIN = re.compile(r"(^|[^a-z])(train|training|fit)([^a-z]|$)|ProfilerStep|Profiled batch", re.I)
_NUMBERED = re.compile(r"ProfilerStep#(\d+)")
_NUMBER_BEHIND = re.compile(r"[A-Za-z_ ]*?[ _#:=-]*(\d+)")
_COMPILES = re.compile(
    r"(^|:)_?(Xla|Tpu|TPU)Compile|xla_compile$|Client::Compile$|Compiler::(Run|Compile)|backend_compile"
)
_KERAS = re.compile(r"(multi|one)(_test)?_step_on_")


class Hints(Protocol):
    """What is known of a source beside its bytes: see `stepscope.sources.source.Source`."""

    @property
    def format(self) -> str:
        """As in source.format."""

    @property
    def step(self) -> int | None:
        """Number of the step, when the name of the file tells one."""


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


def recover(store: Store, source: Hints, told: Sequence[tuple[int, int, int, bool]] = ()) -> None:
    """Fills the table `step_stored` and the column slice.step of a decoded store.

    Reads the table `marker` and the names of tracks; scans no slices. Adds the note `no-steps` when
    nothing delimits steps. told: what a recorder saw of the steps, number, begin and end in Unix
    nanoseconds and whether it was traced; used where nothing in the recording delimits steps.
    """
    facts = store.facts
    marks = [_mark(row) for row in _rows(store, "marker")]
    sources = [mark for mark in marks if mark.name == SOURCE_OP]
    marks = [mark for mark in marks if mark.name != SOURCE_OP]
    tracks = {row["id"]: row["name"] or "" for row in _rows(store, "track")} if marks else {}
    start, end = facts.get("start_ps"), facts.get("end_ps")
    steps = _exported(facts.get("meta", {})) or find(marks, tracks)
    if steps and steps[0].recovered_from in _CALLS and start is not None and end is not None:
        steps = _counted(steps, _recorded(told, facts.get("origin_unix_ns"), start, end, marks))
    if source.format in ("run_metadata", "event_file"):
        # The marks are the decoder's own: one for each StepStats, named after its tag.
        steps = [step._replace(recovered_from="file") for step in steps]
    if not steps and start is not None and end is not None:
        steps = _recorded(told, facts.get("origin_unix_ns"), start, end, marks)
    if not steps and start is not None and end is not None:
        # Moments such as the end of the recorder's own window stretch nothing.
        if facts.get("slices_start_ps") is not None:
            start, end = facts["slices_start_ps"], facts["slices_end_ps"]
        steps = _merged(store, sources) or [_one_step(source, facts["producer"], start, end, marks)]
        if steps[0].recovered_from == "whole_capture":
            _note(store, "no-steps", "nothing in the recording shows where a step begins")
    store.replace(
        "step_stored",
        {
            "id": list(range(len(steps))),
            "step": [step.number for step in steps],
            "name": [step.name for step in steps],
            "kind": [step.kind for step in steps],
            "recovered_from": [step.recovered_from for step in steps],
            "ts_ps": [step.ts_ps for step in steps],
            "dur_ps": [step.end_ps - step.ts_ps for step in steps],
            "averaged": [step.averaged for step in steps],
            "reason": [step.reason for step in steps],
        },
    )
    held = [step for step in steps if step.end_ps > step.ts_ps]
    if held and "slice" in store.tables():
        store.assign_steps(
            [step.ts_ps for step in held],
            [step.end_ps for step in held],
            [step.number or 0 for step in held],
        )


def _exported(meta: Mapping[str, str]) -> list[Step]:
    if "stepscopeSteps0" not in meta:
        return []
    from stepscope.instruments.exported_steps import exported

    return exported(meta)


_INSIDE = 0.6
"""A step that the recorder saw was recorded when this part of it lies within the recording."""


def _recorded(
    told: Sequence[tuple[int, int, int, bool]],
    origin_unix_ns: int | None,
    start: int,
    end: int,
    marks: Sequence[Mark],
) -> list[Step]:
    """The recorder's steps in the recording, cut to it, named after the call that takes longest in them."""
    if origin_unix_ns is None:
        return []
    steps: list[Step] = []
    first = min(start, 0)
    for number, begin, stop, traced in told:
        whole_ps = (stop - begin) * 1000
        # The profiler starts a little later than the first step, and stops a little before the last one ends.
        ts_ps, end_ps = (min(max((at - origin_unix_ns) * 1000, first), end) for at in (begin, stop))
        inside = end_ps > ts_ps and end_ps - ts_ps >= whole_ps * _INSIDE
        if traced and inside and (not steps or ts_ps >= steps[-1].end_ps):
            steps.append(Step("step", number, ts_ps, end_ps, "recorder"))
    calls: Counter[str] = Counter()
    for mark in marks:
        if mark.is_call:
            calls[mark.name] += mark.dur_ps
    if calls:
        name = max(calls, key=lambda one: (calls[one], one))
        steps = [step._replace(name=name) for step in steps]
    return _number(_classify(steps, _compiling(marks)))


_CALLS = ("session_run", "function_run", "function_call", "get_next")
"""Evidence that knows calls and not what the program does with them: one of many in a step may be the
longest."""


def _counted(found: list[Step], recorded: list[Step]) -> list[Step]:
    """The recorder's steps, where calls would make more or fewer of them: it knows from where the program
    makes each call, and the call that ends a recording of JAX is not in it."""
    return found if len(recorded) < 2 or len(found) == len(recorded) else recorded


def _compiling(marks: Sequence[Mark]) -> list[Mark]:
    return [mark for mark in marks if mark.traced or _COMPILES.search(mark.name)]


def find(marks: Sequence[Mark], tracks: dict[int, str]) -> list[Step]:
    """The steps that the marks delimit: disjoint, in order of time, classified and numbered. Empty
    when the marks delimit none. tracks: names by track_id."""
    compiles = _compiling(marks)
    for evidence, choose in EVIDENCE:
        if steps := choose([m for m in marks if not _COMPILES.search(m.name)], tracks, evidence):
            fetches = [(m.ts_ps, m.end_ps) for m in marks if m.name.startswith("IteratorGetNext")]
            reached = reaching(steps, fetches)
            found = _number(_classify(reached or steps, compiles))
            return [*found[:-1], found[-1]._replace(averaged=False, reason=LAST)] if reached else found
    return []


def _rows(store: Store, table: str) -> list[dict[str, Any]]:
    return store.rows(table) if table in store.tables() else []


def _mark(row: dict[str, Any]) -> Mark:
    text = row["args_json"] or ""
    how = ""
    if "tf_function_call" in text:
        how = str(json.loads(text).get("tf_function_call", ""))
    place = (row["track_id"], row["name"], row["ts_ps"], row["dur_ps"])
    return Mark(*place, row["step"], bool(how), how.startswith("traced"))


# Evidence by evidence. Each function returns the steps it finds, or nothing.


def _profiler_steps(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    found = [(mark, _NUMBERED.fullmatch(mark.name)) for mark in marks]
    return _intervals([mark._replace(step=int(number[1])) for mark, number in found if number], evidence)


def _numbered_marks(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    return _intervals([m for m in marks if m.step is not None and not _is_call(m.name)], evidence)


def _plain_marks(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    found = [m for m in marks if not m.is_call and not _is_call(m.name)]
    numbers = [_NUMBER_BEHIND.fullmatch(m.name) for m in found]
    told = [m._replace(step=int(n[1])) if n else m for m, n in zip(found, numbers, strict=True)]
    return _intervals(told, evidence) if len(told) > 1 else []


def _session_runs(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    return _periods(_busiest_track([m for m in marks if m.name == "SessionRun"]), evidence)


def _function_calls(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    calls = _outermost([m for m in marks if m.is_call or _KERAS.match(m.name)])
    return _periods(_loop(_busiest_track(calls)), evidence)


def _function_runs(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    # Threads of tf.data run functions of the pipeline: theirs are elements, not steps.
    runs = [m for m in marks if m.name == "FunctionRun" and not tracks.get(m.track_id, "").startswith("tf_")]
    return _periods(_busiest_track(_outermost(runs)), evidence)


def _jitted_calls(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    calls = _outermost([m for m in marks if m.name.startswith(("PjitFunction(", "PjRtCApiLoaded"))])
    return _periods(_loop(_busiest_track(calls)), evidence)


def _next_batches(marks: Sequence[Mark], tracks: dict[int, str], evidence: str) -> list[Step]:
    return _periods(_busiest_track([m for m in marks if m.name.startswith("IteratorGetNext")]), evidence)


EVIDENCE: tuple[tuple[str, Callable[[Sequence[Mark], dict[int, str], str], list[Step]]], ...] = (
    ("profiler_step", _profiler_steps),
    ("marker", _numbered_marks),
    ("marker", _plain_marks),
    ("session_run", _session_runs),
    ("function_call", _function_calls),
    ("function_run", _function_runs),
    ("function_call", _jitted_calls),
    ("get_next", _next_batches),
)


def _is_call(name: str) -> bool:
    return (
        name in ("SessionRun", "FunctionRun")
        or name.startswith(("IteratorGetNext", "PjitFunction(", "PjRtCApiLoaded"))
        or bool(_KERAS.match(name))
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


def _busiest_track(marks: Sequence[Mark]) -> list[Mark]:
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
    return [c for c in calls if c.name == main or (_EVAL.search(c.name) and number[c.name] > 1)]


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


def _merged(store: Store, sources: Sequence[Mark]) -> list[Step]:
    """The sessions of a timeline that somebody merged from several: each begins with the node `_SOURCE` of
    its graph and runs the same ops, and nothing runs in two of them. Nothing for one session's timeline."""
    starts = sorted(mark.ts_ps for mark in _busiest_track(sources))
    if len(starts) < 2 or store.tables().get("slice", 0) > MOST_MERGED:
        return []
    runs: list[Counter[str]] = [Counter() for _ in starts]
    ends = list(starts)
    for row in store.rows("slice"):
        if row["op_name"] is None:
            continue
        at = max(0, bisect_right(starts, row["ts_ps"]) - 1)
        starts[at] = min(starts[at], row["ts_ps"])
        ends[at] = max(ends[at], row["ts_ps"] + row["dur_ps"])
        runs[at][row["op_name"]] += 1
    overlap = any(end > start for end, start in zip(ends, starts[1:], strict=False))
    if overlap or any(set(run) != set(runs[0]) for run in runs):
        return []
    why = f"one of {len(starts)} sessions whose timelines were merged"
    spans = enumerate(zip(starts, ends, strict=True))
    return [Step("session", i, start, end, "file", reason=why) for i, (start, end) in spans if end > start]


# What kind of step, and how it is called.


def _classify(steps: Sequence[Step], compiles: Sequence[Mark]) -> list[Step]:
    named = [_named_kind(step) for step in steps]
    spent = _covered(named, compiles)
    done = []
    for step, compile_ps in zip(named, spent, strict=True):
        length = step.end_ps - step.ts_ps
        if compile_ps >= COMPILE_SHARE * length and compile_ps > 0:
            share = round(100 * compile_ps / length)
            step = step._replace(kind="compile", averaged=False, reason=f"compiling takes {share} % of it")
        done.append(step)
    if done and done[-1].averaged:
        kind = done[-1].kind
        done[-1] = _cut_off(done[-1], [step for step in done[:-1] if step.averaged and step.kind == kind])
    by_kind: dict[str, list[int]] = defaultdict(list)
    for i, step in enumerate(done):
        by_kind[step.kind].append(i)
    for kind, members in by_kind.items():
        lengths = [done[i].end_ps - done[i].ts_ps for i in members]
        if kind == "compile" or len(lengths) <= WARM_UP_OTHERS:
            continue
        others = sorted(lengths[1:])
        typical = others[(len(others) - 1) // 2]
        if lengths[0] > WARM_UP_FACTOR * typical:
            times = lengths[0] / max(typical, 1)
            why = f"the first step, {times:.1f} times as long as the median of the others"
            done[members[0]] = done[members[0]]._replace(kind="warm_up", averaged=False, reason=why)
    return done


def _cut_off(last: Step, others: Sequence[Step]) -> Step:
    """The last step, marked when the recording ends within it, and kept: only averages leave it out."""
    if not others:
        return last
    lengths = sorted(step.end_ps - step.ts_ps for step in others)
    typical, length = lengths[(len(lengths) - 1) // 2], last.end_ps - last.ts_ps
    if length < STUB_SHARE * typical:
        why = "the recording ends as it begins: it lasts less than a tenth of the others"
        return last._replace(averaged=False, reason=why)
    if len(others) > 1 and length < CUT_SHARE.get(last.recovered_from, CUT_OTHERS) * typical:
        share = round(100 * length / typical)
        why = f"the recording ends within it, at {share} % of the median of the others"
        return last._replace(kind="cut_off", averaged=False, reason=why)
    return last


def _named_kind(step: Step) -> Step:
    if _EVAL.search(step.name):
        return step._replace(kind="eval", reason=f"its mark is called {step.name}")
    if _KERAS.match(step.name):
        why = "Keras gives its functions for training and evaluation one name; taken for training"
        return step._replace(kind="train", reason=why)
    if _TRAIN.search(step.name):
        return step._replace(kind="train", reason=f"its mark is called {step.name}")
    return step._replace(reason="nothing distinguishes training from evaluation")


def _covered(steps: Sequence[Step], marks: Sequence[Mark]) -> list[int]:
    """For each step, the time in it that at least one of the marks covers, in picoseconds."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted((m.ts_ps, m.end_ps) for m in marks):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    ends = [end for _, end in merged]
    spent = []
    for step in steps:
        total = 0
        for begin, end in merged[bisect_left(ends, step.ts_ps) :]:
            if begin >= step.end_ps:
                break
            total += max(0, min(end, step.end_ps) - max(begin, step.ts_ps))
        spent.append(total)
    return spent


def _number(steps: Sequence[Step]) -> list[Step]:
    """Keeps the program's own numbers where each is there once, else counts from 0."""
    numbers = [step.number for step in steps]
    if None not in numbers and len(set(numbers)) == len(numbers):
        return list(steps)
    return [step._replace(number=i) for i, step in enumerate(steps)]


def _one_step(source: Hints, producer: str, start: int, end: int, marks: Sequence[Mark]) -> Step:
    compiles = _compiling(marks)
    if source.format == "run_metadata" or producer in ("tf_timeline", "step_stats"):
        number = source.step if source.step is not None else 0
        name = f"step {source.step}" if source.step is not None else "step"
        step = _classify([Step(name, number, start, end, "file")], compiles)[0]
        told = "its number is in the file's name" if source.step is not None else "a file of one step"
        return step if step.kind == "compile" else step._replace(reason=told)
    why = "nothing in the recording shows where a step begins"
    return Step("whole capture", 0, start, end, "whole_capture", "unknown", False, why)


def _note(store: Store, slug: str, detail: str) -> None:
    note = {"slug": slug, "effect": "missing", "events": 0, "first_offset": None, "detail": detail}
    store.update_facts({"notes": [*store.facts.get("notes", []), note]})
