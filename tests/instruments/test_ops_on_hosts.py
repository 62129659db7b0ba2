"""Ops of PyTorch that run on the host beside an accelerator, and kernels by the ops that launch them."""

import json
from pathlib import Path
from typing import Any

import pytest

from stepscope.report import summary
from stepscope.session import trace

_GPU, _HOST = {"pid": 0, "tid": 7}, {"pid": 1, "tid": 1}


def _slice(
    name: str, cat: str, ts: float, dur: float, on: dict[str, int] = _HOST, **args: Any
) -> dict[str, Any]:
    return {"ph": "X", "name": name, "cat": cat, "ts": ts, "dur": dur, **on, "args": args}


def _step(number: int, made_us: int, calls: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """A step of 10 ms: numbers are made for a while, by these calls; then a product of 3 ms."""
    at = number * 10_000.0
    launched = at + made_us + 10
    correlation = number + 1
    return [
        _slice(f"ProfilerStep#{number}", "user_annotation", at, 10_000),
        _slice("aten::randn", "cpu_op", at + 1, made_us),
        _slice("aten::normal_", "cpu_op", at + 2, made_us - 2),
        *(
            _slice(call, "cuda_runtime", at + 3 + i, 1, correlation=1000 * correlation + i)
            for i, call in enumerate(calls)
        ),
        _slice("aten::mm", "cpu_op", launched, 50, **{"External id": correlation}),
        _slice("cudaLaunchKernel", "cuda_runtime", launched + 20, 10, correlation=correlation),
        _slice(
            "sgemm_128x64_tn",
            "kernel",
            launched + 40,
            3000,
            _GPU,
            correlation=correlation,
            device=0,
            stream=7,
        ),
    ]


def _answer(folder: Path, events: list[dict[str, Any]]) -> tuple[str, dict[str, str]]:
    """The first lines, and what findings say."""
    devices = [{"id": 0, "name": "NVIDIA T4"}]
    path = folder / "a.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}))
    with trace.open(path, cache=False) as opened:
        report = summary.build(opened)
    return " ".join(report.headline), {found.slug: found.impact for found in report.findings}


def test_an_op_on_the_host_is_no_launch(tmp_path: Path) -> None:
    first, findings = _answer(tmp_path, [event for i in range(4) for event in _step(i, 6000)])
    assert first.startswith("Ops on the host, and launching others, take 6")
    assert ", most of it aten::normal_" in first
    assert "aten::normal_ (4 runs) takes 24.0 ms" in findings["cpu-ops-in-device-step"]


@pytest.mark.parametrize(("made_us", "calls"), [(6000, ("cudaMalloc",)), (150, ())])
def test_what_launches_or_is_short_is_none(tmp_path: Path, made_us: int, calls: tuple[str, ...]) -> None:
    first, findings = _answer(tmp_path, [event for i in range(4) for event in _step(i, made_us, calls)])
    assert "on the host, and" not in first
    assert "cpu-ops-in-device-step" not in findings


def test_an_op_that_calls_what_launches_is_none(tmp_path: Path) -> None:
    """Generated code has time of its own between the ops that it calls, and these launch."""
    events = [event for i in range(4) for event in _step(i, 6000, ("cudaLaunchKernel",))]
    for event in events:
        event["name"] = {"aten::randn": "CompiledFunctionBackward", "aten::normal_": "aten::mul"}.get(
            event["name"], event["name"]
        )
        if event["name"] == "aten::mul":
            event["dur"] = 50
    first, findings = _answer(tmp_path, events)
    assert "on the host, and" not in first
    assert "cpu-ops-in-device-step" not in findings


def test_kernels_are_named_by_the_op_that_launches_them(tmp_path: Path) -> None:
    events = [event for i in range(4) for event in _step(i, 6000)]
    assert "Most work on devices: aten::mm (100.0 % of it)." in _answer(tmp_path, events)[0]
    kernel = next(event for event in events if event["cat"] == "kernel")
    longer = [{**event, "dur": 9900} if event["name"] == kernel["name"] else event for event in events]
    short = [
        {**event, "ts": event["ts"] - 5900}
        if event["name"] in ("aten::mm", "cudaLaunchKernel", kernel["name"])
        else event
        for event in longer
        if event["name"] not in ("aten::randn", "aten::normal_")
    ]
    assert "sgemm_128x64_tn of aten::mm for 100.0 % of all compute time" in _answer(tmp_path, short)[0]
