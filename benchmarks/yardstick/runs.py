"""Programs, run: recorded once for all tools, and timed in turns with their fixed form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.yardstick.tools import Made, last

MORE_STEPS = 40
"""Steps that a program runs beyond the recorded ones."""


def recorded(program: Path, out: Path, steps: int, python: Path) -> tuple[Made, str]:
    """The program's recording, made by `stepscope record` unless it is there, and why there is none. python:
    the interpreter that runs the program."""
    arguments = ("--steps", str(steps + MORE_STEPS))
    made = Made(program, out, arguments)
    if out.exists():
        return made, ""
    record = [sys.executable, "-m", "stepscope.cli", "record", "--steps", str(steps), "--out", str(out), "--"]
    done = subprocess.run(
        [*record, str(python), str(program), *arguments], capture_output=True, text=True, check=False
    )
    return made, "" if out.exists() else last(done.stderr)


def timed(program: Path, turns: int, python: Path) -> dict[str, list[float]]:
    """Milliseconds of a step without a profiler, of the program as it is and of the fixed one, in turns.
    python: the interpreter that runs them."""
    found: dict[str, list[float]] = {"ms_broken": [], "ms_fixed": []}
    for _ in range(turns):
        for key, more in (("ms_broken", []), ("ms_fixed", ["--fix"])):
            done = subprocess.run(
                [str(python), str(program), *more], capture_output=True, text=True, check=True
            )
            found[key].append(float(done.stdout.rpartition("STEP_MS ")[2]))
    return found
