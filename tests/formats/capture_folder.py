"""Capture folders for tests, written by hand as the recorder writes them."""

import json
import shutil
import struct
from pathlib import Path
from typing import Any

SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "tf_data" / "map_py_function.xplane.pb"
STARTED_NS = 1_795_000_000_000_000_000


def varint(value: int) -> bytes:
    """A number as protocol buffers write it."""
    value %= 2**64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def double(field: int, value: float) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<d", value)


def data(field: int, value: bytes) -> bytes:
    return varint(field << 3 | 2) + varint(len(value)) + value


def node(id: int, name: str, inputs: tuple[int, ...] = (), *, elements: int = 10, ms: float = 1.0,
         ratio: float = 1.0, kind: int = 3, parallelism: float | None = None) -> bytes:  # fmt: skip
    """A node of a model as an entry of its map."""
    body = number(1, id) + data(2, name.encode()) + number(8, elements) + number(9, round(ms * 1e6))
    body += number(7, 100 * elements)
    if parallelism is not None:
        told = data(1, b"parallelism") + double(2, parallelism) + double(4, 1) + double(5, 8) + number(6, 1)
        body += data(11, told)
    body += b"".join(number(14, one) for one in inputs) + number(15, kind) + double(16, ratio)
    return data(1, number(1, id) + data(2, body))


def model(*nodes: bytes, root: int = 1, gaps_us: tuple[int, ...] = (5000,)) -> bytes:
    """A model proto."""
    budget = number(2, 2) + number(3, 2**31)
    return b"".join(nodes) + number(2, root) + data(5, budget) + data(6, b"".join(map(varint, gaps_us)))


def stacks(begin_ns: int = STARTED_NS) -> bytes:
    """Two threads, looked at four times, every 10 ms: 30 ms in load(), called from line 9."""
    told: list[dict[str, Any]] = [{"begin_unix_ns": begin_ns}]
    told += [
        {"frame": 0, "function": "<module>", "file": "train.py", "line": 9, "module": "__main__",
         "code": "program"},
        {"stack": 0, "frame": 0},
        {"frame": 1, "function": "load", "file": "train.py", "line": 4, "module": "__main__",
         "code": "program"},
        {"stack": 1, "in": 0, "frame": 1},
        {"frame": 2, "function": "Thread.wait", "file": "threading.py", "line": 300, "module": "threading",
         "code": "python"},
        {"stack": 2, "frame": 2},
        {"thread": 0, "name": "MainThread", "main": True},
        {"thread": 1, "name": None},
    ]  # fmt: skip
    for i in range(4):
        on = [[0, 1 if i < 3 else 0, i * 10**7], [1, 2]]
        told.append({"unix_ns": begin_ns + (i * 10 + 5) * 10**6, "late_ns": 0, "on": on})
    told += [{"end_unix_ns": begin_ns + 40 * 10**6}, {"dropped": 2}]
    return b"".join(line(**one) for one in told)


def compilations(begin_ns: int = STARTED_NS) -> bytes:
    """step_fn is traced at first, and again in each of the next two seconds because n changes."""
    told: list[dict[str, Any]] = []
    for i in range(3):
        at = begin_ns + i * 10**9 + 10**8
        told.append(
            {"framework": "tensorflow", "function": "step_fn", "begin_unix_ns": at, "end_unix_ns": at + 10**8,
             "number": i + 1, "what": "value" if i else "first", "file": "train.py", "line": 3,
             "call": {"file": "train.py", "line": 9, "function": "main"}}
        )  # fmt: skip
        if i:
            told[-1]["changes"] = [{"argument": "n", "what": "value", "was": str(i - 1), "became": str(i)}]
            told[-1]["more"] = 0
    return b"".join(line(**one) for one in told)


def held(steps: tuple[int, ...] = (4, 14, 24), each: int = 2048, arrays: int = 1) -> bytes:
    """`kept` holds so many bytes more with every step, `w` as much as ever."""
    told: list[dict[str, Any]] = []
    free = 10**10
    for look, now in enumerate(steps, 1):
        all_bytes = now * each + 100
        at = {"look": look, "unix_ns": STARTED_NS + look * 10**8, "steps": now, "took_ns": 1, "objects": 9}
        told.append({**at, "cut": False, "bytes": all_bytes, "arrays": now + 1, "available_bytes": free})
        one = {"look": look, "kind": "tensors", "device": "cpu:0", "file": "train.py", "function": "main"}
        before = steps[look - 2] if look > 1 else 0
        was = {"was_bytes": before * each, "was_arrays": before * arrays} if look > 1 else {}
        grows = {"holder": "kept", "bytes": now * each, "arrays": now * arrays, "line": 12, "puts": True}
        told.append({**one, **grows, **was})
        was = {"was_bytes": 100, "was_arrays": 1} if look > 1 else {}
        told.append({**one, "holder": "w", "bytes": 100, "arrays": 1, "line": 3, "puts": False, **was})
    return b"".join(line(**one) for one in told)


def counted(
    kind: str = "ops",
    counts: tuple[int, ...] = (60, 80, 100),
    steps: tuple[int, ...] = (4, 14, 24),
    **more: Any,
) -> bytes:
    """So many ops of a graph, compiled functions, or (tensors) operations of autograd's at each look."""
    told: list[dict[str, Any]] = []
    for look, (count, now) in enumerate(zip(counts, steps, strict=True), 1):
        at = {"look": look, "unix_ns": STARTED_NS + look * 10**8, "steps": now, "took_ns": 1, "objects": 9}
        told.append({**at, "cut": False, "bytes": 0, "arrays": 0, "available_bytes": 10**10})
        of_autograd = kind == "tensors"
        name = "operations" if of_autograd else "arrays"
        one: dict[str, Any] = {"holder": "the graph" if kind == "ops" else "kept", "kind": kind, "bytes": 0}
        one |= {
            "look": look,
            "device": "host",
            "file": "train.py",
            "line": 12,
            "function": "main",
            "puts": True,
        }
        one |= {"arrays": 1, name: count}
        if look > 1:
            one |= {"was_bytes": 0, "was_arrays": 1, f"was_{name}": counts[look - 2]}
        told.append({**one, **more})
    return b"".join(line(**one) for one in told)


SMALL = model(
    node(1, "Root", (2,)), node(2, "Prefetch", (3,), kind=4), node(3, "BatchV2", (4,), ratio=8),
    node(4, "Map", (5,), elements=80, ms=320), node(5, "Range", elements=80, ms=0.1),
)  # fmt: skip


def write(folder: Path, *, xplane: bool = True, ended: bool = True, **changed: Any) -> Path:
    """A capture of 10 batches; the keywords replace files (bytes) or remove them (None)."""
    folder.mkdir(parents=True, exist_ok=True)
    told = {
        "format": 1, "recorder": "stepscope 0.1", "argv": ["python", "train.py"], "host": "vm", "cores": 2,
        "started_unix_ns": STARTED_NS, "ended_unix_ns": STARTED_NS + 10**10 if ended else None,
        "problems": [{"what": "No op log", "seen": "a function", "todo": "nothing"}], "files": [],
    }  # fmt: skip
    chain = [
        {"position": i, "transformation": word, "dataset": kind, "file": "train.py", "line": 10 + i,
         "text": text, "arguments": {"count": i}, "inputs": [i - 1] if i else []}
        for i, (word, kind, text) in enumerate([
            ("range", "RangeDataset", "data = tf.data.Dataset.range(10)"),
            ("map", "MapDataset", "data = data.map(slow)"), ("batch", "BatchDataset", "data = data.batch(8)"),
        ])
    ]  # fmt: skip
    second = 10**9
    files: dict[str, bytes | None] = {
        "capture.json": json.dumps(told).encode(),
        "pipeline/model_0_0.pb": SMALL,
        "pipeline/models.ndjson": line(
            iterator=0, sample=0, unix_ns=STARTED_NS + second, elements=10, file="model_0_0.pb"
        ),
        "pipeline/datasets.json": json.dumps([{"iterator": 0, "chain": chain}]).encode(),
        "machine.ndjson": b"".join(
            line(
                unix_ns=STARTED_NS + i * second,
                cores=[0.5, 1.0],
                process_cpu_ns=i * second,
                children_cpu_ns=2 * i * second,
                rss_bytes=9,
            )
            for i in range(10)
        ),
        "steps.ndjson": b"".join(
            line(step=i, begin_unix_ns=STARTED_NS + i * second, end_unix_ns=STARTED_NS + (i + 1) * second,
                 how="own", recorded=True)
            for i in range(3)
        ),
    }  # fmt: skip
    files["stacks.ndjson"] = stacks()
    files["compilations.ndjson"] = compilations()
    files.update({name.replace("__", "/").replace("_json", ".json"): one for name, one in changed.items()})
    for name, content in files.items():
        if content is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    if xplane:
        profile = folder / "plugins" / "profile" / "2026_11_20"
        profile.mkdir(parents=True, exist_ok=True)
        shutil.copy(SAMPLE, profile / "vm.xplane.pb")
    return folder


def line(**values: Any) -> bytes:
    """A line of a file of lines."""
    return json.dumps(values).encode() + b"\n"
