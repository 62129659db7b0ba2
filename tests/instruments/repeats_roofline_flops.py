"""What PyTorch's own counter says that ops compute, beside what their recorded shapes say."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stepscope.instruments.roofline.torch_ops import cost
from tests import later

PROGRAM = Path(__file__).parent / "torch_counted.py"


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    """The folder of the recordings, and the operations that PyTorch counted, by program."""
    later.installed("torch")
    folder = tmp_path_factory.mktemp("counted")
    done = subprocess.run(
        [sys.executable, PROGRAM, folder], capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


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


@pytest.mark.parametrize("program", ["gemms", "convolutions", "trained", "attention"])
def test_operations_are_those_that_pytorch_counts(program: str, counted: tuple[Path, dict[str, int]]) -> None:
    folder, told = counted
    events = json.loads((folder / f"{program}.json").read_text(encoding="utf-8"))["traceEvents"]
    ops = [event for event in events if event.get("cat") == "cpu_op"]
    assert innermost(ops) == told[program] > 0
