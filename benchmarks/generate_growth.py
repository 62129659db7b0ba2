"""Writes recordings of three shapes and any size in several formats: the same seed, the same bytes.

    python benchmarks/generate_growth.py OUT --form kineto --shape deep --events 100000

A training loop on a GPU: steps, Python calls, ops that launch kernels (arrows in between), memory that is
given and taken back within the ops, and counters. The shapes differ in what there is much of:

* wide: calls go round up to 10,000 threads, and their kernels as many streams;
* deep: calls lie 60 deep;
* long: there are up to 5,000 steps.

What one format cannot say is left out of it: StepStats have neither Python nor counters, stacks no times,
snapshots of memory nothing else. One file: each format writes the same list of calls, and sharing it keeps
the shapes alike.
"""

from __future__ import annotations

import argparse
import gzip
import json
import pickle
import random
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from generate_checkpoint import masked_crc32c
from generate_xspace import metadata, nested, number

SHAPES = ("wide", "deep", "long")
MOST_TRACKS, MOST_STEPS = 10_000, 5_000
DEPTH = {"wide": 4, "deep": 60, "long": 4}
FEW_STEPS = 20
EVENTS_A_TRACK = 20
START_US = 1_795_163_227_337_279
OPS = ("aten::mm", "aten::conv2d", "aten::relu", "aten::add_", "aten::copy_", "aten::native_layer_norm")
CALLS = ("forward", "backward", "__call__", "step", "_call_impl", "wrapper", "getEffectiveLevel")
FREED_AFTER = 8
"""Allocations until one is taken back."""


@dataclass(frozen=True)
class Event:
    """What happens; the meaning of `number` is that of its kind: a step, an op's correlation, bytes."""

    kind: str
    """step, python, op, kernel, memory or counter."""
    thread: int
    begin_us: int
    length_us: int
    name: str
    number: int = 0
    address: int = 0
    total: int = 0


def tracks_of(shape: str, events: int) -> int:
    """Threads that calls go round."""
    return min(MOST_TRACKS, max(events // EVENTS_A_TRACK // 2, 1)) if shape == "wide" else 2


def steps_of(shape: str, events: int) -> int:
    """How many steps there are."""
    return min(MOST_STEPS, max(events // EVENTS_A_TRACK, 1)) if shape == "long" else FEW_STEPS


def events_of(shape: str, events: int, seed: int = 0) -> Iterator[Event]:
    """So many events in the order in which they begin within their threads, outer ones first."""
    return islice(_endless(shape, events, random.Random(seed)), events)


def _endless(shape: str, events: int, chance: random.Random) -> Iterator[Event]:
    tracks, steps, depth = tracks_of(shape, events), steps_of(shape, events), DEPTH[shape]
    calls_a_step = max(events // steps // (depth + 5), 1)
    now, made, held, step = START_US, 0, [], 0
    total = 0
    while True:
        length = calls_a_step * 400
        yield Event("step", 0, now, length, f"ProfilerStep#{step}", step)
        for call in range(calls_a_step):
            thread = made % tracks
            begin = now + call * 400
            # A logger's short calls lie beside the long one, as deep; they are over when memory is given.
            yield Event("python", thread, begin + 1, 3, "logging/__init__.py(1710): getEffectiveLevel")
            for level in range(depth - 1):
                name = f"{_file(level)}({10 + level}): {CALLS[level % 6]}"
                yield Event("python", thread, begin + 5 + level, 380 - 2 * level, name)
            op = OPS[int(len(OPS) * chance.random() ** 2)]
            yield Event("op", thread, begin + 5 + depth, 200, op, made + 1)
            size = 512 * chance.randrange(1, 4096)
            total += size
            held.append((made + 1, size))
            yield Event("memory", thread, begin + 9 + depth, 0, op, size, held[-1][0] << 9, total)
            if len(held) > FREED_AFTER:
                address, freed = held.pop(0)
                total -= freed
                yield Event("memory", thread, begin + 12 + depth, 0, op, -freed, address << 9, total)
            yield Event("kernel", thread, begin + 20 + depth, 150, f"{op[6:]}_kernel_{made % 97}", made + 1)
            yield Event("counter", thread, begin + 22 + depth, 0, "GPU utilization", chance.randrange(100))
            made += 1
        now += length + 10
        step += 1


def _file(level: int) -> str:
    """Every third call is one of the framework, as the files of a recording are."""
    return f"/home/me/train/part_{level}.py" if level % 3 else f"torch/nn/modules/module_{level}.py"


# --- formats -------------------------------------------------------------------------------------


def kineto(path: Path, shape: str, events: int) -> None:
    """torch.profiler with stacks and memory, exported as a Chrome trace."""
    encode = json.JSONEncoder(separators=(", ", ": ")).encode
    with path.open("w", encoding="ascii", buffering=1 << 20) as file:
        file.write(
            '{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "A GPU"}], "traceEvents": [\n'
        )
        for pid, label in ((4100, "CPU"), (0, "GPU 0")):
            about = {"ph": "M", "name": "process_labels", "pid": pid, "tid": 0, "ts": 0}
            file.write(encode({**about, "args": {"labels": label}}) + ",\n")
        block: list[str] = []
        for event in events_of(shape, events):
            block += map(encode, _kineto(event))
            if len(block) > 5000:
                file.write(",\n".join(block) + ",\n")
                block.clear()
        block.append(encode({"ph": "M", "name": "process_name", "pid": 4100, "tid": 0, "ts": 0,
                             "args": {"name": "python"}}))  # fmt: skip
        file.write(",\n".join(block) + "\n]}\n")


def _kineto(event: Event) -> Iterator[dict[str, Any]]:
    host = {"pid": 4100, "tid": 5000 + event.thread, "ts": event.begin_us}
    device = {"pid": 0, "tid": 7 + event.thread, "ts": event.begin_us}
    span = {"ph": "X", "name": event.name, "dur": event.length_us}
    arrow = {"cat": "ac2g", "name": "ac2g", "id": event.number}
    if event.kind == "step":
        yield {**span, "cat": "user_annotation", **host}
    elif event.kind == "python":
        yield {**span, "cat": "python_function", **host}
    elif event.kind == "op":
        yield {**span, "cat": "cpu_op", **host, "args": {"External id": event.number}}
        yield {"ph": "X", "name": "cudaLaunchKernel", "cat": "cuda_runtime", **host, "ts": event.begin_us + 8,
               "dur": 5, "args": {"correlation": event.number}}  # fmt: skip
        yield {"ph": "s", **arrow, **host, "ts": event.begin_us + 8}
    elif event.kind == "kernel":
        args = {"device": 0, "stream": device["tid"], "correlation": event.number}
        yield {**span, "cat": "kernel", **device, "args": args}
        yield {"ph": "f", "bp": "e", **arrow, **device}
    elif event.kind == "memory":
        args = {"Total Reserved": 1 << 30, "Total Allocated": event.total, "Bytes": event.number,
                "Addr": event.address, "Device Id": 0, "Device Type": 1}  # fmt: skip
        yield {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", **host, "args": args}
    else:
        yield {"ph": "C", "name": event.name, "pid": 0, "ts": event.begin_us, "args": {"%": event.number}}


def xplane(path: Path, shape: str, events: int) -> None:
    """The TensorFlow profiler: a plane of threads, one of which takes batches from tf.data, and one of
    streams."""
    kinds: dict[str, int] = {}
    lines: tuple[dict[int, list[bytes]], dict[int, list[bytes]]] = ({}, {})

    def add(line: int, name: str, begin_us: int, length_us: int, stats: bytes, device: bool = False) -> None:
        kind = kinds.setdefault(name, len(kinds) + 1)
        offset, length = (begin_us - START_US) * 1_000_000, length_us * 1_000_000
        body = number(1, kind) + number(2, offset) + number(3, length) + stats
        lines[device].setdefault(line, []).append(nested(4, body))

    for event in events_of(shape, events):
        name, stats = event.name, b""
        if event.kind == "step":
            for row in _batch(event):
                add(INPUT_THREAD, *row)
            name, stats = "train", _stat("step_num", event.number) + _stat("_r", 1)
        elif event.kind == "python":
            file, _, call = name.partition("(")
            line, _, function = call.partition("): ")
            name = f"${file}:{line} {function}"
        elif event.kind in ("op", "kernel"):
            stats = _stat("correlation_id", event.number)
        elif event.kind == "memory":
            name = "MemoryAllocation" if event.number > 0 else "MemoryDeallocation"
            stats = _stat("allocation_bytes", abs(event.number)) + _stat("addr", event.address)
            stats += _stat("bytes_allocated", event.total) + _stat("allocator_name", "GPU_0_bfc")
        elif event.kind == "counter":
            stats = _stat("value", event.number)
        add(event.thread, name, event.begin_us, event.length_us, stats, event.kind == "kernel")
    named = b"".join(metadata(4, key, name) for name, key in kinds.items())
    named += b"".join(metadata(5, key, name) for key, name in enumerate(_STATS, 1))
    with path.open("wb") as out:
        for on_device, rows_by_line in enumerate(lines):
            plane = [number(1, on_device) + nested(2, b"/device:GPU:0" if on_device else b"/host:CPU")]
            for thread, rows in rows_by_line.items():
                called = f"Stream #{thread + 7}(Compute)" if on_device else f"python/{thread}"
                if thread == INPUT_THREAD:
                    called = "tf_data_iterator_get_next/1"
                head = number(1, thread + 7) + nested(2, called.encode()) + number(3, START_US * 1000)
                plane.append(nested(3, head + b"".join(rows)))
            plane.append(named)
            out.write(nested(1, b"".join(plane)))
        environment = nested(2, b"Task Environment") + nested(6, number(1, 1) + number(3, START_US * 1000))
        out.write(nested(1, environment + metadata(5, 1, "profile_start_time")))
        out.write(nested(4, b"benchmark"))


INPUT_THREAD = MOST_TRACKS


def _batch(step: Event) -> Iterator[tuple[str, int, int, bytes]]:
    """The calls of tf.data that give a step its batch, in its first quarter: batch(map(range))."""
    begin, length = step.begin_us, step.length_us // 4
    yield "IteratorGetNextOp::DoCompute", begin, length, b""
    name, parent = "Iterator::Root", 0
    for number_, (stage, user) in enumerate(
        (
            ("", ""),
            ("::BatchV2", "BatchDatasetV2:2"),
            ("::Map", "MapDataset:1"),
            ("::Range", "RangeDataset:0"),
        ),
        1,
    ):
        name += stage
        told = _stat("id", number_) + (_stat("parent_id", parent) if parent else b"")
        yield name, begin, max(length * (5 - number_) // 5, 1), told + (_stat("name", user) if user else b"")
        parent = number_


_STATS = ("step_num", "_r", "correlation_id", "allocation_bytes", "addr", "bytes_allocated",
          "allocator_name", "value", "id", "parent_id", "name")  # fmt: skip


def _stat(name: str, value: int | str) -> bytes:
    field = nested(5, value.encode()) if isinstance(value, str) else number(4, value)
    return nested(4, number(1, _STATS.index(name) + 1) + field)


def run_metadata(path: Path, shape: str, events: int) -> None:
    """A session's RunMetadata."""
    path.write_bytes(_run_metadata(shape, events))


def _run_metadata(shape: str, events: int) -> bytes:
    """StepStats with a device for the ops and one for each stream. Shapes have other threads and names:
    a name scope for each call that the op lies in."""
    devices: dict[str, list[bytes]] = {}
    made = 0
    scope = "/".join(f"scope_{level}" for level in range(DEPTH[shape]))
    for event in _endless(shape, events, random.Random(0)):
        if event.kind not in ("op", "kernel"):
            continue  # the others are not of this format
        made += 1
        name = f"{scope}/{event.name.replace('::', '_')}_{event.number}".encode()
        times = number(2, event.begin_us) + number(3, 1) + number(4, event.length_us - 2)
        times += number(5, event.length_us)
        label = nested(8, name + b" = MatMul(a, b)")
        if event.kind == "op":
            size = 512 * (1 + event.number % 4096)
            records = nested(6, number(1, event.begin_us + 2) + number(2, size))
            records += nested(6, number(1, event.begin_us + event.length_us) + number(2, -size))
            memory = nested(6, nested(1, b"GPU_0_bfc") + number(2, size) + number(3, size) + records)
            row = nested(1, name) + times + memory + label + number(10, event.thread)
            devices.setdefault("/job:localhost/replica:0/task:0/device:GPU:0", []).append(nested(2, row))
        else:
            stream = f"/device:GPU:0/stream:{event.thread}"
            row = nested(1, name + b":MatMul") + times + nested(8, name)
            devices.setdefault(stream, []).append(nested(2, row))
        if made >= events:
            break
    stats = (nested(1, nested(1, name.encode()) + b"".join(rows)) for name, rows in devices.items())
    return nested(1, b"".join(stats))


def event_file(path: Path, shape: str, events: int) -> None:
    """An event file of TensorBoard: a RunMetadata for each step, and scalars."""
    count = min(steps_of(shape, events), 50)
    with path.open("wb") as out:
        _record(out.write, b"\x09" + bytes(8) + nested(3, b"brain.Event:2"))
        for step in range(count):
            tagged = nested(1, f"step {step}".encode()) + nested(2, _run_metadata(shape, events // count))
            _record(out.write, b"\x09" + bytes(8) + number(2, step) + nested(8, tagged))


def _record(write: Callable[[bytes], object], data: bytes) -> None:
    length = len(data).to_bytes(8, "little")
    write(length + masked_crc32c(length).to_bytes(4, "little"))
    write(data + masked_crc32c(data).to_bytes(4, "little"))


def collapsed(path: Path, shape: str, events: int) -> None:
    """Folded stacks as py-spy and perf write them: a line a stack and its samples."""
    with path.open("w", encoding="ascii") as file:
        for sample in range(events):
            frames = [f"{CALLS[level % 7]} (part_{level}.py:{10 + (sample >> level) % 7})"
                      for level in range(DEPTH[shape])]  # fmt: skip
            thread = f"thread {sample % tracks_of(shape, events)};"
            file.write(thread + ";".join(frames) + f" {1 + sample % 5}\n")


def speedscope(path: Path, shape: str, events: int) -> None:
    """Speedscope's evented profiles: a profile a thread."""
    frames: dict[str, int] = {}
    profiles: dict[int, list[dict[str, Any]]] = {}
    open_: dict[int, list[tuple[int, int]]] = {}
    for event in events_of(shape, events):
        if event.kind not in ("step", "python", "op"):
            continue
        frame = frames.setdefault(event.name, len(frames))
        begin = event.begin_us - START_US
        stack, told = open_.setdefault(event.thread, []), profiles.setdefault(event.thread, [])
        while stack and stack[-1][0] <= begin:
            end, ended = stack.pop()
            told.append({"type": "C", "frame": ended, "at": end})
        end = min([begin + event.length_us, *(one for one, _ in stack[-1:])])
        told.append({"type": "O", "frame": frame, "at": begin})
        stack.append((end, frame))
    for thread, stack in open_.items():
        profiles[thread] += [{"type": "C", "frame": frame, "at": end} for end, frame in reversed(stack)]
    ends = {thread: told[-1]["at"] for thread, told in profiles.items()}
    content = {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": {"frames": [{"name": name} for name in frames]},
        "profiles": [{"type": "evented", "name": f"thread {thread}", "unit": "microseconds", "startValue": 0,
                      "endValue": ends[thread], "events": told} for thread, told in profiles.items()],
    }  # fmt: skip
    path.write_text(json.dumps(content))


def cpuprofile(path: Path, shape: str, events: int) -> None:
    """V8's profile of one thread: a tree of calls, and for each sample the call that ran. Calls lie as deep
    as the shape says; a step of a long one has calls of its own."""
    depth, steps = DEPTH[shape], steps_of(shape, events)
    nodes: list[dict[str, Any]] = []

    def node(name: str, line: int) -> int:
        frame = {
            "functionName": name,
            "scriptId": "1",
            "url": "app.js",
            "lineNumber": line,
            "columnNumber": 0,
        }
        nodes.append({"id": len(nodes) + 1, "callFrame": frame, "children": []})
        return len(nodes)

    def inner(around: int, name: str, line: int) -> int:
        made = node(name, line)
        nodes[around - 1]["children"].append(made)
        return made

    root = node("(root)", -1)
    ways = []
    for step in range(min(steps, 500) if shape == "long" else min(tracks_of(shape, events), 500)):
        way = [inner(root, f"step_{step}", step)]
        for level in range(depth - 1):
            way.append(inner(way[-1], CALLS[level % 7], 10 + level))
        ways.append(way)
    chance = random.Random(0)
    samples = [chance.choice(ways[sample * len(ways) // events]) for sample in range(events)]
    content = {"nodes": nodes, "startTime": START_US, "endTime": START_US + 250 * events,
               "samples": samples, "timeDeltas": [250] * events}  # fmt: skip
    path.write_text(json.dumps(content))


def torch_memory(path: Path, shape: str, events: int) -> None:
    """A snapshot of PyTorch's CUDA memory: what was given and taken back, with the calls that asked."""
    depth = DEPTH[shape]
    ways = [
        [{"filename": f"/home/me/train/part_{level}.py", "line": 10 + way, "name": CALLS[level % 7]}
         for level in range(depth)]
        for way in range(min(steps_of(shape, events) if shape == "long" else tracks_of(shape, events), 500))
    ]  # fmt: skip
    chance = random.Random(0)
    trace: list[dict[str, Any]] = []
    held: list[tuple[int, int]] = []
    while len(trace) < events:
        made, size = len(trace), 512 * chance.randrange(1, 4096)
        told = {"addr": (made + 1) << 22, "size": size, "stream": 0, "time_us": START_US + 5 * made}
        trace.append({"action": "alloc", **told, "frames": chance.choice(ways)})
        held.append((told["addr"], size))
        if len(held) > FREED_AFTER:
            address, freed = held.pop(0)
            told = {"addr": address, "size": freed, "stream": 0, "time_us": START_US + 5 * made + 2}
            trace.append({"action": "free_completed", **told, "frames": []})
    path.write_bytes(pickle.dumps({"segments": [], "device_traces": [trace[:events]]}, protocol=4))


def nsys(path: Path, shape: str, events: int) -> None:
    """An export of Nsight Systems to SQLite: ranges of NVTX, launches, and kernels."""
    process = 4100 << 24
    strings: dict[str, int] = {}
    kernels, calls, ranges = [], [], []

    def text(name: str) -> int:
        return strings.setdefault(name, len(strings) + 1)

    for event in events_of(shape, events):
        start, end = event.begin_us * 1000, (event.begin_us + event.length_us) * 1000
        thread = process | 5000 + event.thread
        if event.kind == "kernel":
            name = text(event.name)
            kernels.append((start, end, 0, 7 + event.thread, event.number, process, name, name))
        elif event.kind in ("step", "python", "op"):
            said = f"{event.name}, op_id = {event.number}" if event.kind == "op" else event.name
            ranges.append((start, end, 59, said, None, thread))
            if event.kind == "op":
                calls.append(
                    (start + 8000, start + 13_000, thread, event.number, text("cudaLaunchKernel_v7000"))
                )
    base = sqlite3.connect(path)
    for table, columns, rows in (
        ("StringIds", "id INTEGER PRIMARY KEY, value TEXT", [(key, name) for name, key in strings.items()]),
        ("ENUM_NSYS_EVENT_TYPE", "id INTEGER PRIMARY KEY, name TEXT, label TEXT", []),
        ("CUPTI_ACTIVITY_KIND_KERNEL", "start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,"
         " correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER", kernels),
        ("CUPTI_ACTIVITY_KIND_RUNTIME", "start INTEGER, end INTEGER, globalTid INTEGER,"
         " correlationId INTEGER, nameId INTEGER", calls),
        ("NVTX_EVENTS", "start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER,"
         " globalTid INTEGER", ranges),
    ):  # fmt: skip
        base.execute(f"CREATE TABLE {table} ({columns})")
        marks = ", ".join("?" * (columns.count(",") + 1))
        base.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
    base.commit()
    base.close()


def packed(path: Path, shape: str, events: int) -> None:
    """The Chrome trace packed, as torch.profiler's TensorBoard handler writes it."""
    plain = path.with_suffix("")
    kineto(plain, shape, events)
    with plain.open("rb") as source, gzip.open(path, "wb", compresslevel=1) as target:
        while data := source.read(1 << 20):
            target.write(data)
    plain.unlink()


FORMS: dict[str, tuple[Callable[[Path, str, int], None], str]] = {
    "kineto": (kineto, "trace.json"),
    "kineto.gz": (packed, "trace.json.gz"),
    "xplane": (xplane, "host.xplane.pb"),
    "run_metadata": (run_metadata, "run_meta.pb"),
    "event_file": (event_file, "events.out.tfevents.1795163227.host"),
    "speedscope": (speedscope, "profile.speedscope.json"),
    "collapsed": (collapsed, "stacks.folded"),
    "cpuprofile": (cpuprofile, "profile.cpuprofile"),
    "torch_memory": (torch_memory, "snapshot.pickle"),
    "nsys": (nsys, "report.sqlite"),
}
"""Formats: what writes one, and what its file is called."""


def place(folder: Path, form: str, shape: str, events: int) -> Path:
    """Where write() puts a recording."""
    return folder / f"{form}-{shape}-{events}" / FORMS[form][1]


def write(folder: Path, form: str, shape: str, events: int) -> Path:
    """Writes a recording into a folder and returns its path; one that is there already is kept."""
    path = place(folder, form, shape, events)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"part-{path.name}")
        FORMS[form][0](part, shape, events)
        part.rename(path)
    return path


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--form", choices=FORMS, default="kineto")
    parser.add_argument("--shape", choices=SHAPES, default="deep")
    parser.add_argument("--events", type=int, default=100_000)
    options = parser.parse_args()
    print(write(options.folder, options.form, options.shape, options.events))


if __name__ == "__main__":
    main()
