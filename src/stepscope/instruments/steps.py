"""Finds the steps of a recording, from the best evidence that it holds, and says which that was.

The evidence, best first: numbered marks (`train` with a step_num, `ProfilerStep#7`), marks without a
number, updates of PyTorch's optimizers, fetches of its loaders, Session.run calls, calls of a tf.function,
FunctionRun, calls of a jitted function, calls that fetch the next batch, the accelerator's own steps, a file
that holds one step by its nature (RunMetadata, tf Timeline). Where there is none, the whole capture counts as
one step and a note says so. The accelerator's own steps come first where the host runs ahead of it (see
`device_steps`), with what the accelerator waits for before each (see `reaching_steps`).

Marks are taken as they are, but where the program takes its batches between them: then a step reaches to the
next mark. Calls only tell when an iteration begins: a step lasts from one call to the next, so that time
spent between calls (fetching input, callbacks) is not lost; the last one ends with its call. Steps of one
source never overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope import strict_json
from stepscope.instruments import device_steps
from stepscope.instruments.device_steps import PROGRAMS, STEPS, LaunchedWork
from stepscope.instruments.exported_steps import exported
from stepscope.instruments.reaching_steps import BETWEEN, FEWEST, LAST, reaching, reaching_back
from stepscope.instruments.recorded_stretch import RecordedStretch, is_part_of_step, recorded_stretch
from stepscope.instruments.step_evidence import EVIDENCE, Mark, Step, marks_of
from stepscope.instruments.step_kinds import (
    COMPILES,
    classify,
    compiling,
    forget_lengths,
    judge_lengths,
    numbered,
)
from stepscope.store_rows import add_notes, note

if TYPE_CHECKING:
    from stepscope._core import Store

SOURCE_OP = "_SOURCE"
"""The node that every run of a graph begins with."""
FETCH = "IteratorGetNext"
"""What ops that fetch a batch of a pipeline of TensorFlow are called, and more behind it."""
_UPDATES = re.compile(r"(Resource)?(Sparse)?Apply[A-Z]")
"""Types of ops by which optimizers of TensorFlow update variables."""
_GRADIENTS = re.compile(r"(^|/)gradients(_\d+)?/")
_NO_STEPS = "nothing in the recording shows where a step begins"
MOST_MERGED = 200_000
"""Slices that are looked through one by one: for the sessions that a timeline was merged from, for what the
first step of an accelerator waits for."""


class SourceFacts(NamedTuple):
    """Facts about a source that its bytes do not hold."""

    step: int | None = None
    """Number of the step, when the name of the file tells one."""
    counted: bool = False
    """The number is the place of the file among others, by when they began."""
    sessions: bool = False
    """The decoder marked each run of a session that it holds."""
    of_session: bool = False
    """It was written after one run of a session."""
    apart: bool = False
    """The steps that a recorder saw are others than those of the source."""


def recover(
    store: Store, known: SourceFacts, recorded_steps: Sequence[tuple[int, int, int, bool]] = ()
) -> None:
    """Fills the table `step_stored` and the column slice.step of a decoded store.

    Reads the table `marker` and the names of tracks; scans no slices. Adds the note `no-steps` when
    nothing delimits steps. recorded_steps: what a recorder saw of the steps, number, begin and end in Unix
    nanoseconds and whether it was traced; used where nothing in the recording delimits steps. Of runs that
    were traced in full, it says that others were recorded.
    """
    beside, recorded_steps = (recorded_steps, ()) if known.apart else ((), recorded_steps)
    marks = _marks(store)
    facts = store.facts
    span = _span_of(facts)
    recorded = [] if span is None else _recorded(recorded_steps, span, marks.host)
    steps = _exported(facts.get("meta", {})) or _measured(store, marks)
    if steps and steps[0].recovered_from in _CALLS:
        is_part = span is not None and not recorded and is_part_of_step(recorded_steps, *span[1:])
        steps = [] if is_part else _counted(steps, recorded)
    if known.sessions:
        steps = _session_steps(steps, marks.host)
    steps = steps or recorded
    if steps:
        steps = _time_by_devices(store, steps)
    elif span is not None:
        steps = _undelimited(store, known, marks)
    if steps and all(step.recovered_from == "file" for step in steps):
        steps = _traced_in_full(_own_runs(store, _training(store, steps)), beside)
    _keep(store, steps)


def _time_by_devices(store: Store, steps: list[Step]) -> list[Step]:
    """The host's steps, with the times of the accelerator where the host runs ahead of it."""
    if any(step.recovered_from in ("device", "file") for step in steps) or "slice" not in store.tables():
        return steps
    streams = {row["id"] for row in _rows(store, "track") if row["kind"] == "device_stream"}
    if not streams:
        return steps
    works = store.launched_work([step.ts_ps for step in steps], streams)
    launched = [None if work is None else LaunchedWork(*work) for work in works]
    found = device_steps.steps_of_launches(forget_lengths(steps), launched)
    return judge_lengths(found) if found else steps


def _traced_in_full(steps: list[Step], recorded: Sequence[tuple[int, int, int, bool]]) -> list[Step]:
    """Runs that were traced in full: averages leave them out where a recorder saw the others."""
    if not any(traced for *_, traced in recorded):
        return steps
    return [step._replace(averaged=False, reason=_IN_FULL) for step in steps]


def _span_of(facts: Mapping[str, Any]) -> _Span | None:
    """What a source covers; None where its events have no times."""
    if not _is_timed(facts):
        return None
    return _Span(facts.get("origin_unix_ns"), facts["start_ps"], facts["end_ps"])


def _session_steps(steps: Sequence[Step], marks: Sequence[Mark]) -> list[Step]:
    """Steps of StepStats: the marks are the decoder's own, one for each and named after its tag."""
    alone = [Step(step.name, step.number, step.ts_ps, step.end_ps, "file") for step in steps]
    return numbered(classify(alone, compiling(marks)))


class _Span(NamedTuple):
    """The time of a recording, and the Unix time of its origin."""

    origin_unix_ns: int | None
    start_ps: int
    end_ps: int


class _Marks(NamedTuple):
    """The marks of a store, by what made them."""

    host: list[Mark]
    devices: list[Mark]
    sources: list[Mark]
    """Nodes that runs of a graph begin with."""
    tracks: dict[int, str]
    """Names of all tracks."""
    rows: dict[int, str]
    """Names of those that devices have their marks on."""


def _is_timed(facts: Mapping[str, Any]) -> bool:
    return facts.get("start_ps") is not None and facts.get("end_ps") is not None


def _marks(store: Store) -> _Marks:
    every = [_mark(row) for row in _rows(store, "marker")]
    sources = [mark for mark in every if mark.name == SOURCE_OP]
    marks = [mark for mark in every if mark.name != SOURCE_OP]
    named = _rows(store, "track") if marks else []
    rows = {row["id"]: row["name"] for row in named if _is_of_devices(row)}
    return _Marks(
        [mark for mark in marks if mark.track_id not in rows],
        [mark for mark in marks if mark.track_id in rows],
        sources,
        {row["id"]: row["name"] or "" for row in named},
        rows,
    )


def _is_of_devices(track: Mapping[str, Any]) -> bool:
    """Whether a track has the steps or the programs of a device."""
    return track["kind"] == "derived" and track["name"] in (STEPS, PROGRAMS)


def _undelimited(store: Store, known: SourceFacts, marks: _Marks) -> list[Step]:
    """The steps of a recording with nothing that delimits them: the sessions it was merged from, or one. None
    where all is of one moment, as in a profile of memory."""
    facts = store.facts
    start, end = facts["start_ps"], facts["end_ps"]
    # Moments such as the end of the recorder's own window stretch nothing.
    if facts.get("slices_start_ps") is not None:
        start, end = facts["slices_start_ps"], facts["slices_end_ps"]
    if start == end:
        return []
    (start, end), spans_elsewhere = recorded_stretch(store, RecordedStretch(start, end))
    if spans_elsewhere:
        detail = "no span of a request lies in the time of everything else"
        add_notes(store, note("spans-elsewhere", "info", detail))
    steps = _merged(store, marks.sources)
    steps = steps or [_one_step(known, start, end, marks.host)]
    if steps[0].recovered_from == "whole_capture":
        add_notes(store, note("no-steps", "missing", _NO_STEPS))
    return steps


def _keep(store: Store, steps: Sequence[Step]) -> None:
    """Writes the steps into a store, and their numbers beside its slices."""
    rows = [
        (
            i,
            step.number,
            step.name,
            step.kind,
            step.recovered_from,
            step.ts_ps,
            step.end_ps - step.ts_ps,
            step.averaged,
            step.reason,
        )
        for i, step in enumerate(steps)
    ]
    columns = ("id", "step", "name", "kind", "recovered_from", "ts_ps", "dur_ps", "averaged", "reason")
    store.replace("step_stored", {name: [row[at] for row in rows] for at, name in enumerate(columns)})
    held = [step for step in steps if step.end_ps > step.ts_ps]
    if held and "slice" in store.tables():
        store.assign_steps(
            [step.ts_ps for step in held], [step.end_ps for step in held], [step.number or 0 for step in held]
        )


def _exported(meta: Mapping[str, str]) -> list[Step]:
    if "stepscopeSteps0" not in meta:
        return []
    return exported(meta)


_IN_FULL = "traced in full, which takes long, beside steps that were recorded"
_INSIDE = 0.6
"""A step that the recorder saw was recorded when this part of it lies within the recording."""
_WHOLE = 0.95
"""It was recorded whole when this part does: a profiler stops a little before the last step ends."""


def _recorded(
    recorded_steps: Sequence[tuple[int, int, int, bool]], span: _Span, marks: Sequence[Mark]
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


_CALLS = ("optimizer_step", "session_run", "function_run", "function_call", "get_next")
"""Evidence that knows calls and not what the program does with them: one of many in a step may be the
longest."""


def _counted(found: list[Step], recorded: list[Step]) -> list[Step]:
    """The recorder's steps, where calls would make more or fewer of them: it knows from where the program
    makes each call, and the call that ends a recording of JAX is not in it."""
    return found if len(recorded) < 2 or len(found) == len(recorded) else recorded


def find(marks: Sequence[Mark], tracks: dict[int, str]) -> list[Step]:
    """The steps that the marks delimit: disjoint, in order of time, classified and numbered. Empty
    when the marks delimit none. tracks: names by track_id."""
    compiles = compiling(marks)
    for evidence, choose in EVIDENCE:
        if steps := choose([m for m in marks if not COMPILES.search(m.name)], tracks, evidence):
            fetches = [(m.ts_ps, m.end_ps) for m in marks_of(marks, FETCH)]
            reached = reaching(steps, fetches)
            found = numbered(classify(reached or steps, compiles))
            return [*found[:-1], found[-1]._replace(averaged=False, reason=LAST)] if reached else found
    return []


def _measured(store: Store, marks: _Marks) -> list[Step]:
    """The steps that the host's marks delimit, or the accelerator's own where the host has none or runs
    ahead."""
    found = find(marks.host, marks.tracks)
    on_devices = device_steps.steps_on_devices(marks.devices, marks.rows)
    if not on_devices or (found and not device_steps.runs_ahead(found, on_devices)):
        return found
    earliest = sorted(marks.host, key=lambda mark: mark.ts_ps)[:1]
    few = on_devices if len(on_devices) < FEWEST else on_devices[:1]
    whole = reaching_back(on_devices, [_waits_from_ps(store, step, found or earliest) for step in few])
    return numbered(classify(whole, compiling(marks.host)))


def _waits_from_ps(store: Store, step: Step, calls: Sequence[Step | Mark]) -> int:
    """From when on an accelerator waits for the batch of a step: the call that made it has begun to fetch,
    and nothing is left of what was launched before. When the step begins, where it waits for none."""
    called_ps = max((call.ts_ps for call in calls if call.ts_ps <= step.ts_ps), default=step.ts_ps)
    late = step.ts_ps - called_ps >= BETWEEN * (step.end_ps - called_ps)
    if not late or store.tables().get("slice", 0) > MOST_MERGED:
        return step.ts_ps
    streams = {row["id"] for row in _rows(store, "track") if row["kind"] == "device_stream"}
    busy = [end_ps for track, (*_, end_ps) in store.extents(step.ts_ps).items() if track in streams]
    fetched = [row["ts_ps"] for row in store.rows("slice") if row["name"].startswith(FETCH)]
    fetches = [ts_ps for ts_ps in fetched if called_ps <= ts_ps < step.ts_ps]
    return max([min(fetches), *busy]) if fetches else step.ts_ps


def _rows(store: Store, table: str) -> list[dict[str, Any]]:
    return store.rows(table) if table in store.tables() else []


def _mark(row: dict[str, Any]) -> Mark:
    text = row["args_json"] or ""
    how = ""
    if "tf_function_call" in text:
        how = str(strict_json.members(text).get("tf_function_call", ""))
    place = (row["track_id"], row["name"], row["ts_ps"], row["dur_ps"])
    return Mark(*place, row["step"], bool(how), how.startswith("traced"))


def _executed(store: Store) -> list[dict[str, Any]] | None:
    """The slices of a small store that execute something, without what only annotates it: threads of the
    host, which go on before and after a run. None for a large one."""
    if store.tables().get("slice", 0) > MOST_MERGED:
        return None
    beside = {row["id"] for row in _rows(store, "track") if row["records"] == "annotation"}
    return [row for row in store.rows("slice") if row["track_id"] not in beside]


def _training(store: Store, steps: list[Step]) -> list[Step]:
    """Runs of a session. Those that update variables, or have ops of tf.gradients, train: a program may run
    others in turn with them, such as an evaluation."""
    ordered = sorted(steps, key=lambda step: step.ts_ps)
    starts = [step.ts_ps for step in ordered]
    train = {
        max(0, bisect_right(starts, row["ts_ps"]) - 1)
        for row in _executed(store) or ()
        if _UPDATES.match(row["op_type"] or "") or _GRADIENTS.search(row["op_name"] or "")
    }
    return [
        step._replace(kind="train") if at in train and step.kind == "unknown" else step
        for at, step in enumerate(ordered)
    ]


def _own_runs(store: Store, steps: list[Step]) -> list[Step]:
    """The steps, each as long as its own run: from the first op that an executor ran to the last. What
    threads of the host do meanwhile begins before it and ends after it, and makes it no longer."""
    annotated = any(
        row["records"] == "annotation" and not str(row["process"]).endswith(" Tensors")
        for row in _rows(store, "track")
    )
    executed = _executed(store) if annotated else None
    if not executed:
        return steps
    ordered = sorted(steps, key=lambda step: step.ts_ps)
    starts = [step.ts_ps for step in ordered]
    spans: dict[int, tuple[int, int]] = {}
    for row in executed:
        at = bisect_right(starts, row["ts_ps"]) - 1
        if at < 0 or row["ts_ps"] > ordered[at].end_ps:
            continue
        begin, end = spans.get(at, (row["ts_ps"], row["ts_ps"]))
        spans[at] = min(begin, row["ts_ps"]), max(end, row["ts_ps"] + row["dur_ps"])
    return [
        step._replace(ts_ps=spans[at][0], end_ps=spans[at][1]) if at in spans else step
        for at, step in enumerate(ordered)
    ]


def _merged(store: Store, sources: Sequence[Mark]) -> list[Step]:
    """The runs of sessions of a timeline that somebody merged from several: each begins with the node
    `_SOURCE` of its graph, and nothing runs in two of them. Nothing for one run's timeline."""
    starts = _begins(sources, {row["id"]: row["process"] for row in _rows(store, "track")})
    executed = _executed(store) if len(starts) > 1 else None
    if executed is None:
        return []
    ends = list(starts)
    for row in executed:
        if row["op_name"] is None:
            continue
        at = max(0, bisect_right(starts, row["ts_ps"]) - 1)
        end_ps = row["ts_ps"] + row["dur_ps"]
        if row["op_type"] is None and end_ps > next(iter(starts[at + 1 :]), end_ps):
            continue  # threads of the host go on, and timelines of several runs number processes anew
        starts[at] = min(starts[at], row["ts_ps"])
        ends[at] = max(ends[at], end_ps)
    if any(end > start for end, start in zip(ends, starts[1:], strict=False)):
        return []
    why = f"one of {len(starts)} sessions whose timelines were merged"
    spans = enumerate(zip(starts, ends, strict=True))
    return [Step("session", i, start, end, "file", reason=why) for i, (start, end) in spans if end > start]


def _begins(sources: Sequence[Mark], processes: Mapping[int, str]) -> list[int]:
    """When sessions begin: each executor of one has its own node `_SOURCE`, and now one is the first, now
    another. processes: devices by track_id."""
    begins: list[int] = []
    begun: set[str] = set()
    for mark in sorted(sources, key=lambda mark: mark.ts_ps):
        device = processes[mark.track_id]
        if not begins or device in begun:
            begins.append(mark.ts_ps)
            begun = set()
        begun.add(device)
    return begins


def _one_step(known: SourceFacts, start: int, end: int, marks: Sequence[Mark]) -> Step:
    compiles = compiling(marks)
    if known.sessions or known.of_session:
        number = known.step if known.step is not None else 0
        is_named = known.step is not None and not known.counted
        name = f"step {number}" if is_named else "step"
        step = classify([Step(name, number, start, end, "file")], compiles)[0]
        reason = "its number is in the file's name" if is_named else "a file of one step"
        if known.counted:
            reason += ", numbered by when it began: its name has no number"
        return step if step.kind == "compile" else step._replace(reason=reason)
    return Step("whole capture", 0, start, end, "whole_capture", "unknown", False, _NO_STEPS)
