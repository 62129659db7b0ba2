"""From the tables of a trace to diagnoses, and back to tables: `iterator` and `iterator_call`.

These two tables are made when a query first reads them, from slice, track and step: no decoder writes
them and no lake keeps them, so that nobody pays for them who does not ask.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from stepscope.instruments.pipeline.accounting import Node
from stepscope.instruments.pipeline.calls import CHOSEN, EVENTS, ORDER, Call, read
from stepscope.instruments.pipeline.machine import Machine, Threads
from stepscope.instruments.pipeline.places import Place
from stepscope.instruments.pipeline.spans import length
from stepscope.instruments.pipeline.stages import is_taken
from stepscope.instruments.pipeline.verdict import Beside, Diagnosis, diagnose
from stepscope.instruments.pipeline.waits import StepTime

MOST_EVENTS = 250_000
"""Events of one source that are read; the first ones in time. They take a quarter of a GB."""
_PARTS = 4096
"""Parts of the recording's time, of which as many are read as hold so many events."""
ID_BITS = 36
"""Rows are numbered below this bit, with the number of the source above it, as everywhere."""


class Answer(Protocol):
    """What a query gives."""

    def rows(self) -> Sequence[Sequence[Any]]:
        """All rows."""


Query = Callable[[str], Answer]


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


def gather(query: Query) -> list[Found]:
    """The diagnosis of each source that has tf.data events, in the order of the sources."""
    # One prefix is quickly looked for, even in recordings of many events that have none of it.
    there = query("SELECT DISTINCT source_id FROM slice WHERE name LIKE 'Iterator%::%'").rows()
    counted = (
        query(f"SELECT s.source_id, count(*) FROM slice AS s WHERE {CHOSEN} GROUP BY s.source_id").rows()
        if there
        else []
    )
    numbers = {int(source_id): int(number) for source_id, number in counted}
    found = []
    for source_id, run_id, host_id, path in query(
        "SELECT source_id, run_id, host_id, path FROM source ORDER BY source_id"
    ).rows():
        number = numbers.get(source_id, 0)
        if not number:
            continue
        calls, steps, seen = _source(query, source_id, number)
        if not any(call.kind in ("next", "fetch") for call in calls):
            continue
        device = query(
            f"SELECT count(*) FROM device WHERE source_id = {source_id} AND kind IN ('gpu', 'tpu')"
        ).rows()
        window = (min((s.ts_ps for s in steps), default=0), max((s.end_ps for s in steps), default=0))
        beside = _beside(query, source_id, run_id, host_id, window)
        diagnosis = diagnose(calls, steps, device=bool(device[0][0]), share_seen=seen, beside=beside)
        found.append(Found(source_id, run_id, host_id, path, calls, diagnosis, beside.places))
    return found


def _beside(query: Query, source_id: int, run_id: str, host_id: str, window: tuple[int, int]) -> Beside:
    """What captures of the same run on the same host hold beside the traces. window: of the steps, in the
    time of the source."""
    whose = f"run_id = {quoted(run_id)} AND host_id = {quoted(host_id)}"
    models = []
    for row in query(f"SELECT {', '.join(_NODE)} FROM iterator_model WHERE {whose} ORDER BY id").rows():
        values = dict(zip(_NODE, row, strict=True))
        inputs = tuple(_numbers(values.pop("inputs_json")))
        models.append(
            Node(
                consumer=values.pop("consumer_node"),
                inputs=inputs,
                elements=values.pop("num_elements"),
                **values,
            )
        )
    places = [
        Place(*row)
        for row in query(
            "SELECT iterator, position, transformation, dataset, file, line, text, args_json FROM user_stage "
            f"WHERE {whose} ORDER BY id"
        ).rows()
    ]
    there = query(f"SELECT 1 FROM source WHERE format = 'capture' AND {whose} LIMIT 1").rows()
    machine = _machine(query, source_id, whose, window) if there else None
    return Beside(models, places, machine, missing(query, source_id))


def missing(query: Query, source_id: int | None = None) -> list[str]:
    """What of the recordings, or of one source, is lost or was cut, in sentences."""
    one = "" if source_id is None else f" AND source_id = {source_id}"
    return [
        f"A part of the recording is missing ({slug}: {detail}), and with it perhaps the slowest batches."
        for slug, detail in query(
            "SELECT DISTINCT slug, detail FROM source_note "
            f"WHERE effect IN ('lost', 'capped'){one} ORDER BY slug, detail LIMIT 5"
        ).rows()
    ]


def _machine(query: Query, source_id: int, whose: str, window: tuple[int, int]) -> Machine | None:
    """How busy cores were during the steps, where a capture sampled them on a clock both share."""
    origins = {
        int(one): int(origin)
        for one, origin in query(
            f"SELECT source_id, origin_unix_ns FROM capture WHERE origin_unix_ns IS NOT NULL AND {whose}"
        ).rows()
    }
    if source_id not in origins:
        return None
    for other, origin in sorted(origins.items()):
        shift = (origins[source_id] - origin) * 1000
        begin, end = window[0] + shift, window[1] + shift
        if max(abs(begin), abs(end)) >= 2**63:
            continue
        rows = query(
            "SELECT name, series, avg(value), min(value) FROM counter "
            f"WHERE source_id = {other} AND name IN ('core busy', 'process cpu', 'machine memory') "
            f"AND ts_ps >= {begin} AND ts_ps <= {end + _SAMPLE_PS} GROUP BY name, series"
        ).rows()
        cores = [float(value) for name, _, value, _ in rows if name == "core busy"]
        used = [float(value) for name, _, value, _ in rows if name == "process cpu"]
        free = [int(least) for name, _, _, least in rows if name == "machine memory"]
        if cores:
            shares = _shares(query, other, begin, end)
            return Machine(
                len(cores),
                sum(cores) / len(cores),
                max(cores),
                shares.get("process running", used[0] if used else None),
                _threads(shares, "program"),
                _threads(shares, "later"),
                free[0] if free else None,
            )
    return None


def _shares(query: Query, source_id: int, begin: int, end: int) -> dict[str, float]:
    """How many threads ran and waited for cores during the recording around the steps: it is told at its
    begin and at its end, so that the last value before the middle of the steps is of their recording."""
    middle = begin + (end - begin) // 2
    rows = query(
        "SELECT series, value FROM counter "
        f"WHERE source_id = {source_id} AND name = 'threads during recording' AND ts_ps <= {middle} "
        "ORDER BY ts_ps"
    ).rows()
    return {str(series): float(value) for series, value in rows}


def _threads(shares: dict[str, float], owner: str) -> Threads | None:
    running, waiting = (shares.get(f"{owner} {what}") for what in ("running", "waiting"))
    return None if running is None or waiting is None else Threads(running, waiting)


def _numbers(text: str) -> list[int]:
    return [one for one in json.loads(text) if isinstance(one, int)]


_SAMPLE_PS = 10**11
"""A sample tells of the time before it: one that is taken a little after the steps belongs to them."""
_NODE = (
    "iterator", "sample", "node", "consumer_node", "inputs_json", "name", "node_class", "ratio",
    "num_elements", "bytes_produced", "buffered_elements", "processing_ps", "parallelism",
    "parallelism_max", "autotuned", "buffer_size", "gaps", "gap_ps", "cpu_budget", "ram_budget_bytes",
)  # fmt: skip


def quoted(text: str) -> str:
    """Text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def _source(query: Query, source_id: int, number: int) -> tuple[list[Call], list[StepTime], float]:
    """Calls and steps of a source, and the part of its events that was read."""
    seen, until = 1.0, ""
    if number > MOST_EVENTS:
        cut, read_events = _cut(query, source_id)
        until, seen = f" AND ts_ps + dur_ps <= {cut}", read_events / number
    whose = f" AND s.source_id = {source_id}"
    rows = query(
        f"{EVENTS}{whose}{until.replace('ts_ps', 's.ts_ps').replace('dur_ps', 's.dur_ps')}{ORDER}"
    ).rows()
    steps = query(
        "SELECT ts_ps, ts_ps + dur_ps, averaged, recovered_from FROM step "
        f"WHERE source_id = {source_id} AND kind <> 'compile'{until} ORDER BY ts_ps"
    ).rows()
    return read(row[1:] for row in rows), [StepTime(*row) for row in steps], seen


def _cut(query: Query, source_id: int) -> tuple[int, int]:
    """Until when events are read, and how many those are: as many parts of the time as hold MOST_EVENTS."""
    where = f"FROM slice AS s WHERE {CHOSEN} AND s.source_id = {source_id}"
    first, last = query(f"SELECT min(s.ts_ps), max(s.ts_ps) {where}").rows()[0]
    width = max((last - first) // _PARTS, 1)
    total, cut = 0, last
    for part, number in query(
        f"SELECT (s.ts_ps - {first}) // {width} AS part, count(*) AS number {where} "
        "GROUP BY part ORDER BY part"
    ).rows():
        if total and total + number > MOST_EVENTS:
            break
        total, cut = total + number, first + (part + 1) * width
    return cut, total


def iterator_rows(found: Sequence[Found]) -> list[dict[str, Any]]:
    """Rows of the table iterator."""
    rows = []
    for one in found:
        base = one.source_id << ID_BITS
        rank = {load.stage.number: i for i, load in enumerate(one.diagnosis.ranked, 1)}
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
                    "runs_python": load.python,
                    "verdict": one.diagnosis.verdict,
                    "wait_share": None if one.diagnosis.waits is None else one.diagnosis.waits.ratio,
                    "share_seen": one.diagnosis.share_seen,
                    "args_json": json.dumps(stage.args),
                }
            )
    return rows


def _written(places: Sequence[Place]) -> dict[str, Any]:
    first = places[0] if places else None
    return {"file": first.file if first else None, "line": first.line if first else None}


def call_rows(found: Sequence[Found]) -> list[dict[str, Any]]:
    """Rows of the table iterator_call."""
    rows: list[dict[str, Any]] = []
    for one in found:
        base = one.source_id << ID_BITS
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
