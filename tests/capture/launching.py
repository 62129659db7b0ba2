"""Runs programs with and without `stepscope record`, and opens what was recorded."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "programs"
TORCH = PROGRAMS / "torch"


def run(*command: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a command in a folder. TensorFlow 2 here would make TensorFlow 1 there run eagerly."""
    inherited = {name: value for name, value in os.environ.items() if name != "TF2_BEHAVIOR"}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def record(*words: str | Path, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """`stepscope record` with these words, and without the answer at its end."""
    return run(sys.executable, "-m", "stepscope", "record", "--no-summary", *words, cwd=cwd, **environment)


def facts(folder: Path) -> dict[str, Any]:
    """What capture.json says."""
    return json.loads((folder / "capture.json").read_text(encoding="utf-8"))


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of an .ndjson file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def line_of(program: str, text: str) -> int:
    """The line of a program of PyTorch that has a text."""
    found = (TORCH / program).read_text().splitlines()
    return next(number for number, line in enumerate(found, 1) if text in line)
