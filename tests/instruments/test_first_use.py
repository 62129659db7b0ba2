"""The first call of a process makes the context of a device, whatever it is asked for."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.report import summary
from stepscope.session import trace

FIRST = "Setting up the device takes"
ALLOCATES = "Allocating and freeing memory of the device takes"


def _slice(name: str, cat: str, ts: float, dur: float, tid: int = 1, **args: Any) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, "pid": 1, "tid": tid, "args": args}


def _program(mallocs_us: list[int], kernel_first: bool) -> list[dict[str, Any]]:
    """One allocation after the other, and a kernel before or after them."""
    at, events = 1000.0, []
    for took_us in mallocs_us:
        events.append(_slice("cudaMalloc", "cuda_runtime", at, took_us, correlation=len(events) + 1))
        at += took_us + 10
    at = 100.0 if kernel_first else at
    launch = _slice("cudaLaunchKernel", "cuda_runtime", at, 10, correlation=99)
    return [*events, launch, _slice("add", "kernel", at + 20, 800, 7, correlation=99, device=0, stream=7)]


@pytest.mark.parametrize(
    ("mallocs_us", "kernel_first", "begins"),
    [
        ([300_000, 100], False, FIRST),
        ([49_000, 100], False, FIRST),  # a display had used it
        ([300_000, 100], True, ALLOCATES),  # the device was in use
        ([30_000] * 10, False, ALLOCATES),  # one is as slow as the other
        ([20_000, 100], False, ALLOCATES),  # no context is made in so little time
    ],
)
def test_a_context_that_is_made_is_no_memory(
    tmp_path: Path, mallocs_us: list[int], kernel_first: bool, begins: str
) -> None:
    events = _program(mallocs_us, kernel_first)
    written = json.dumps({"deviceProperties": [{"id": 0, "name": "T4"}], "traceEvents": events})
    paths = [tmp_path / f"{name}.pt.trace.json" for name in "ab"]
    for path in paths:  # of two recordings, each has a first call
        path.write_text(written)
    with trace.open(tmp_path, cache=False) as opened:
        assert summary.build(opened).headline[0].startswith(begins)
