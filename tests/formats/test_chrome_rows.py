"""What the rows of Chrome traces really are, by the names that each writer gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import stepscope
from stepscope.formats import chrome_trace
from tests import corpus
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


def _kinds_of(events: list[dict[str, Any]]) -> dict[str, tuple[str, str, str | None]]:
    store = decode(json.dumps({"traceEvents": events}).encode())
    chrome_trace.finish(store)
    devices = {row["id"]: f"{row['name']} {row['kind']}" for row in rows(store, "device")}
    return {
        row["process"]: (row["kind"], row["records"], devices.get(row["device_id"]))
        for row in rows(store, "track")
    }


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
    with stepscope.open(path, cache=False) as opened:
        rows = opened.query(
            "SELECT d.name, d.args_json FROM track AS t JOIN device AS d ON d.id = t.device_id"
            " WHERE t.kind = 'device_stream'"
        ).rows()
    told = {name: json.loads(args)["name"] for name, args in rows}
    assert told == {f"GPU {number}": f"accelerator {number}" for number in range(300)}
