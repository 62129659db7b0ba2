"""The diagnoses of a trace, and the tables `iterator` and `iterator_call` made from them.

The two tables are derived from slice, track and step when a query first reads them: no decoder writes them
and no lake stores them, so only those who ask pay for them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from stepscope import units
from stepscope.instruments.causes import ranking
from stepscope.instruments.intervals import length
from stepscope.instruments.pipeline import loaders, single_runs
from stepscope.instruments.pipeline.calls import StageCall, read, read_function_ops
from stepscope.instruments.pipeline.captures import capture_evidence, missing
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.stages import made_in_steps
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.instruments.pipeline.waits import StepTime
from stepscope.instruments.pipeline.widths import executors_at_once
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import Query, statement

MOST_EVENTS = 250_000
"""Most events that are read from a source, the first in time. They take a quarter of a GB."""
LAST_PS = 2**63 - 1
_PARTS = 4096
"""The recording's time is divided into this many parts; parts are read until they hold too many events."""


@dataclass(frozen=True)
class SourcePipelines:
    """The pipelines of one source, or of several that hold single runs of one program."""

    source_id: int
    """The source, or the first of several."""
    run_id: str
    host_id: str
    path: str
    calls: list[StageCall]
    diagnosis: Diagnosis
    places: Sequence[UserStage] = ()
    """The user's chains of datasets, where a capture records them."""
    sources: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """By track: its source, and by how much its times were shifted to place the sources side by side."""


def find(query: Query) -> list[SourcePipelines]:
    """The diagnosis of each source with tf.data events, in order of source. Sources that hold single runs of
    one program share one."""
    # Searching for one prefix is fast even in a large recording without any match.
    sources = query(statement("pipeline_sources")).rows()
    counted = query(statement("pipeline_event_counts")).rows() if sources else []
    numbers = {int(source_id): int(number) for source_id, number in counted if number}
    groups = single_runs.groups(query, numbers) if numbers else []
    judged = ranking.weigh_sources(query, single_runs.first_of(groups)) if groups else {}
    found = []
    for group in groups:
        read = _read(query, group.sources, numbers)
        if not any(call.kind in ("next", "fetch") for call in read.calls):
            continue
        source_id = group.sources[0]
        device = query(statement("accelerators", source_id=source_id)).rows()
        window = read.window
        held = capture_evidence(query, source_id, group.run_id, group.host_id, window)
        odd = [*held.missing, *(oddity for other in group.sources[1:] for oddity in missing(query, other))]
        ((made,),) = query(statement("iterators_made", sources=group.sources)).rows()
        at_once: int | None = executors_at_once(read.calls)
        if any(call.is_unnumbered for call in read.calls):
            rows = query(statement("threads_at_once", sources=group.sources)).rows()
            at_once = max((most for _, most in rows), default=None)
        diagnosis = diagnose(
            read.calls,
            read.steps,
            device=bool(device[0][0]),
            share_seen=read.seen,
            beside=replace(
                held,
                missing=odd,
                remade=made_in_steps(made, len(read.steps)),
                apart_ps=single_runs.apart(query, group.sources),
                at_once=at_once,
            ),
            judged=judged.get(source_id),
        )
        found.append(
            SourcePipelines(
                source_id,
                group.run_id,
                group.host_id,
                group.path,
                read.calls,
                diagnosis,
                held.places,
                read.sources,
            )
        )
    return found


class _SourceReader(NamedTuple):
    """The events of sources that belong together, placed side by side in time."""

    calls: list[StageCall]
    steps: list[StepTime]
    seen: float
    """The part of their events that was read."""
    window: tuple[int, int]
    """Window of the first source's steps, in its own time."""
    sources: Mapping[int, tuple[int, int]]
    """By track: its source, and by how much its times were shifted."""


def otherwise(query: Query, found: Sequence[SourcePipelines]) -> tuple[list[Oddity], list[loaders.Loading]]:
    """What is known without a pipeline: losses of the recordings, waits, and DataLoaders of PyTorch, which
    tell the waits themselves. Empty when a pipeline was found."""
    if found:
        return [], []
    loading = loaders.find(query)
    waits = [] if any(loader.share is not None for loader in loading) else _waits(query)
    return [*missing(query), *waits], loading


def _waits(query: Query) -> list[Oddity]:
    """That steps wait for input, where that is all that is known of it."""
    ((steps_ps, wait_ps),) = query(statement("waits_without_stages")).rows()
    if not wait_ps:
        return []
    return [Oddity("waits", detail=units.show(wait_ps / steps_ps, "ratio"))]


def _read(query: Query, sources: Sequence[int], numbers: Mapping[int, int]) -> _SourceReader:
    calls: list[StageCall] = []
    steps: list[StepTime] = []
    of: dict[int, tuple[int, int]] = {}
    window: tuple[int, int] | None = None
    total = sum(numbers[source_id] for source_id in sources)
    held, reached = 0.0, 0
    for source_id in sources:
        if held and held + numbers[source_id] > MOST_EVENTS:
            break
        rows, times, seen = _source(query, source_id, numbers[source_id])
        held += seen * numbers[source_id]
        begins = [row[3] for row in rows] + [step.ts_ps for step in times]
        window = window or _window_of(times)
        shift = reached + single_runs.APART_PS - min(begins) if calls and begins else 0
        of |= dict.fromkeys({row[1] for row in rows}, (source_id, shift))
        more = read(_shifted(rows, shift))
        if any(call.is_unnumbered for call in more):
            ops = query(statement("function_ops", source_id=source_id, until_ps=LAST_PS)).rows()
            more += read_function_ops(more, _shifted(ops, shift))
        calls += more
        steps += [replace(s, ts_ps=s.ts_ps + shift, end_ps=s.end_ps + shift) for s in times]
        reached = max(reached, _end_of(more, steps))
    return _SourceReader(calls, steps, held / total if total else 1.0, window or (0, 0), of)


def _window_of(steps: Sequence[StepTime]) -> tuple[int, int]:
    """From the first step to the end of the last."""
    return min((step.ts_ps for step in steps), default=0), max((step.end_ps for step in steps), default=0)


def _end_of(calls: Sequence[StageCall], steps: Sequence[StepTime]) -> int:
    """The end of the last one."""
    return max([0, *(call.end_ps for call in calls), *(step.end_ps for step in steps)])


def _shifted(rows: Sequence[Any], shift_ps: int) -> Sequence[Any]:
    """Rows of calls, shifted in time."""
    return [(*row[:3], row[3] + shift_ps, *row[4:]) for row in rows] if shift_ps else rows


def _source(query: Query, source_id: int, number: int) -> tuple[list[tuple[Any, ...]], list[StepTime], float]:
    """Events and steps of a source, and the part of its events that was read."""
    seen, until = 1.0, LAST_PS
    if number > MOST_EVENTS:
        until, read_events = _cut(query, source_id)
        seen = read_events / number
    rows = query(statement("pipeline_events", source_id=source_id, until_ps=until)).rows()
    steps = query(statement("pipeline_steps", source_id=source_id, until_ps=until)).rows()
    return rows, [StepTime(*row) for row in steps], seen


def _cut(query: Query, source_id: int) -> tuple[int, int]:
    """Until when events are read, and how many those are: whole parts of the time, up to MOST_EVENTS."""
    first, last = query(statement("pipeline_span", source_id=source_id)).rows()[0]
    width = max((last - first) // _PARTS, 1)
    total, cut = 0, last
    parts = statement("pipeline_density", source_id=source_id, first_ps=first, width_ps=width)
    for part, number in query(parts).rows():
        if total and total + number > MOST_EVENTS:
            break
        total, cut = total + number, first + (part + 1) * width
    return cut, total


def iterator_rows(found: Sequence[SourcePipelines]) -> list[dict[str, Any]]:
    """Rows of the table iterator."""
    rows = []
    for pipelines in found:
        diagnosis = pipelines.diagnosis
        ranked = diagnosis.ranked if diagnosis.bottleneck is not None else ()
        rank = {load.stage.number: place for place, load in enumerate(ranked, 1)}
        rows += [_iterator_row(pipelines, load, rank.get(load.stage.number)) for load in diagnosis.loads]
    return rows


def _iterator_row(pipelines: SourcePipelines, load: Load, rank: int | None) -> dict[str, Any]:
    """The row of a stage. rank: its place among the stages that limit; None where it does not."""
    base, stage, diagnosis = first_id(pipelines.source_id), load.stage, pipelines.diagnosis
    return {
        "id": base + stage.number,
        "run_id": pipelines.run_id,
        "host_id": pipelines.host_id,
        "source_id": pipelines.source_id,
        "pipeline": stage.pipeline,
        "name": stage.name,
        "branch_name": stage.branch_name,
        "user_stage": stage.user_stage,
        "spoken": stage.spoken,
        "user_position": stage.position,
        **_written(diagnosis.places.get(stage, ())),
        "consumer_id": None if stage.above is None else base + stage.above.number,
        "works_ahead": stage.ahead,
        "calls": load.calls,
        "total_ps": load.total_ps,
        "own_ps": load.own_ps,
        "function_ps": load.function_ps,
        "queue_ps": load.queue_ps,
        "busy_ps": load.busy_ps,
        "parallelism": stage.parallelism,
        "width": load.width,
        "threads": load.threads,
        "lane": stage.lane,
        "work_ps": load.work_ps,
        "trace_work_ps": load.trace_work_ps,
        "model_work_ps": load.model_work_ps,
        "work_from": load.work_from,
        "service_ps": load.service_ps,
        "in_waits_ps": load.in_waits_ps,
        "limits": rank,
        **_empty_of(diagnosis if rank == 1 else None),
        "runs_python": load.python,
        "verdict": diagnosis.verdict,
        "wait_share": None if diagnosis.waits is None else diagnosis.waits.ratio,
        "share_seen": diagnosis.share_seen,
        "args_json": json.dumps(stage.args),
    }


def _empty_of(diagnosis: Diagnosis | None) -> dict[str, Any]:
    then = None if diagnosis is None else diagnosis.without_limit
    return {
        "step_without_ps": None if then is None else then.step_ps,
        "step_without_low_ps": None if then is None else then.low_ps,
        "step_without_high_ps": None if then is None else then.high_ps,
    }


def _written(places: Sequence[UserStage]) -> dict[str, Any]:
    first = places[0] if places else None
    return {"file": first.file if first else None, "line": first.line if first else None}


def call_rows(found: Sequence[SourcePipelines]) -> list[dict[str, Any]]:
    """Rows of the table iterator_call."""
    rows: list[dict[str, Any]] = []
    for pipelines in found:
        base = first_id(pipelines.source_id)
        for load in pipelines.diagnosis.loads:
            for call in load.stage.calls:
                source_id, shift_ps = pipelines.sources.get(call.track_id, (pipelines.source_id, 0))
                rows.append(
                    {
                        "id": first_id(source_id) + len(rows),
                        "run_id": pipelines.run_id,
                        "host_id": pipelines.host_id,
                        "source_id": source_id,
                        "iterator_id": base + load.stage.number,
                        "slice_id": call.slice_id,
                        "track_id": call.track_id,
                        "instance": call.iterator,
                        "consumer": call.consumer,
                        "ts_ps": call.ts_ps - shift_ps,
                        "dur_ps": call.end_ps - call.ts_ps,
                        "own_ps": length(call.own),
                        "program_waits": call.takes_batch,
                    }
                )
    return rows
