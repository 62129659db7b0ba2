"""Recordings of which every name, in every place that has one, is a given hostile string."""

import json
from collections.abc import Sequence
from pathlib import Path

from tests.formats.capture_folder import STARTED_NS, data, line, model, node, number, write

MS = 10**6


def everywhere(folder: Path, names: Sequence[str]) -> list[Path]:
    """A Chrome trace, a graph, step statistics, a capture and a pipeline, in a folder with a hostile name."""
    made = folder / "<img src=x onerror=alert(1)>"
    made.mkdir(parents=True)
    return [
        _chrome(made / "'><svg onload=alert(1)>.json", names),
        _graph(made / "graph <b id=planted>.pb", names),
        _steps(made / "steps <b id=planted>.pb", names),
        _capture(made / "capture <script>alert(1)<", names),
        _pipeline(made / "pipeline <b id=planted>.xplane.pb", names),
    ]


def _chrome(path: Path, names: Sequence[str]) -> Path:
    events: list[dict[str, object]] = []
    for i, name in enumerate(names):
        where = {"pid": i % 7, "tid": i % 3}
        other = names[(i * 7 + 1) % len(names)]
        at = {"ts": i * 100, **where}
        events.append({"ph": "M", "name": "process_name", **where, "args": {"name": name}})
        events.append({"ph": "M", "name": "process_labels", **where, "args": {"labels": name}})
        events.append({"ph": "M", "name": "thread_name", **where, "args": {"name": name}})
        told = {"name": other, "op": other, "step_name": other, name: name, "deep": {name: [name]}}
        events.append({"ph": "X", "name": name, "cat": other, "dur": 90, "args": told, **at})
        events.append({"ph": "X", "name": f"inside {name}", "cat": "Op", "dur": 40, "args": told, **at})
        events.append({"ph": "i", "name": name, "s": "t", **at})
        events.append({"ph": "C", "name": name, "args": {other: i}, **at})
        events += [{"ph": end, "id": i, "name": name, "cat": other, "ts": i * 100 + 50 * late, **where}
                   for late, end in enumerate("sf")]  # fmt: skip
    made = {"traceEvents": events, "otherData": {name: name for name in names}}
    path.write_text(json.dumps(made), encoding="utf-8")
    return path


def _graph(path: Path, names: Sequence[str]) -> Path:
    """GraphDef: names, op types, devices, attributes and edges, and one function of the same."""
    nodes = []
    for i, name in enumerate(names):
        text, before = name.encode(), names[i - 1].encode()
        scope = (f"{names[(i * 3) % len(names)]}/" * (i % 3)).encode()
        cluster = data(5, data(1, b"_XlaCluster") + data(2, data(2, text)))
        nodes.append(
            data(1, scope + text) + data(2, before) + data(3, before) + data(4, b"/device:" + text) + cluster
        )
    function = data(1, data(1, names[0].encode())) + b"".join(data(3, one) for one in nodes)
    path.write_bytes(b"".join(data(1, one) for one in nodes) + data(2, data(1, function)))
    return path


def _steps(path: Path, names: Sequence[str]) -> Path:
    """RunMetadata: ops, labels, devices, threads, allocators and their tensors."""
    made = b""
    for i in range(0, len(names), 40):
        stats = b""
        for k, name in enumerate(names[i : i + 40]):
            text = name.encode()
            memory = data(1, text) + number(2, 1000 * (k + 1)) + number(3, 2000 * (k + 1)) + number(4, 500)
            size = number(1, 64 * (k + 1)) + number(2, 64 * (k + 1))
            described = number(1, 1) + data(4, size + data(3, text) + number(6, 4096 * (i + k + 1)))
            stats += data(2, b"".join([
                data(1, text), number(2, STARTED_NS // 1000 + k * 1000), number(3, 1), number(4, 900),
                number(5, 950), data(6, memory), data(7, number(1, 0) + data(3, described)),
                data(8, f"{name} = {names[-k]}({name}, {names[k]})".encode()), number(10, k % 4),
            ]))  # fmt: skip
        threads = b"".join(
            data(3, number(1, k) + data(2, names[i + k].encode())) for k in range(4) if i + k < len(names)
        )
        made += data(1, data(1, b"/device:CPU:" + names[i].encode()) + stats + threads)
    nodes = [
        data(1, data(1, name) + data(2, name) + b"".join(data(3, one) for one in before))
        for name, before in ((one.encode(), [names[i - 1].encode()] * (i > 0)) for i, one in enumerate(names))
    ]
    path.write_bytes(data(1, made) + data(3, b"".join(nodes)))
    return path


STAGES = 12
"""Of a pipeline, one inside of the other."""


def _pipeline(path: Path, names: Sequence[str]) -> Path:
    """XPlane of a thread that asks stages of tf.data for a batch in ten steps; each plane has a name, too."""
    chosen = ["Root", *names[:: len(names) // STAGES][:STAGES]]
    titles = [f"Iterator::{'::'.join(chosen[: i + 1])}" for i in range(len(chosen))]
    titles += ["IteratorGetNextOp::DoCompute", "train"]
    known = b"".join(
        data(4, number(1, i + 1) + data(2, number(1, i + 1) + data(2, title.encode())))
        for i, title in enumerate(titles)
    )
    stats = (b"step_num", b"id", b"parent_id", b"name")
    stat = b"".join(
        data(5, number(1, i + 1) + data(2, number(1, i + 1) + data(2, name))) for i, name in enumerate(stats)
    )
    begin = 10**12

    def event(title: str, at: int, long: int, *told: bytes) -> bytes:
        head = number(1, titles.index(title) + 1) + number(2, at) + number(3, long)
        return data(4, head + b"".join(data(4, one) for one in told))

    events, asked = [], []
    for step in range(10):
        at = step * begin
        events.append(event("train", at, begin, number(1, 1) + number(4, step)))
        events.append(event(titles[-2], at + 10**9, 92 * 10**10, number(1, 2) + number(4, 100)))
        for i, title in enumerate(titles[:-2]):
            ids = [number(1, 2) + number(4, 100 + i), number(1, 4) + data(5, chosen[i].encode())]
            ids += [number(1, 3) + number(4, 99 + i)] * (i > 0)
            asked.append(event(title, at + (i + 2) * 10**9, (91 - i) * 10**10, *ids))
    lines = data(3, number(1, 1) + data(2, names[5].encode()) + b"".join(events + asked))
    host = data(2, b"/host:CPU") + lines + known + stat
    other = data(2, names[7].encode()) + lines + known + stat
    path.write_bytes(data(1, host) + data(1, other))
    return path


def _capture(folder: Path, names: Sequence[str]) -> Path:
    """A capture: datasets and their model, stacks, compilations, steps, problems, command and host."""
    count = len(names)
    nodes = [node(i + 1, name, (i + 2,) if i + 1 < count else (), elements=100, ms=i + 1.0)
             for i, name in enumerate(names)]  # fmt: skip
    chain = [
        {"position": i, "transformation": name, "dataset": f"{name}Dataset", "file": name, "line": i,
         "text": name, "arguments": {name: name}, "inputs": [i - 1] if i else []}
        for i, name in enumerate(names)
    ]  # fmt: skip
    stacks = [{"begin_unix_ns": STARTED_NS}, *_frames(names)]
    stacks += [{"thread": i, "name": name, "main": i == 0} for i, name in enumerate(names[:20])]
    for i in range(count):
        on = [[thread, (i * (thread + 1)) % count, i * 10 * MS] for thread in range(20)]
        stacks.append({"unix_ns": STARTED_NS + (i * 10 + 5) * MS, "late_ns": 0, "on": on})
    stacks.append({"end_unix_ns": STARTED_NS + count * 10 * MS})
    compilations = []
    for i, name in enumerate(names):
        at = STARTED_NS + i * 40 * MS
        changes = [{"argument": name, "what": "value", "was": name, "became": names[i - 1]}]
        compilations.append(
            {"framework": "tensorflow", "function": names[i // 5], "begin_unix_ns": at,
             "end_unix_ns": at + 9 * MS, "number": i % 5 + 1, "what": "value" if i % 5 else "first",
             "file": name, "line": i, "call": {"file": name, "line": i, "function": name},
             **({"changes": changes, "more": 0} if i % 5 else {})}
        )  # fmt: skip
    told = {
        "format": 1, "recorder": f"stepscope {names[0]}", "argv": list(names), "host": names[1], "cores": 2,
        "started_unix_ns": STARTED_NS, "ended_unix_ns": STARTED_NS + 10**10,
        "problems": [{"what": name, "seen": name, "todo": name} for name in names], "files": [],
    }  # fmt: skip
    return write(
        folder,
        xplane=False,
        capture_json=json.dumps(told).encode(),
        **{
            "pipeline/model_0_0.pb": model(*nodes),
            "pipeline/datasets.json": json.dumps([{"iterator": 0, "chain": chain}]).encode(),
            "stacks.ndjson": b"".join(line(**one) for one in stacks),
            "compilations.ndjson": b"".join(line(**one) for one in compilations),
        },
    )


def _frames(names: Sequence[str]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for i, name in enumerate(names):
        frame = {"function": name, "file": f"{name}.py", "line": i, "module": name, "code": "program"}
        found.append({"frame": i, **frame})
        found.append({"stack": i, "frame": i, **({"in": i - 1} if i % 30 else {})})
    return found
