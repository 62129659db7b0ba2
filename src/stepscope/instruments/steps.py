"""Finds the steps of a recording from the best evidence that it has, and reports which that was.

The evidence, best first: numbered marks (`train` with a step_num, `ProfilerStep#7`), marks without a number,
updates of PyTorch's optimizers, fetches of its loaders, Session.run calls, calls of a tf.function,
FunctionRun, calls of a jitted function, calls that fetch the next batch, the accelerator's own steps, a file
that holds one step by its nature (RunMetadata, tf Timeline). Without any, the whole capture counts as one
step and a note says so. The accelerator's own steps come first if the host runs ahead of it (see
`device_steps`), with what the accelerator waits for before each (see `reaching_steps`).

Marks are used as they are, unless the program takes its batches between them: then a step reaches to the next
mark. Calls show only when an iteration begins: a step lasts from one call to the next, so that time between
calls (fetching input, callbacks) is not lost; the last step ends with its call. Steps of one source never
overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope import strict_json
from stepscope.instruments import device_steps
from stepscope.instruments.device_steps import PROGRAMS, STEPS, LaunchedWork
from stepscope.instruments.exported_steps import exported
from stepscope.instruments.reaching_steps import BETWEEN, FEWEST, LAST, reaching, reaching_back
from stepscope.instruments.recorded_stretch import RecordedStretch, is_part_of_step, recorded_stretch
from stepscope.instruments.recorder_steps import (
    RecordedStep,
    counted,
    recorder_steps,
    span_of,
    traced_in_full,
)
from stepscope.instruments.session_steps import (
    MOST_MERGED,
    SOURCE_OP,
    merged,
    own_runs,
    rows_of,
    session_steps,
    training,
)
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

FETCH = "IteratorGetNext"
"""The beginning of the names of ops that fetch a batch from TensorFlow's pipeline."""
_NO_STEPS = "nothing in the recording shows where a step begins"


class SourceFacts(NamedTuple):
    """Facts about a source that its bytes do not hold."""

    step: int | None = None
    """Number of the step, if the file's name has one."""
    counted: bool = False
    """The number is the file's position among others, by start time."""
    sessions: bool = False
    """The decoder marked each run of a session that it holds."""
    of_session: bool = False
    """It was written after one run of a session."""
    apart: bool = False
    """The recorder timed other steps than those of the source."""


def recover(store: Store, known: SourceFacts, recorded_steps: Sequence[RecordedStep] = ()) -> None:
    """Fills the table `step_stored` and the column slice.step of a decoded store.

    Reads the table `marker` and the names of tracks; scans no slices. Adds the note `no-steps` when
    nothing delimits steps. recorded_steps: those that a recorder timed, used if nothing in the recording
    delimits steps. For runs that were traced in full, they show that others were recorded.
    """
    beside, recorded_steps = (recorded_steps, ()) if known.apart else ((), recorded_steps)
    marks = _marks(store)
    facts = store.facts
    span = span_of(facts)
    recorded = [] if span is None else recorder_steps(recorded_steps, span, marks.host)
    steps = _exported(facts.get("meta", {})) or _measured(store, marks)
    if steps and steps[0].recovered_from in _CALLS:
        is_part = span is not None and not recorded and is_part_of_step(recorded_steps, *span[1:])
        steps = [] if is_part else counted(steps, recorded)
    if known.sessions:
        steps = session_steps(steps, marks.host)
    steps = steps or recorded
    if steps:
        steps = _time_by_devices(store, steps)
    elif span is not None:
        steps = _undelimited(store, known, marks, not beside)
    if steps and all(step.recovered_from == "file" for step in steps):
        steps = traced_in_full(own_runs(store, training(store, steps)), beside)
    _keep(store, steps)


def _time_by_devices(store: Store, steps: list[Step]) -> list[Step]:
    """The host's steps, with the times of the accelerator where the host runs ahead of it."""
    if any(step.recovered_from in ("device", "file") for step in steps) or "slice" not in store.tables():
        return steps
    streams = {row["id"] for row in rows_of(store, "track") if row["kind"] == "device_stream"}
    if not streams:
        return steps
    works = store.launched_work([step.ts_ps for step in steps], streams)
    launched = [None if work is None else LaunchedWork(*work) for work in works]
    found = device_steps.steps_of_launches(forget_lengths(steps), launched)
    return judge_lengths(found) if found else steps


class _Marks(NamedTuple):
    """The marks of a store, by origin."""

    host: list[Mark]
    devices: list[Mark]
    sources: list[Mark]
    """Nodes that runs of a graph begin with."""
    tracks: dict[int, str]
    """Names of all tracks."""
    rows: dict[int, str]
    """Names of the tracks with marks of devices."""


def _marks(store: Store) -> _Marks:
    every = [_mark(row) for row in rows_of(store, "marker")]
    sources = [mark for mark in every if mark.name == SOURCE_OP]
    marks = [mark for mark in every if mark.name != SOURCE_OP]
    named = rows_of(store, "track") if marks else []
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


def _undelimited(store: Store, known: SourceFacts, marks: _Marks, alone: bool) -> list[Step]:
    """The steps of a recording in which nothing marks them: the sessions it was merged from, or one. None if
    all events have the same time, as in a memory profile. alone: no recorder says that it is one step."""
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
    steps = merged(store, marks.sources, known.of_session) if alone else []
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
            step.work,
        )
        for i, step in enumerate(steps)
    ]
    columns = (
        "id", "step", "name", "kind", "recovered_from", "ts_ps", "dur_ps", "averaged", "reason", "work",
    )  # fmt: skip
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


_CALLS = ("optimizer_step", "session_run", "function_run", "function_call", "get_next")
"""Evidence that shows calls without their role in the program: one of many in a step may be the longest."""


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
    """When an accelerator begins to wait for the batch of a step: the call that made it has begun to fetch,
    and all earlier launches are done. The begin of the step, if it does not wait."""
    called_ps = max((call.ts_ps for call in calls if call.ts_ps <= step.ts_ps), default=step.ts_ps)
    late = step.ts_ps - called_ps >= BETWEEN * (step.end_ps - called_ps)
    if not late or store.tables().get("slice", 0) > MOST_MERGED:
        return step.ts_ps
    streams = {row["id"] for row in rows_of(store, "track") if row["kind"] == "device_stream"}
    busy = [end_ps for track, (*_, end_ps) in store.extents(step.ts_ps).items() if track in streams]
    fetched = [row["ts_ps"] for row in store.rows("slice") if row["name"].startswith(FETCH)]
    fetches = [ts_ps for ts_ps in fetched if called_ps <= ts_ps < step.ts_ps]
    return max([min(fetches), *busy]) if fetches else step.ts_ps


def _mark(row: dict[str, Any]) -> Mark:
    text = row["args_json"] or ""
    how = ""
    if "tf_function_call" in text:
        how = str(strict_json.members(text).get("tf_function_call", ""))
    place = (row["track_id"], row["name"], row["ts_ps"], row["dur_ps"])
    return Mark(*place, row["step"], bool(how), how.startswith("traced"))


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
