"""Programs that keep arrays, in each framework: what grows, by how much, and which line keeps it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

import stepscope
from tests.capture.launching import PROGRAMS, facts, record

KEEPS = PROGRAMS / "memory"


@pytest.mark.parametrize(
    ("framework", "holder", "each_bytes", "text"),
    [
        ("jax", "kept", 256 * 64 * 4, "kept.append(g)"),
        ("tf", "self.seen", 512 * 256 * 4, "self.seen[i] = y"),
        ("keras", "Keep.weights", 64 * 128 * 4, "self.weights.append("),
        ("torch", "HISTORY", 64 * 10 * 4, "HISTORY.append(out)"),
    ],
)
def test_the_line_that_keeps_arrays(
    framework: str, holder: str, each_bytes: int, text: str, tmp_path: Path
) -> None:
    if importlib.util.find_spec({"tf": "tensorflow"}.get(framework, framework)) is None:
        pytest.skip(f"{framework} is not installed")
    program = KEEPS / f"keeps_{framework}.py"
    done = record("--steps", "20", "--out", "out", "--", sys.executable, program, "60", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "trained True\n"), done.stderr
    assert facts(tmp_path / "out")["problems"] == []
    lines = program.read_text().splitlines()
    with stepscope.open(str(tmp_path / "out")) as trace:
        (row,) = trace.analysis("growing_memory")
        assert (row.holder, row.step_bytes, row.each) == (holder, each_bytes, "in one more array")
        assert (Path(row.file).name, lines[row.line - 1].strip()[: len(text)]) == (program.name, text)
        assert trace.memory()
