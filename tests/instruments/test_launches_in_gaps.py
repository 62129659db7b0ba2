"""Launches while an accelerator has nothing to do, in a timeline of TensorFlow 1."""

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from stepscope.library.statements import statement
from stepscope.report import summary
from stepscope.session import trace

_LAUNCHES = "/job:localhost/replica:0/task:0/device:GPU:0 Compute"
_HIP = ((2, "CPU HIP API"), (6, "GPU0"))
_DEVICES = ("/device:GPU:0/stream:all Compute", "/device:GPU:1/stream:all Compute")


def _timeline(folder: Path, launches: list[tuple[str, int, int]], works: list[list[tuple[int, int]]]) -> Path:
    """A file of launches and of products on each device. launches: ops with begin and duration in
    microseconds; works: begins and durations."""
    names = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}
        for pid, name in enumerate((_LAUNCHES, *_DEVICES[: len(works)]))
    ]
    ran = [(0, *launch) for launch in launches]
    ran += [(number, "top/MatMul", *work) for number, done in enumerate(works, 1) for work in done]
    ops = [
        {"name": op.rpartition("/")[2], "ph": "X", "cat": "Op", "pid": pid, "tid": 0, "ts": ts, "dur": dur,
         "args": {"name": op, "op": op.rpartition("/")[2]}}
        for pid, op, ts, dur in ran
    ]  # fmt: skip
    path = folder / "timeline.json"
    path.write_text(json.dumps({"traceEvents": [*names, *ops]}))
    return path


def _first(folder: Path, launches: list[tuple[str, int, int]], devices: int = 1) -> str:
    """The first sentence about a step of 10 ms that ends with a product of 3 ms on each device."""
    path = _timeline(folder, [("top/_SOURCE", 0, 1), *launches], [[(7000, 3000)]] * devices)
    with trace.open(path, cache=False) as opened:
        return summary.build(opened).headline[0]


_MANY = [
    (f"top/{name}", 1000 * i + 100, 900) for i, name in enumerate(["Add", "Mul", "Exp", "Log", "Sub", "Neg"])
]


@pytest.mark.parametrize(
    ("launches", "said"),
    [
        ([("top/Conv2D", 100, 6000), ("top/MatMul", 6900, 90)], "the launch of top/Conv2D takes 6.00 ms."),
        (_MANY, "the host launches ops for 5.40 ms."),
        # A launch within another does not count twice, and what runs beside the device not at all.
        ([("top/Conv2D", 100, 3000), ("top/Add", 200, 800), ("top/Mul", 7000, 2900)], " of 10.0 ms)."),
    ],
)
def test_an_idle_accelerator_names_what_is_launched(
    tmp_path: Path, launches: list[tuple[str, int, int]], said: str
) -> None:
    first = _first(tmp_path, launches)
    assert first.startswith("The accelerator has nothing to do for 70.0 %")
    assert first.endswith(said)
    assert ("meanwhile" in first) == ("launch" in said)


def test_a_launch_counts_once_beside_two_devices(tmp_path: Path) -> None:
    first = _first(tmp_path, [("top/Conv2D", 100, 6000)], devices=2)
    assert first.endswith("; meanwhile the launch of top/Conv2D takes 6.00 ms.")


@pytest.mark.repeats("a twin looks at each microsecond")
@pytest.mark.parametrize("seed", range(4))
def test_launches_meet_gaps_as_if_each_microsecond_was_looked_at(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    launches = [
        (f"top/Op{chance.randrange(3)}", chance.randrange(150), chance.randrange(1, 20)) for _ in range(20)
    ]
    works = [[(begin, chance.randrange(1, 8)) for begin in range(at, 200, 10)] for at in (0, 3)]
    best: list[tuple[int, str, int]] = []
    for done in works:
        idle = set(range(200)).difference(*(range(begin, begin + long) for begin, long in done))
        meanwhile = [(op, idle.intersection(range(begin, begin + long))) for op, begin, long in launches]
        by_op: Counter[str] = Counter()
        for op, shared in meanwhile:
            by_op[op] += len(shared)
        together = set[int]().union(*(shared for _, shared in meanwhile))
        best += [(-op_us, op, len(together)) for op, op_us in by_op.items()]
    op_us, op, all_us = min(best)
    with trace.open(_timeline(tmp_path, launches, works), cache=False) as opened:
        ((run, host),) = opened.query("SELECT DISTINCT run_id, host_id FROM source").rows()
        found = opened.query(statement("launches_in_gaps", run_id=run, host_id=host)).rows()
    assert found == [(op, -op_us * 10**6, all_us * 10**6, 0)]


def test_a_call_of_a_runtime_is_no_launch(tmp_path: Path) -> None:
    """As rocprof draws it: calls of HIP on a row of the host, copies and kernels on those of GPUs."""
    rows = [(2, 9, "hipFree", 0, 6000), (2, 9, "hipLaunchKernel", 6000, 10), (6, 1, "add", 6010, 3990)]
    named = [{"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}} for pid, name in _HIP]
    events = [
        {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur}
        for pid, tid, name, ts, dur in rows
    ]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"traceEvents": [{}, *named, *events]}))
    with trace.open(path, cache=False) as opened:
        first = summary.build(opened).headline[0]
    assert first == (
        "The accelerator has nothing to do for 60.1 % of the 10.0 ms recorded; "
        "meanwhile hipFree takes 6.00 ms."
    )
