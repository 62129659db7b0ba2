"""What is said of devices, held against an independent reading: recordings of accelerators by other projects
where the corpus lies beside the clone, samples made by hand, and traces that Hypothesis makes up."""

import json
import re
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from benchmarks.yardstick import reading
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope import library
from stepscope.report import summary
from stepscope.session.trace import OpenTrace
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.tiers import cases

Event = dict[str, Any]
Reading = dict[str, tuple[int, int, float]]
"""By number of the device: executions, their sum in picoseconds, and their share of the window."""

RECORDINGS = [path for path in corpus.files("accelerators/field/*") if path.name.endswith(".json.gz")]
SAMPLES = sorted((corpus.SAMPLES / "kineto").glob("*.json"))


def ask(trace: OpenTrace, name: str) -> list[dict[str, Any]]:
    columns = [column.name for column in library.entry(name).columns]
    return [dict(zip(columns, row, strict=True)) for row in trace.query(library.sql(name)).rows()]


def found(path: Path) -> Reading:
    """The devices that stepscope finds."""
    with open_trace(path, cache=False) as trace:
        devices = [row for row in ask(trace, "busy_by_device") if row["place"] == "device"]
    told = {}
    for row in devices:
        (number,) = re.findall(r"\d+", row["device"])
        assert row["busy_ps"] + row["idle_ps"] == row["window_ps"]
        told[number] = (row["executions"], row["sum_ps"], row["busy_share"])
    assert len(told) == len(devices)
    return told


def read(events: list[Event]) -> Reading:
    """The devices, by Python's json and decimals, as truth.json was made."""
    marks = reading.steps(events)
    window = marks or [reading.span(event) for event in events if event.get("ph") == "X"]
    low, high = min(begin for begin, _ in window), max(end for _, end in window)
    told = {}
    for device, run in reading.executions(events).items():
        spans = [reading.span(one) for one in run]
        total = sum((end - begin for begin, end in spans), Decimal(0))
        busy = reading.union(reading.within(spans, (low, high)))
        told[device] = (len(spans), int(total * 10**6), float(busy / (high - low)))
    return told


def same(got: Reading, wanted: Reading) -> None:
    assert got.keys() == wanted.keys()
    for device, (executions, sum_ps, share) in wanted.items():
        assert got[device][:2] == (executions, sum_ps), device
        assert got[device][2] == pytest.approx(share, abs=0.0005), device


def of_batches(path: Path) -> tuple[list[Event], dict[str, float], dict[str, float]]:
    """The batches that vLLM marks, and by device for how much of the time between the first and the last of
    them it works, and of the time that its work spans."""
    events = reading.load(path)
    marks = [
        event
        for event in events
        if event.get("cat") == "user_annotation" and re.match(r"execute_(\d+_)?context_\d+", event["name"])
    ]
    spans = [reading.span(event) for event in marks]
    window = min(begin for begin, _ in spans), max(end for _, end in spans)
    of_window, of_work = {}, {}
    for device, run in reading.executions(events).items():
        work = [reading.span(one) for one in run]
        length = max(end for _, end in work) - min(begin for begin, _ in work)
        of_window[device] = float(reading.union(reading.within(work, window)) / (window[1] - window[0]))
        of_work[device] = float(reading.union(work) / length)
    return marks, of_window, of_work


def of_updates(path: Path) -> tuple[int, dict[str, float]]:
    """How often PyTorch marks an update of an optimizer, and by device for how much of the time from the end
    of the first update to that of the last it works. What comes before is the first step, which warms up."""
    events = reading.load(path)
    ends = [reading.span(event)[1] for event in events if event["name"].startswith("Optimizer.step#")]
    first, last = min(ends), max(ends)
    busy = {
        device: reading.union(reading.within([reading.span(one) for one in run], (first, last)))
        for device, run in reading.executions(events).items()
    }
    return len(ends), {device: float(of / (last - first)) for device, of in busy.items()}


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name[:48])
def test_recordings_of_other_projects(path):
    truth = json.loads((path.parent / "truth.json").read_text())[path.name]
    wanted = {
        device: (row["executions"], row["sum_ps"], row["busy_share_of_window"])
        for device, row in truth["devices"].items()
    }
    with open_trace(path, cache=False) as trace:
        rows = [row for row in ask(trace, "busy_by_device") if row["place"] == "device"]
        headline = " ".join(summary.build(trace).headline)
        (steps,) = trace.query("SELECT count(*) FROM step WHERE recovered_from = 'profiler_step'").rows()[0]
        (batches,) = trace.query("SELECT count(*) FROM step WHERE recovered_from = 'batch'").rows()[0]
        (updates,) = trace.query("SELECT count(*) FROM step WHERE recovered_from = 'optimizer_step'").rows()[
            0
        ]
        communication = trace.query(
            "SELECT sum(o.sum_dur_ps) FROM op_sum AS o WHERE o.place = 'device' AND o.class = 'communication'"
        ).rows()[0][0]
    assert steps == len(truth["host_steps"])
    if not wanted:
        # An accelerator that is no GPU: its own queues and executions, with waits apart.
        assert all(row["device"].startswith("MTIA") for row in rows)
        assert all(row["busy_share"] < 1 for row in rows)
        return
    shares, said = {device: row[2] for device, row in wanted.items()}, r"busy ([\d.]+) %"
    if batches:  # which truth.json knows nothing of
        marks, of_window, of_work = of_batches(path)
        assert batches == len(marks)
        wanted = {device: (*row[:2], of_window[device]) for device, row in wanted.items()}
        ahead = "the device works for" in headline  # of a host that runs ahead, batches say nothing
        shares, said = (of_work, r"the device works for ([\d.]+) %") if ahead else (of_window, said)
    if updates:  # no more does it know of these
        marked, shares = of_updates(path)
        assert updates == marked
        wanted = {device: (*row[:2], shares[device]) for device, row in wanted.items()}
    same(
        {row["device"].split()[-1]: (row["executions"], row["sum_ps"], row["busy_share"]) for row in rows},
        wanted,
    )
    assert communication == (sum(row["communication_ps"] for row in truth["devices"].values()) or None)
    (share,) = re.findall(said, headline)
    assert float(share) == pytest.approx(100 * min(shares.values()), abs=1)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        # 2 steps of 10 ms: 2,000 + 1,000 + 100 + 50 µs, of which 500 µs lie upon one another.
        ("shared_row", {"0": (8, 6_300_000_000, 0.265)}),
        # 2 steps of 4 ms: 600 + 500 + 400 µs, of which 300 µs lie upon one another; 100 µs after the steps.
        ("unlabelled", {"3": (7, 3_100_000_000, 0.3)}),
        # 3 steps of 2 ms: 700 + 60 + 40 µs, of which 20 µs lie upon one another.
        ("capitals_of_2021", {"1": (9, 2_400_000_000, 0.39)}),
    ],
)
def test_samples(name, wanted):
    path = corpus.SAMPLES / "kineto" / f"{name}.json"
    same(found(path), wanted)
    same(read(reading.load(path)), wanted)


def test_a_row_that_two_kinds_of_events_share_is_taken_apart():
    with open_trace(corpus.SAMPLES / "kineto" / "shared_row.json", cache=False) as trace:
        tracks = trace.query(
            "SELECT kind, process, name FROM track WHERE origin = 'pid 0 tid 0' ORDER BY ALL"
        ).rows()
        steps = trace.query("SELECT step, averaged, reason FROM step ORDER BY step").rows()
        ops = trace.query("SELECT DISTINCT op FROM op_slice WHERE op LIKE '%Step%' OR op LIKE '%.py%'").rows()
    assert tracks == [
        ("device_stream", "python3 (GPU 0)", "stream 0"),
        ("thread", "python3", "thread 0 (python3)"),
    ]
    assert [row[:2] for row in steps] == [(4, True), (5, True), (6, False)], "the last is a stub"
    assert "ends as it begins" in steps[2][2]
    assert ops == []


def test_marks_of_2021_are_no_ops():
    with open_trace(corpus.SAMPLES / "kineto" / "capitals_of_2021.json", cache=False) as trace:
        ops = {op for (op,) in trace.query("SELECT DISTINCT op FROM op_slice WHERE place = 'host'").rows()}
        waits = trace.query("SELECT wait, count(*) FROM wait_slice GROUP BY wait").rows()
    assert ops == {"aten::conv2d"}
    assert waits == [("input", 3)]


NAMES = st.text(alphabet="abcXYZ_<>: 0", min_size=1, max_size=12)
CALLS = ("cpu_op", "python_function", "cuda_runtime", "user_annotation", "cuda_driver")


@st.composite
def traces(draw: Any) -> list[Event]:
    """Traces in the manner of Kineto: processes, threads, devices and streams may have the same numbers."""
    small = st.integers(0, 3)
    length = draw(st.integers(100, 400))
    events: list[Event] = []
    steps = draw(st.integers(0, 3))
    for number in range(steps):
        mark = {
            "name": f"ProfilerStep#{number}",
            "pid": 3,
            "tid": 3,
            "ts": 50 + number * length,
            "dur": length,
        }
        events.append({"ph": "X", "cat": draw(st.sampled_from(["user_annotation", "Operator"])), **mark})
    if draw(st.booleans()):
        for pid in range(4):
            labels = draw(st.sampled_from(["CPU", f"GPU {pid}"]))
            events.append({"ph": "M", "name": "process_labels", "pid": pid, "args": {"labels": labels}})
    old = draw(st.booleans())
    for _ in range(draw(st.integers(1, 12))):
        times = {"ts": draw(st.integers(0, 1500)), "dur": draw(st.integers(1, 300))}
        device, stream = draw(small), draw(small)
        place = {"pid": device, "tid": f"stream {stream}" if old else stream}
        category = draw(st.sampled_from(reading.EXECUTIONS[3:] if old else reading.EXECUTIONS[:3]))
        args = {"device": device, "stream": stream}
        events.append({"ph": "X", "cat": category, "name": draw(NAMES), **place, **times, "args": args})
    for _ in range(draw(st.integers(0, 12))):
        times = {"ts": draw(st.integers(0, 1500)), "dur": draw(st.integers(0, 300))}
        place = {"pid": draw(small), "tid": draw(small)}
        events.append({"ph": "X", "cat": draw(st.sampled_from(CALLS)), "name": draw(NAMES), **place, **times})
    events.append(
        {"ph": "i", "name": "Record Window End", "ts": draw(st.integers(0, 10**6)), "pid": "", "tid": ""}
    )
    return draw(st.permutations(events))


@settings(
    max_examples=cases(15, 60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(events=traces())
def test_categories_and_arguments_decide_whatever_the_names(tmp_path, events):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceName": "t", "traceEvents": events}))
    same(found(path), read(events))


def test_steps_repeated_on_a_gpu_count_once():
    path = corpus.path("torch/gpu_annotation_steps.json")
    same(found(path), {"0": (1, 100_000_000, 0.0)})
    with open_trace(path, cache=False) as trace:
        assert trace.query("SELECT step, dur_ps FROM step ORDER BY step").rows() == [(1, 10**9), (2, 10**9)]


def test_a_timeline_whose_devices_have_short_names():
    path = corpus.path("tf1/gpu_timeline/rmtl.json")
    with open_trace(path, cache=False) as trace:
        rows = ask(trace, "busy_by_device")
        producer = trace.query("SELECT producer FROM source").rows()
        copies = trace.query(
            "SELECT class, sum(dur_ps) FROM op_slice WHERE op = 'edge_1' GROUP BY class"
        ).rows()
    assert producer == [("tf_timeline",)]
    (gpu,) = (row for row in rows if row["place"] == "device")
    assert (gpu["device"], gpu["executions"], gpu["sum_ps"]) == ("/device:GPU:0", 3, 650_000_000)
    assert copies == [("copy", 50_000_000)]


def session(begin: int, ops: Iterable[str]) -> list[Event]:
    """The events of one session as TensorFlow's Timeline writes them."""
    return [
        {
            "ph": "X", "cat": "Op", "name": op.strip("_").title(), "pid": 1, "tid": 0,
            "ts": begin + 20 * i, "dur": 10, "args": {"name": op, "op": op.strip("_").title()},
        }
        for i, op in enumerate(ops)
    ]  # fmt: skip


def test_merged_timelines_are_as_many_steps_as_sessions(tmp_path):
    name = {"name": "/job:localhost/replica:0/task:0/device:CPU:0 Compute"}
    events: list[Event] = [{"ph": "M", "name": "process_name", "pid": 1, "args": name}]
    for number in range(5):
        events += session(1000 + 500 * number, ["_SOURCE", "a", "b"])
    path = tmp_path / "timeline.json"
    path.write_text(json.dumps({"traceEvents": events}))
    with open_trace(path, cache=False) as trace:
        steps = trace.query("SELECT dur_ps, averaged FROM step").rows()
        (row,) = ask(trace, "busy_by_device")
    assert steps == [(50_000_000, True)] * 5
    assert (row["busy_ps"], row["window_ps"]) == (150_000_000, 250_000_000), (
        "time between sessions is not known"
    )
    events += session(4000, ["_SOURCE", "another"])
    path.write_text(json.dumps({"traceEvents": events}))
    with open_trace(path, cache=False) as trace:
        assert len(trace.query("SELECT * FROM step").rows()) == 6, "a run of another graph is a run as well"


def test_tensors_are_no_devices():
    path = corpus.path("events/horovod_small.json")
    with open_trace(path, cache=False) as trace:
        assert [(row["place"], row["device"]) for row in ask(trace, "busy_by_device")] == [
            ("host", "Horovod")
        ]


def test_sums_of_clang_are_numbers(tmp_path):
    place = {"ph": "X", "pid": 7, "ts": 0}
    events = [
        {**place, "tid": 7, "ts": 10, "dur": 500, "name": "Frontend"},
        {**place, "tid": 8, "dur": 9000, "name": "Total Frontend", "args": {"count": 3, "avg ms": 3}},
        {**place, "tid": 9, "ts": 20, "dur": 5, "name": "Total eclipse", "args": {"count": 3}},
    ]
    path = tmp_path / "clang.json"
    path.write_text(json.dumps({"traceEvents": events, "beginningOfTime": 1}))
    with open_trace(path, cache=False) as trace:
        slices = trace.query("SELECT name, dur_ps FROM slice ORDER BY name").rows()
        counters = trace.query("SELECT name, series, value FROM counter ORDER BY series").rows()
        (window,) = trace.query("SELECT dur_ps FROM step").rows()
        lost = trace.query("SELECT events_seen, events_stored FROM source").rows()
    assert slices == [("Frontend", 500_000_000), ("Total eclipse", 5_000_000)]
    assert counters == [
        ("Total Frontend", "avg ms", 3.0),
        ("Total Frontend", "count", 3.0),
        ("Total Frontend", "total us", 9000.0),
    ]
    assert window == (500_000_000,)
    assert lost == [(3, 3)]


def test_ends_of_sequences_belong_to_the_begin_of_their_name(tmp_path):
    place = {"cat": "c", "id": 1, "pid": 1, "tid": 1}
    events = [
        {"ph": "b", "name": "load", "ts": 0, **place},
        {"ph": "b", "name": "parse", "ts": 10, **place},
        {"ph": "e", "name": "load", "ts": 30, **place},
        {"ph": "e", "name": "another", "ts": 40, **place},
        {"ph": "e", "name": "parse", "ts": 50, **place},
        {"ph": "b", "name": "load", "ts": 60, **{**place, "cat": "d"}},
        {"ph": "e", "name": "load", "ts": 70, **{**place, "cat": "d"}},
    ]
    path = tmp_path / "async.json"
    path.write_text(json.dumps(events))
    with open_trace(path, cache=False) as trace:
        found = trace.query("SELECT name, ts_ps, dur_ps FROM slice ORDER BY ts_ps").rows()
        lost = trace.query("SELECT slug, events FROM source_note WHERE effect = 'lost'").rows()
    assert found == [
        ("load", 0, 30_000_000),
        ("parse", 10_000_000, 40_000_000),
        ("load", 60_000_000, 10_000_000),
    ]
    assert lost == [("end-without-begin", 1)]


@pytest.mark.parametrize(
    "name",
    [
        "event_wait",
        "worker_idle",
        "torch.cuda.synchronize",
        "_recv",
        "wait (/usr/lib/python3.11/threading.py:327)",
    ],
)
def test_waits_are_no_work(tmp_path, name):
    events = [
        {"ph": "X", "cat": "FEE", "name": name, "pid": 1, "tid": 1, "ts": 0, "dur": 90},
        {"ph": "X", "cat": "FEE", "name": "count", "pid": 1, "tid": 1, "ts": 90, "dur": 10},
    ]
    path = tmp_path / "waits.json"
    path.write_text(json.dumps({"traceEvents": events}))
    with open_trace(path, cache=False) as trace:
        (row,) = ask(trace, "busy_by_device")
        top = [row["op_type"] for row in ask(trace, "op_types") if row["class"] != "wait"]
    assert (row["busy_ps"], row["window_ps"], row["executions"]) == (10_000_000, 100_000_000, 1)
    assert top == ["count"]


def test_an_op_keeps_the_time_of_what_lies_within_it_and_is_no_op(tmp_path):
    name = {"name": "/host:CPU"}
    events: list[Event] = [
        {"ph": "M", "name": "process_name", "pid": 1, "args": name},
        {
            "ph": "X",
            "name": "Svd",
            "pid": 1,
            "tid": 1,
            "ts": 0,
            "dur": 100,
            "args": {"op": "Svd", "name": "svd"},
        },
        {"ph": "X", "name": "ParallelFor", "pid": 1, "tid": 1, "ts": 10, "dur": 80},
        {
            "ph": "X",
            "name": "MatMul",
            "pid": 1,
            "tid": 1,
            "ts": 20,
            "dur": 30,
            "args": {"op": "MatMul", "name": "m"},
        },
        {"ph": "X", "name": "StreamSynchronize", "pid": 1, "tid": 1, "ts": 60, "dur": 5},
    ]
    path = tmp_path / "svd.json"
    path.write_text(json.dumps({"traceEvents": events}))
    with open_trace(path, cache=False) as trace:
        slices = dict(trace.query("SELECT op, self_ps FROM op_slice").rows())
        summed = {row["op_type"]: row["self_ps"] for row in ask(trace, "op_types")}
        by_tfprof = {
            name.rpartition("/")[2]: ps
            for name, ps in trace.query(
                "SELECT name, self_ps FROM tfprof_node WHERE view = 'graph' AND is_node AND self_ps > 0"
            ).rows()
        }
    assert slices == {"svd": 65_000_000, "m": 30_000_000}
    assert summed == {"Svd": 65_000_000, "MatMul": 30_000_000}
    assert by_tfprof == slices
