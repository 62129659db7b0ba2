"""What the rows of Chrome traces really are, by the names that each writer gives them."""

import json
from pathlib import Path
from typing import Any

import stepscope
from stepscope import library
from stepscope.formats import chrome_trace
from tests import corpus
from tests.asked import ask
from tests.formats.test_chrome_trace import decode, rows


def kinds(name: str) -> dict[str, tuple[str, str, str | None]]:
    """Kind, content and device of each row, by its process and name."""
    path = corpus.SAMPLES / name
    store = decode(path)
    chrome_trace.finish(store)
    devices = {row["id"]: f"{row['name']} {row['kind']}" for row in rows(store, "device")}
    return {
        f"{row['process']}: {row['name']}": (row["kind"], row["records"], devices.get(row["device_id"]))
        for row in rows(store, "track")
    }


def test_rows_of_kineto() -> None:
    found = kinds("chrome/kineto_cuda.json")
    assert found["python3: thread 900 (python3)"] == ("thread", "execution", "CPU cpu")
    assert found["python3 (GPU 1): stream 7"] == ("device_stream", "execution", "GPU 1 gpu")
    assert found["python3 (GPU 1): stream 20"] == ("device_stream", "execution", "GPU 1 gpu")
    assert found["pid Spans: tid PyTorch Profiler"][:2] == ("lane", "annotation")
    assert not any("GPU 0" in str(one) for one in found.values()), "a GPU without events is no device in use"


def test_rows_of_rocprof_and_rpd() -> None:
    """Neither says what kind of row it writes but by the names of processes; rocprof numbers them."""
    names = {"1": "1 COPY", "2": "0 CPU HIP API", "6": "2 GPU0", "9": "worker", "11": "GPU usage"}
    events: list[dict[str, Any]] = [{}]
    for pid, name in names.items():
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
        events.append({"ph": "X", "name": "work", "pid": pid, "tid": "0", "ts": "1", "dur": "1"})
    expected = {
        "1 COPY": ("device_stream", "execution", "GPU 0 gpu"),
        "0 CPU HIP API": ("thread", "dispatch", "CPU cpu"),
        "2 GPU0": ("device_stream", "execution", "GPU 0 gpu"),
        "worker": ("unknown", "unknown", None),
        "GPU usage": ("unknown", "unknown", None),
    }
    assert _kinds_of(events) == expected
    # Of two accelerators, nothing tells whose copies these are.
    events += [
        {"ph": "M", "name": "process_name", "pid": "7", "args": {"name": "GPU1"}},
        {"ph": "X", "name": "work", "pid": "7", "tid": "0", "ts": "1", "dur": "1"},
    ]
    expected["1 COPY"] = ("unknown", "unknown", None)
    expected["GPU1"] = ("device_stream", "execution", "GPU 1 gpu")
    assert _kinds_of(events) == expected


def test_copies_of_rocprof_belong_to_the_only_gpu_that_worked() -> None:
    """It names a process for each GPU of the machine."""
    events: list[dict[str, Any]] = []
    for pid, name in {"1": "COPY", "6": "GPU0", "7": "GPU1"}.items():
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
        if name != "GPU0":
            events.append({"ph": "X", "name": "work", "pid": pid, "tid": "0", "ts": "1", "dur": "1"})
    found = _kinds_of(events)
    assert found["COPY"] == found["GPU1"] == ("device_stream", "execution", "GPU 1 gpu")


def test_rows_of_mxnet() -> None:
    """It names a process for each device that it could use."""
    events: list[dict[str, Any]] = []
    for pid, name in enumerate(["cpu/0", "cpu/1", "gpu/0", "gpu/1"]):
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
        if name.endswith("0"):
            for phase, at in (("B", 1), ("E", 5)):
                work = {"cat": "operator", "name": "dot", "ph": phase, "ts": at, "pid": pid, "tid": 9}
                events.append(work)
    found = _kinds_of(events)
    assert found["cpu/0"] == ("thread", "execution", "CPU cpu")
    assert found["gpu/0"] == ("device_stream", "execution", "GPU 0 gpu")
    assert not any("GPU 1" in str(row) for row in found.values())


ASCEND = {
    "Python": ("Thread 7", "cpu_op"),
    "Ascend Hardware": ("Stream 2", None),
    "HCCL": ("Plane 1", None),
    "Communication": ("Group 0 Communication", None),
    "Overlap Analysis": ("Computing", None),
    "CANN": ("Thread 7", None),
}
"""Processes of Ascend's profiler, as PyTorch on Ascend writes them; the first is the framework's."""


def _of_ascend(names: list[str]) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = []
    for pid, process in enumerate(names, 5):
        row, category = ASCEND[process]
        named = {"process_name": process, "process_labels": "CPU", "thread_name": row}
        for what, text in named.items():
            key = "labels" if what == "process_labels" else "name"
            events.append({"ph": "M", "name": what, "pid": pid, "tid": 7, "args": {key: text}})
        work = {"ph": "X", "name": "work", "pid": pid, "tid": 7, "ts": "1.5", "dur": 2.0}
        events.append(work if category is None else {**work, "cat": category})
    return events


def test_rows_of_ascend() -> None:
    """What is drawn again, by plane or added up, is no work; the label of a process has no number."""
    npu = ("device_stream", "execution", "NPU unknown")
    drawn_again = ("derived", "annotation", "NPU unknown")
    expected = {
        "Ascend Hardware": npu,
        "HCCL": drawn_again,
        "Communication": npu,
        "Overlap Analysis": drawn_again,
        "CANN": ("thread", "dispatch", "CPU cpu"),
    }
    assert _kinds_of(_of_ascend(list(expected))) == expected
    of_torch = _kinds_of(_of_ascend(list(ASCEND)))
    assert of_torch == {**expected, "Python": ("thread", "execution", "CPU cpu")}


def _kinds_of(events: list[dict[str, Any]]) -> dict[str, tuple[str, str, str | None]]:
    store = decode(json.dumps({"traceEvents": events}).encode())
    chrome_trace.finish(store)
    devices = {row["id"]: f"{row['name']} {row['kind']}" for row in rows(store, "device")}
    return {
        row["process"]: (row["kind"], row["records"], devices.get(row["device_id"]))
        for row in rows(store, "track")
    }


def test_rows_of_pytorch_before_kineto(tmp_path: Path) -> None:
    """It calls processes by their ids and gives ops no categories. What it draws of a GPU lies between events
    around each op, the ops within included: counted beside the calls, each op counted twice or more often."""
    events = [
        {"name": "aten::conv2d", "ph": "X", "ts": 0, "dur": 10, "tid": 1, "pid": "CPU functions", "args": {}},
        {"name": "aten::add", "ph": "X", "ts": 2, "dur": 6, "tid": 1, "pid": "CPU functions", "args": {}},
        {
            "name": "aten::conv2d",
            "ph": "X",
            "ts": 1,
            "dur": 12,
            "tid": 0,
            "pid": "CUDA functions",
            "args": {},
        },
        {"name": "aten::add", "ph": "X", "ts": 3, "dur": 8, "tid": 0, "pid": "CUDA functions", "args": {}},
    ]
    assert _kinds_of(events) == {
        "pid CPU functions": ("thread", "execution", "CPU cpu"),
        "pid CUDA functions": ("unknown", "annotation", None),
    }
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(events))
    with stepscope.open(path) as trace:
        assert trace.query("SELECT producer, framework FROM source").rows() == [("autograd", "pytorch")]
        ops = trace.query("SELECT op_type, class, SUM(self_ps) FROM op_slice GROUP BY ALL ORDER BY 1").rows()
        assert ops == [("aten::add", "compute", 6_000_000), ("aten::conv2d", "compute", 4_000_000)]


def test_rows_of_tf_timeline() -> None:
    found = kinds("profiler_hook/timeline-5.json")
    compute = [one for row, one in found.items() if "Compute: tid" in row]
    assert compute
    assert {one[:2] for one in compute} == {("lane", "execution")}
    assert all("CPU:0 cpu" in str(one[2]) for one in compute)
    assert {one[:2] for row, one in found.items() if " Tensors: tid" in row} <= {("lane", "annotation")}
    assert found["Allocators: mklcpu"][0] == "counter"


def test_rows_of_tf_timeline_on_a_gpu() -> None:
    base = "/job:localhost/replica:0/task:0/device:GPU:0"
    names = [
        f"{base} Compute",
        f"{base}/stream:all Compute",
        "/gpu:0/memcpy Compute",
        "Scope:0",
        f"{base} Tensors",
    ]
    events: list[dict[str, Any]] = []
    for pid, name in enumerate(names):
        events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
        args = {"name": "a/b", "op": "MatMul"}
        events.append(
            {"ph": "X", "cat": "Op", "name": "MatMul", "pid": pid, "tid": 0, "ts": 1, "dur": 1, "args": args}
        )
    store = decode(json.dumps({"traceEvents": events}).encode())
    chrome_trace.finish(store)
    found = {row["process"]: (row["kind"], row["records"]) for row in rows(store, "track")}
    assert found == {
        names[0]: ("lane", "dispatch"),
        names[1]: ("device_stream", "execution"),
        names[2]: ("device_stream", "execution"),
        names[3]: ("derived", "annotation"),
        names[4]: ("lane", "annotation"),
    }
    assert [(row["name"], row["kind"]) for row in rows(store, "device")] == [(base, "gpu"), ("/gpu:0", "gpu")]


def test_copies_of_a_timeline_are_counted_once(tmp_path: Path) -> None:
    """TensorFlow draws each on the row of copies, and again on that of its stream; kernels on that of all."""
    drawn = {"stream:all": "MatMul", "stream:12": "MatMul", "memcpy": "MEMCPYHtoD", "stream:13": "MEMCPYHtoD"}
    events: list[dict[str, Any]] = []
    for pid, (row, op) in enumerate(drawn.items()):
        events.append(
            {"ph": "M", "name": "process_name", "pid": pid, "args": {"name": f"/gpu:0/{row} Compute"}}
        )
        ts, dur = (0, 30) if op == "MatMul" else (40, 10)
        args = {"name": "a", "op": op}
        events.append(
            {"ph": "X", "cat": "Op", "name": op, "pid": pid, "tid": 0, "ts": ts, "dur": dur, "args": args}
        )
    path = tmp_path / "timeline-1.json"
    path.write_text(json.dumps({"traceEvents": events}))
    with stepscope.open(path, cache=False) as trace:
        (copies,) = trace.query(f"SELECT slices, total_ps FROM ({library.sql('transfers')})").rows()
        (busy,) = trace.query(f"SELECT slices, sum_ps FROM ({library.sql('busy_by_device')})").rows()
    assert copies == (1, 10 * 10**6)
    assert busy == (2, 40 * 10**6)


def test_rows_of_the_others() -> None:
    assert set(kinds("chrome/viztracer.json").values()) == {("thread", "execution", "CPU cpu")}
    assert set(kinds("chrome/jax.trace.json.gz").values()) == {("thread", "execution", "/host:CPU cpu")}
    horovod = kinds("chrome/horovod.json")
    tensors = [one for row, one in horovod.items() if "HorovodAllreduce" in row]
    assert tensors == [("lane", "execution", "Horovod unknown")] * 2, "tensors are no devices"


def test_rows_of_a_profiled_accelerator() -> None:
    events: list[dict[str, Any]] = []
    wanted = {
        ("/device:GPU:0", "Stream #13(Compute)"): ("device_stream", "execution"),
        ("/device:GPU:0", "XLA Ops"): ("derived", "annotation"),
        ("/device:TPU:0", "XLA Ops"): ("device_stream", "execution"),
        ("/device:TPU:0", "Steps"): ("derived", "annotation"),
        ("/host:CPU", "python"): ("thread", "execution"),
        ("/host:CUPTI", "Driver"): ("thread", "dispatch"),
    }
    processes = list(dict.fromkeys(process for process, _ in wanted))
    for tid, (process, thread) in enumerate(wanted):
        ids = {"pid": processes.index(process), "tid": tid}
        events.append({"ph": "M", "name": "process_name", **ids, "args": {"name": process}})
        events.append({"ph": "M", "name": "thread_name", **ids, "args": {"name": thread}})
        events.append({"ph": "X", "name": "work", **ids, "ts": tid, "dur": 1})
    store = decode(json.dumps({"traceEvents": events}).encode())
    assert store.facts["producer"] == "tf_profiler"
    chrome_trace.finish(store)
    assert {
        (row["process"], row["name"]): (row["kind"], row["records"]) for row in rows(store, "track")
    } == wanted
    assert {row["name"]: row["kind"] for row in rows(store, "device")} == {
        "/device:GPU:0": "gpu",
        "/device:TPU:0": "tpu",
        "/host:CPU": "cpu",
    }


def test_a_process_of_the_host_is_no_number_of_a_device() -> None:
    """A tool lists streams among the threads of the program, and tells no device."""
    events: list[dict[str, Any]] = [
        {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 4100, "tid": 4100, "ts": 1, "dur": 1},
        {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 4100, "tid": "stream 7", "ts": 3, "dur": 1},
    ]
    assert [found[2] for found in _kinds_of(events).values()] == ["GPU gpu"]


def test_as_many_accelerators_as_rows(tmp_path: Path) -> None:
    """Each row finds its device and what the file says of it, whatever else the file holds there."""
    about = [{"id": number, "name": f"accelerator {number}"} for number in range(300)]
    kernel = {"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1}
    events = [
        {**kernel, "pid": number, "tid": 7, "args": {"device": number, "stream": 7}} for number in range(300)
    ]
    path = tmp_path / "t.json"
    properties = [5, None, *about, {"id": 3, "name": "a second one"}]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": properties, "traceEvents": events}))
    rows = ask(
        path,
        "SELECT d.name, d.args_json FROM track AS t JOIN device AS d ON d.id = t.device_id"
        " WHERE t.kind = 'device_stream'",
    )
    told = {name: json.loads(args)["name"] for name, args in rows}
    assert told == {f"GPU {number}": f"accelerator {number}" for number in range(300)}
