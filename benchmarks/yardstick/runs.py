"""Programs, run: recorded once for all tools, and timed in turns with their fixed form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.yardstick.tools import Made, last

LEAST_MORE, MOST_MORE, MORE_MS = 40, 3000, 7000.0
"""How many steps a program runs beyond the recorded ones: as many as take so long. Trainings go on."""


def recorded(program: Path, out: Path, steps: int, python: Path) -> tuple[Made, str]:
    """The program's recording, made by `stepscope record` unless it is there, and why there is none. python:
    the interpreter that runs the program."""
    try:
        more = LEAST_MORE if out.exists() else _more(program, python)
    except subprocess.CalledProcessError as failed:
        return Made(program, out, ()), last(failed.stderr)
    arguments = ("--steps", str(steps + more))
    made = Made(program, out, arguments)
    if out.exists():
        return made, ""
    record = [sys.executable, "-m", "stepscope", "record", "--steps", str(steps), "--out", str(out), "--"]
    done = subprocess.run(
        [*record, str(python), str(program), *arguments], capture_output=True, text=True, check=False
    )
    return made, "" if out.exists() else last(done.stderr)


def _more(program: Path, python: Path) -> int:
    """How many steps to run beyond the recorded ones."""
    step_ms = max(_step_ms(program, python), 0.01)
    return round(min(max(MORE_MS / step_ms, LEAST_MORE), MOST_MORE))


def timed(program: Path, turns: int, python: Path) -> dict[str, list[float]]:
    """Milliseconds of a step without a profiler, of the program as it is and of the fixed one, in turns.
    python: the interpreter that runs them."""
    found: dict[str, list[float]] = {"ms_broken": [], "ms_fixed": []}
    for _ in range(turns):
        for key, more in (("ms_broken", []), ("ms_fixed", ["--fix"])):
            found[key].append(_step_ms(program, python, *more))
    return found


def _step_ms(program: Path, python: Path, *more: str) -> float:
    """Milliseconds of a step, as the program prints them."""
    done = subprocess.run([str(python), str(program), *more], capture_output=True, text=True, check=True)
    return float(done.stdout.rpartition("STEP_MS ")[2])
