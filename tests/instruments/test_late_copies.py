"""Calls of the runtime that wait until the device begins their copy."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.report import summary
from stepscope.session import trace

_STEP_US = 1000.0


def _step(number: int, waits_us: float, kind: str, bytes_: int) -> list[dict[str, Any]]:
    """A step of 1 ms: a copy is asked for at 50 µs, begun after a while, and done 5 µs later."""
    at = number * _STEP_US
    host, device = {"pid": 1, "tid": 1}, {"pid": 0, "tid": 7}
    call = {"name": "cudaMemcpyAsync", "cat": "cuda_runtime", "ts": at + 50, "dur": waits_us + 10}
    copy = {"name": f"Memcpy {kind}", "cat": "gpu_memcpy", "ts": at + 50 + waits_us, "dur": 5.0}
    launch = {"name": "cudaLaunchKernel", "cat": "cuda_runtime", "ts": at + 10, "dur": 5.0}
    kernel = {"name": "gemm", "cat": "kernel", "ts": at + 20, "dur": 100.0}
    args, other = {"correlation": 2 * number + 1}, {"correlation": 2 * number + 2}
    place = {"device": 0, "stream": 7}
    return [
        {"ph": "X", **event}
        for event in (
            {"name": f"ProfilerStep#{number}", "cat": "user_annotation", "ts": at, "dur": _STEP_US, **host},
            {**launch, **host, "args": other},
            {**kernel, **device, "args": {**other, **place}},
            {"name": "aten::copy_", "cat": "cpu_op", "ts": at + 45, "dur": waits_us + 20, **host},
            {**call, **host, "args": args},
            {**copy, **device, "args": {**args, **place, "bytes": bytes_}},
        )
    ]


def _told(folder: Path, waits_us: float, kind: str, bytes_: int) -> tuple[list[str], dict[str, Any]]:
    path = folder / "a.pt.trace.json"
    events = [event for number in range(4) for event in _step(number, waits_us, kind, bytes_)]
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": [], "traceEvents": events}))
    with trace.open(path, cache=False) as opened:
        report = summary.build(opened)
    return list(report.headline), report.document["answer"]


def test_a_call_that_waits_for_its_copy_does_not_copy(tmp_path: Path) -> None:
    """704 bytes take 5 of 900 µs: the device begins late, whatever it did before."""
    headline, answer = _told(tmp_path, 900, "DtoH (Device -> Pageable)", 704)
    # Of 900 µs, the kernel runs for the first 70.
    said = "Waiting until the device begins a copy takes 83.0 % of a step (830 µs of 1.00 ms)"
    assert headline[0].startswith(f"{said}, in cudaMemcpyAsync")
    assert answer["cause"] == "wait"
    # What the device did before it began would have to be done without the copy, too.
    assert answer["step_if_removed_ps"] is None
    assert not any(line.startswith("Without") for line in headline)


@pytest.mark.parametrize(("waits_us", "bytes_"), [(900, 4_000_000), (150, 704)])
def test_what_is_staged_or_short_is_copying(tmp_path: Path, waits_us: float, bytes_: int) -> None:
    """4 MB are on their way to where the device takes them for up to 4 ms."""
    _, answer = _told(tmp_path, waits_us, "HtoD (Pageable -> Device)", bytes_)
    assert answer["cause"] != "wait"
