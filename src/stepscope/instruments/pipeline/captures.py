"""What captures record beside traces: models of iterators, chains, the machine, steps without a profiler."""

from collections.abc import Iterator, Mapping

from stepscope import strict_json
from stepscope.instruments.pipeline.accounting import ModelRow
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence
from stepscope.instruments.pipeline.host import Machine, Threads
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.tracing import TracingPace
from stepscope.library.statements import Query, statement


def capture_evidence(
    query: Query, source_id: int, run_id: str, host_id: str, window: tuple[int, int]
) -> CaptureEvidence:
    """The records of the captures of the same run and host. window: of the steps, in the source's time."""
    models = []
    for row in query(statement("iterator_models", run_id=run_id, host_id=host_id)).rows():
        values = dict(zip(_NODE, row, strict=True))
        inputs = tuple(_numbers(values.pop("inputs_json")))
        models.append(
            ModelRow(
                consumer=values.pop("consumer_node"),
                inputs=inputs,
                elements=values.pop("num_elements"),
                **values,
            )
        )
    places = [
        UserStage(*row) for row in query(statement("user_stages", run_id=run_id, host_id=host_id)).rows()
    ]
    ((captures,),) = query(statement("capture_folders", run_id=run_id, host_id=host_id)).rows()
    machine = pace = cores = None
    if captures:
        sampled = query(statement("cores_sampled", run_id=run_id, host_id=host_id)).rows()
        cores = max((number for _, number in sampled), default=None)
        origins = query(statement("capture_origins", run_id=run_id, host_id=host_id)).rows()
        for other, begin, end in _windows(
            {int(number): int(origin) for number, origin in origins}, source_id, window
        ):
            machine = machine or _machine(query, other, begin, end)
            pace = pace or _pace(query, source_id, other, begin, end)
    return CaptureEvidence(models, places, machine, missing(query, source_id), pace, cores=cores)


def missing(query: Query, source_id: int | None = None) -> list[Oddity]:
    """Losses and cuts of the recordings, or of one source."""
    return [
        Oddity("lost", detail=f"{slug}: {detail}")
        for slug, detail in query(statement("lost_parts", source_id=source_id, most=5)).rows()
    ]


def _windows(
    origins: Mapping[int, int], source_id: int, window: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Captures that share a clock with the source, and the window on each clock. origins: Unix time of zero,
    by source."""
    for other, origin in sorted(origins.items()):
        shift = (origins.get(source_id, origin) - origin) * 1000
        begin, end = window[0] + shift, window[1] + shift
        if source_id in origins and max(abs(begin), abs(end)) < 2**63:
            yield other, begin, end


def _machine(query: Query, source_id: int, begin: int, end: int) -> Machine | None:
    """How busy the cores were between two moments, where a capture sampled them."""
    asked = statement("machine_load", source_id=source_id, begin_ps=begin, end_ps=end + _SAMPLE_PS)
    rows = query(asked).rows()
    cores = [float(value) for name, _, value, _ in rows if name == "core busy"]
    used = [float(value) for name, _, value, _ in rows if name == "process cpu"]
    children = sum(float(value) for name, _, value, _ in rows if name == "children cpu")
    free = [int(least) for name, _, _, least in rows if name == "machine memory"]
    if not cores:
        return None
    shares = _shares(query, source_id, begin, end)
    process_cores = shares.get("process running", used[0] if used else None)
    return Machine(
        len(cores),
        # The machine counts timer ticks and misses what is shorter; the process counts everything.
        min(max(sum(cores), process_cores or 0.0) / len(cores), 1.0),
        max(cores),
        process_cores,
        _threads(shares, "program"),
        _threads(shares, "later"),
        _threads(shares, "all"),
        free[0] if free else None,
        children,
    )


def _pace(query: Query, source_id: int, capture_id: int, begin: int, end: int) -> TracingPace | None:
    """Durations of steps without a profiler: before this recording, or after it where too few were before. Of
    these, the second half counts: buffers are full by then, and autotune has settled."""
    rows = query(statement("step_durations", source_id=capture_id)).rows()
    # The profiler was switched on during the first.
    traced = [value for series, ts_ps, value in rows if series == "traced_ns" and begin <= ts_ps <= end][1:]
    untraced = [(ts_ps, value) for series, ts_ps, value in rows if series == "untraced_ns"]
    settled = _second_half([value for ts_ps, value in untraced if ts_ps < begin])
    if len(settled) < _FEW_STEPS:
        settled = _second_half([value for ts_ps, value in untraced if ts_ps > end])
    if len(settled) < _FEW_STEPS or len(traced) < _FEW_STEPS:
        return None
    events = query(statement("slice_count", source_id=source_id)).rows()[0][0]
    return TracingPace(
        1000 * sum(traced) / len(traced), 1000 * sum(settled) / len(settled), events / (len(traced) + 1)
    )


def _second_half(values: list[float]) -> list[float]:
    return values[(len(values) + 1) // 2 :][-_MOST_STEPS:]


_FEW_STEPS, _MOST_STEPS = 5, 100
"""Fewer steps without a profiler than this say nothing; of more, the last ones count."""


def _shares(query: Query, source_id: int, begin: int, end: int) -> dict[str, float]:
    """How many threads ran and waited for cores during the recording of the steps. Recordings sample this at
    their begin and end, so the last value before the middle of the steps belongs to this one."""
    middle = begin + (end - begin) // 2
    rows = query(statement("thread_shares", source_id=source_id, until_ps=middle)).rows()
    return {str(series): float(value) for series, value in rows}


def _threads(shares: dict[str, float], owner: str) -> Threads | None:
    running, waiting = (shares.get(f"{owner} {what}") for what in ("running", "waiting"))
    return None if running is None or waiting is None else Threads(running, waiting)


def _numbers(text: str) -> list[int]:
    return [element for element in strict_json.elements(text) if isinstance(element, int)]


_SAMPLE_PS = 10**11
"""A sample covers the time before it, so one taken shortly after the steps belongs to them."""
_NODE = (
    "iterator", "sample", "node", "consumer_node", "inputs_json", "name", "node_class", "ratio",
    "num_elements", "bytes_produced", "buffered_elements", "processing_ps", "parallelism",
    "parallelism_max", "autotuned", "buffer_size", "gap_ps", "cpu_budget", "ram_budget_bytes",
)  # fmt: skip
