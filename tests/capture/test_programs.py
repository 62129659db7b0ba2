"""`stepscope record` on five programs that nobody edited: they end as they would, and are recorded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, check=False)


def record(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    return run(sys.executable, "-m", "stepscope.cli", "record", *words, cwd=cwd)


@pytest.mark.parametrize("name", ["tf1_session", "tf1_monitored", "tf2_loop", "keras_fit", "jax_loop"])
def test_program(name: str, tmp_path: Path) -> None:
    program = PROGRAMS / f"{name}.py"
    plain = run(sys.executable, program, cwd=tmp_path)
    assert plain.returncode == 0, plain.stderr.decode()
    recorded = record("--out", "out", "--steps", "8", "--", sys.executable, program, cwd=tmp_path)
    assert recorded.returncode == 0, recorded.stderr.decode()
    assert recorded.stdout == plain.stdout
    facts = json.loads((tmp_path / "out" / "capture.json").read_text())
    assert facts["recorded"] == {"steps": 8, "sessions": 1}
