"""What PyTorch's own counter says that ops compute, beside what their recorded shapes say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.instruments.roofline.torch_ops import cost

torch = pytest.importorskip("torch")


def _gemms() -> None:
    a, b = torch.ones(30, 40), torch.ones(40, 50)
    torch.mm(a, b)
    torch.addmm(torch.ones(50), a, b)
    torch.bmm(torch.ones(3, 30, 40), torch.ones(3, 40, 50))
    torch.baddbmm(torch.ones(3, 30, 50), torch.ones(3, 30, 40), torch.ones(3, 40, 50))
    torch.nn.Linear(40, 20)(a)


def _convolutions() -> None:
    data = torch.ones(2, 6, 17, 19)
    torch.nn.Conv2d(6, 8, 3, stride=2, padding=1)(data)
    torch.nn.Conv2d(6, 12, (3, 5), groups=3, dilation=2)(data)
    torch.nn.Conv1d(4, 8, 5, padding=2)(torch.ones(2, 4, 33))
    torch.nn.ConvTranspose2d(6, 8, 3, stride=2)(data)


def _trained() -> None:
    data = torch.ones(2, 6, 17, 19, requires_grad=True)
    found = torch.nn.Conv2d(6, 8, 3, padding=1)(data)
    torch.nn.Linear(19, 7)(found).sum().backward()


def _attention() -> None:
    query, key = torch.ones(2, 3, 16, 8), torch.ones(2, 3, 24, 8)
    torch.nn.functional.scaled_dot_product_attention(query, key, key)


def recorded(path: Path, run: Callable[[], None]) -> list[dict[str, Any]]:
    """The ops of a program as PyTorch's profiler writes them."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, record_shapes=True) as profile:
        run()
    profile.export_chrome_trace(str(path))
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    return [event for event in events if event.get("cat") == "cpu_op"]


def innermost(ops: list[dict[str, Any]]) -> float:
    """Operations of ops that have a formula, each op counted where no op within it has one."""
    known = [(op, found.flops) for op in ops if (found := cost(op["name"], op["args"])) and found.flops]
    return sum(
        flops
        for op, flops in known
        if not any(
            other is not op
            and other["tid"] == op["tid"]
            and op["ts"] <= other["ts"]
            and other["ts"] + other["dur"] <= op["ts"] + op["dur"]
            for other, _ in known
        )
    )


@pytest.mark.parametrize("run", [_gemms, _convolutions, _trained, _attention])
def test_operations_are_those_that_pytorch_counts(tmp_path: Path, run: Callable[[], None]) -> None:
    from torch.utils.flop_counter import FlopCounterMode

    run()  # what is made at the first call is no part of it
    with FlopCounterMode(display=False) as counted:
        run()
    assert innermost(recorded(tmp_path / "one.json", run)) == counted.get_total_flops() > 0
