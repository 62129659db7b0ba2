"""Launches while an accelerator has nothing to do, in a timeline of TensorFlow 1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepscope.report import summary
from stepscope.session import trace

_LAUNCHES = "/job:localhost/replica:0/task:0/device:GPU:0 Compute"
_DEVICES = ("/device:GPU:0/stream:all Compute", "/device:GPU:1/stream:all Compute")


def _first(folder: Path, launches: list[tuple[str, int, int]], devices: int = 1) -> str:
    """The first sentence about a step of 10 ms that ends with a product of 3 ms on each device. launches: ops
    with begin and duration in microseconds."""
    names = [
        {"name": "process_name", "ph": "M", "pid": pid, "args": {"name": name}}
        for pid, name in enumerate((_LAUNCHES, *_DEVICES[:devices]))
    ]
    ran = [(0, *launch) for launch in [("top/_SOURCE", 0, 1), *launches]]
    ran += [(device, "top/MatMul", 7000, 3000) for device in range(1, devices + 1)]
    ops = [
        {"name": op.rpartition("/")[2], "ph": "X", "cat": "Op", "pid": pid, "tid": 0, "ts": ts, "dur": dur,
         "args": {"name": op, "op": op.rpartition("/")[2]}}
        for pid, op, ts, dur in ran
    ]  # fmt: skip
    path = folder / "timeline.json"
    path.write_text(json.dumps({"traceEvents": [*names, *ops]}))
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
