"""From the tables of a trace to diagnoses, and back to tables: `iterator` and `iterator_call`.

These two tables are made when a query first reads them, from slice, track and step: no decoder writes
them and no lake keeps them, so that nobody pays for them who does not ask.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from stepscope.instruments.pipeline.calls import Call, read
from stepscope.instruments.pipeline.captures import beside
from stepscope.instruments.pipeline.places import Place
from stepscope.instruments.pipeline.spans import length
from stepscope.instruments.pipeline.stages import is_taken
from stepscope.instruments.pipeline.verdict import Diagnosis, diagnose
from stepscope.instruments.pipeline.waits import StepTime
from stepscope.instruments.step_parts import judging
from stepscope.lake.numbers import first_id
from stepscope.library.statements import Query, statement

MOST_EVENTS = 250_000
"""Events of one source that are read; the first ones in time. They take a quarter of a GB."""
LAST_PS = 2**63 - 1
_PARTS = 4096
"""Parts of the recording's time, of which as many are read as hold so many events."""


@dataclass(frozen=True)
class Found:
    """The pipelines of one source."""

    source_id: int
    run_id: str
    host_id: str
    path: str
    calls: list[Call]
    diagnosis: Diagnosis
    places: Sequence[Place] = ()
    """The chains of datasets that the user wrote, where a capture tells them."""


def find(query: Query) -> list[Found]:
    """The diagnosis of each source that has tf.data events, in the order of the sources."""
    # One prefix is quickly looked for, even in recordings of many events that have none of it.
    there = query(statement("pipeline_sources")).rows()
    counted = query(statement("pipeline_event_counts")).rows() if there else []
    judged = judging.by_source(query) if there else {}
    numbers = {int(source_id): int(number) for source_id, number in counted}
    found = []
    for source_id, run_id, host_id, path, *_ in query(statement("sources")).rows():
        number = numbers.get(source_id, 0)
        if not number:
            continue
        calls, steps, seen = _source(query, source_id, number)
        if not any(call.kind in ("next", "fetch") for call in calls):
            continue
        device = query(statement("accelerators", source_id=source_id)).rows()
        window = (min((s.ts_ps for s in steps), default=0), max((s.end_ps for s in steps), default=0))
        held = beside(query, source_id, run_id, host_id, window)
        diagnosis = diagnose(
            calls,
            steps,
            device=bool(device[0][0]),
            share_seen=seen,
            beside=held,
            judged=judged.get(source_id),
        )
        found.append(Found(source_id, run_id, host_id, path, calls, diagnosis, held.places))
    return found


def _source(query: Query, source_id: int, number: int) -> tuple[list[Call], list[StepTime], float]:
    """Calls and steps of a source, and the part of its events that was read."""
    seen, until = 1.0, LAST_PS
    if number > MOST_EVENTS:
        until, read_events = _cut(query, source_id)
        seen = read_events / number
    rows = query(statement("pipeline_events", source_id=source_id, until_ps=until)).rows()
    steps = query(statement("pipeline_steps", source_id=source_id, until_ps=until)).rows()
    return read(rows), [StepTime(*row) for row in steps], seen


def _cut(query: Query, source_id: int) -> tuple[int, int]:
    """Until when events are read, and how many those are: as many parts of the time as hold MOST_EVENTS."""
    first, last = query(statement("pipeline_span", source_id=source_id)).rows()[0]
    width = max((last - first) // _PARTS, 1)
    total, cut = 0, last
    parts = statement("pipeline_density", source_id=source_id, first_ps=first, width_ps=width)
    for part, number in query(parts).rows():
        if total and total + number > MOST_EVENTS:
            break
        total, cut = total + number, first + (part + 1) * width
    return cut, total


def iterator_rows(found: Sequence[Found]) -> list[dict[str, Any]]:
    """Rows of the table iterator."""
    rows = []
    for one in found:
        base = first_id(one.source_id)
        ranked = one.diagnosis.ranked if one.diagnosis.bottleneck is not None else ()
        rank = {load.stage.number: i for i, load in enumerate(ranked, 1)}
        for load in one.diagnosis.loads:
            stage = load.stage
            rows.append(
                {
                    "id": base + stage.number,
                    "run_id": one.run_id,
                    "host_id": one.host_id,
                    "source_id": one.source_id,
                    "pipeline": stage.pipeline,
                    "name": stage.name,
                    "branch_name": stage.branch_name,
                    "user_stage": stage.user_stage,
                    "user_position": stage.position,
                    **_written(one.diagnosis.places.get(stage, ())),
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
                    "lane": load.stage.lane,
                    "work_ps": load.work_ps,
                    "trace_work_ps": load.trace_work_ps,
                    "model_work_ps": load.model_work_ps,
                    "work_from": load.work_from,
                    "service_ps": load.service_ps,
                    "in_waits_ps": load.in_waits_ps,
                    "limits": rank.get(stage.number),
                    **_without(one.diagnosis if rank.get(stage.number) == 1 else None),
                    "runs_python": load.python,
                    "verdict": one.diagnosis.verdict,
                    "wait_share": None if one.diagnosis.waits is None else one.diagnosis.waits.ratio,
                    "share_seen": one.diagnosis.share_seen,
                    "args_json": json.dumps(stage.args),
                }
            )
    return rows


def _without(diagnosis: Diagnosis | None) -> dict[str, Any]:
    then = None if diagnosis is None else diagnosis.without_limit
    return {
        "step_without_ps": None if then is None else then.step_ps,
        "step_without_low_ps": None if then is None else then.low_ps,
        "step_without_high_ps": None if then is None else then.high_ps,
    }


def _written(places: Sequence[Place]) -> dict[str, Any]:
    first = places[0] if places else None
    return {"file": first.file if first else None, "line": first.line if first else None}


def call_rows(found: Sequence[Found]) -> list[dict[str, Any]]:
    """Rows of the table iterator_call."""
    rows: list[dict[str, Any]] = []
    for one in found:
        base = first_id(one.source_id)
        for load in one.diagnosis.loads:
            for call in load.stage.calls:
                rows.append(
                    {
                        "id": base + len(rows),
                        "run_id": one.run_id,
                        "host_id": one.host_id,
                        "source_id": one.source_id,
                        "iterator_id": base + load.stage.number,
                        "slice_id": call.slice_id,
                        "track_id": call.track_id,
                        "instance": call.iterator,
                        "consumer": call.consumer,
                        "ts_ps": call.ts_ps,
                        "dur_ps": call.end_ps - call.ts_ps,
                        "own_ps": length(call.own),
                        "program_waits": is_taken(call),
                    }
                )
    return rows
