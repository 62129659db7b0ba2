"""Counters of a capture: the machine over time, threads during recordings, and durations of steps."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from stepscope.capture.folder import stood_still_ns
from stepscope.formats import Step
from stepscope.formats._fields import finite, whole

Row = dict[str, Any]
Time = Callable[[int | None], int | None]
"""Picoseconds from the capture's origin, of Unix nanoseconds."""

TRACK: Row = {
    "device_id": None,
    "kind": "counter",
    "records": "unknown",
    "process": "machine",
    "name": "machine",
    "origin": "machine.ndjson",
    "sort_index": None,
}
"""The track of all of them."""
_STEP = "duration of a step"
"""The counter of what steps took as the recorder saw them, at their begin: those of the warm-up, too."""
_CALL = "duration of the call in a step"
"""The counter of what the call took that marks the step, at the step's begin. The rest of the step lies
before it."""
_RUNS = "runs of a session in a step"
_VALUES = "bytes of a session in a step"
"""The counter of what the runs of a session in a recorded step were fed, and gave back."""
_TRACED_RUNS = "runs of a session in a traced step"
"""The counter of how often a recorded step called Session.run, where more than once."""
_SHARES = "threads during recording"
"""The counter that says how many threads ran, and how many waited for a core, on average over a recording:
at its begin, and again at its end. `program` are those that were there before the first iterator."""
_PROGRAM = "program"
"""The counter of when the program started, began the first step that the recorder saw, and ended, in
nanoseconds from the start of the capture, whose time they lie outside of. Also how long it is from that step
to the last one seen, and for how long of that no step ran, without what the recorder took."""
_GARBAGE = "garbage collection"
"""The counter of what collections of the thread that runs the steps took, each at its begin; series are the
generations. Those of other threads have a counter of their own: the thread of the steps may compute
meanwhile."""
_PROCESSOR_TIMES = (("process cpu", "process_cpu_ns"), ("children cpu", "children_cpu_ns"))
"""Counters of the cores that the process has, and those that it started, by what the line has of them."""
_SERIES = (
    ("process memory", "rss_bytes"),
    ("process threads", "threads"),
    ("process io", "read_bytes"),
    ("process io", "write_bytes"),
    ("machine memory", "available_bytes"),
    ("machine io", "disk_read_bytes"),
    ("machine io", "disk_write_bytes"),
)


def samples(lines: Iterable[Mapping[str, Any]], time: Time) -> Iterator[Row]:
    """The lines of machine.ndjson: what cores, the process and the machine did."""
    before: Mapping[str, Any] = {}
    for line in lines:
        ts_ps = time(whole(line, "unix_ns"))
        if ts_ps is None:
            continue
        cores = line.get("cores")
        for core, share in enumerate(cores if isinstance(cores, list) else []):
            yield from _row("core busy", str(core), ts_ps, finite(share))
        for counter, key in _PROCESSOR_TIMES:
            yield from _row(counter, "cores", ts_ps, _cores(before, line, key))
        for counter, series in _SERIES:
            yield from _row(counter, series, ts_ps, finite(line.get(series)))
        before = line


def threads(sessions: Iterable[Mapping[str, Any]], time: Time) -> Iterator[Row]:
    """How many threads ran, and how many waited for a core, while sessions recorded."""
    for session in sessions:
        begin, end = whole(session, "begin_unix_ns"), whole(session, "end_unix_ns")
        if begin is None or end is None or end <= begin:
            continue
        shares = _shares(session, end - begin)
        for ts_ps in (time(begin), time(end)):
            for series, value in shares if ts_ps is not None else ():
                yield from _row(_SHARES, series, ts_ps, value)


def program(record: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]) -> Iterator[Row]:
    """When the program started, began its first step, and ended, and what lies between its steps, of
    capture.json and the lines of steps.ndjson."""
    ran, origin = record.get("program"), whole(record, "started_unix_ns")
    if not isinstance(ran, dict) or origin is None:
        return
    steps = [[whole(line, key) for key in ("step", "begin_unix_ns", "end_unix_ns")] for line in lines]
    spans = sorted(
        (begin, end, number) for number, begin, end in steps if begin is not None and end is not None
    )
    first = next((begin for begin, _, number in spans if number == 0), None)
    moments = (whole(ran, "started_unix_ns"), first, whole(ran, "ended_unix_ns"))
    for series, moment in zip(("start_ns", "first_step_ns", "end_ns"), moments, strict=True):
        if moment is not None:
            yield from _row(_PROGRAM, series, 0, moment - origin)
    if spans:
        between, reached = 0, spans[0][0]
        for begin, end, _ in spans:
            between, reached = between + max(begin - reached, 0), max(reached, end)
        cost = record.get("cost")
        stood_ns = stood_still_ns(cost) if isinstance(cost, dict) else 0
        yield from _row(_PROGRAM, "stepping_ns", 0, reached - spans[0][0])
        yield from _row(_PROGRAM, "between_ns", 0, max(between - stood_ns, 0))


def durations(steps: Iterable[Step], time: Time) -> Iterator[Row]:
    """What steps took, with and without a profiler."""
    for _, begin, end, recorded in steps:
        yield from _row(_STEP, "traced_ns" if recorded else "untraced_ns", time(begin), end - begin)


def calls(lines: Iterable[Mapping[str, Any]], time: Time) -> Iterator[Row]:
    """What the calls that mark steps took, with and without a profiler, and how many runs of a session steps
    made, of the lines of steps.ndjson."""
    for line in lines:
        begin, call, end = (whole(line, f"{key}_unix_ns") for key in ("begin", "call", "end"))
        if begin is None or call is None or end is None or not begin <= call <= end:
            continue
        if line.get("run_metadata"):
            runs, traced = whole(line, "runs"), whole(line, "traced_runs")
            if runs is not None and traced is not None and 0 < traced <= runs:
                yield from _row(_TRACED_RUNS, "traced", time(begin), traced)
                yield from _row(_TRACED_RUNS, "untraced", time(begin), runs - traced)
        else:
            series = "traced_ns" if line.get("recorded", True) else "untraced_ns"
            yield from _row(_CALL, series, time(begin), end - call)
            runs = whole(line, "runs")
            if series == "traced_ns" and runs is not None and runs > 0:
                if runs > 1:
                    yield from _row(_RUNS, "runs", time(begin), runs)
                for series in ("fed", "fetched"):
                    yield from _row(_VALUES, series, time(begin), whole(line, f"{series}_bytes"))


def collections(lines: Iterable[Mapping[str, Any]], time: Time) -> Iterator[Row]:
    """The lines of garbage.ndjson: what runs of Python's garbage collection took, in nanoseconds."""
    for line in lines:
        begin, end, generation = (whole(line, key) for key in ("begin_unix_ns", "end_unix_ns", "generation"))
        if begin is not None and end is not None and generation is not None and begin <= end:
            name = _GARBAGE if line.get("main") is True else f"{_GARBAGE} of another thread"
            yield from _row(name, f"generation {generation}", time(begin), end - begin)


def _row(name: str, series: str, ts_ps: int | None, value: float | None) -> Iterator[Row]:
    if ts_ps is not None and value is not None:
        yield {"track_id": 0, "name": name, "series": series, "ts_ps": ts_ps, "value": value}


def _shares(session: Mapping[str, Any], lasted_ns: int) -> list[tuple[str, float]]:
    found = []
    threads_record = session.get("threads")
    for owner, sums in threads_record.items() if isinstance(threads_record, dict) else ():
        for key, what in (("cpu_ns", "running"), ("wait_ns", "waiting")):
            value = whole(sums, key)
            if owner in ("program", "later", "all") and value is not None and value >= 0:
                found.append((f"{owner} {what}", value / lasted_ns))
    cpu = whole(session, "cpu_ns")
    if cpu is not None and cpu >= 0:
        found.append(("process running", cpu / lasted_ns))
    return found


def _cores(before: Mapping[str, Any], now: Mapping[str, Any], key: str) -> float | None:
    """Cores that processes kept busy between two samples. key: of their processor time."""
    times = [whole(line, of) for line in (before, now) for of in ("unix_ns", key)]
    if any(time is None for time in times):
        return None
    then, then_cpu, at, cpu = (int(time) for time in times if time is not None)
    return (cpu - then_cpu) / (at - then) if at > then and cpu >= then_cpu else None
