"""Records two programs in turns, so that both meet the same machine: A B, then B A, and so on."""

import argparse
import subprocess
import sys
import time
from pathlib import Path

from stepscope.cli.console import Console
from stepscope.cli.program import check_free
from stepscope.errors import OutputError, UsageError

_STEPS, _WARMUP = 100, 3
_LEFT_OUT = ("--no-stacks", "--no-machine", "--no-op-log", "--no-datasets", "--no-run-metadata")
"""Pieces that a comparison of ops and counts does not read."""


def record(options: argparse.Namespace, console: Console) -> tuple[list[str], list[str]]:
    """Records both commands of `options`; the folders of A and of B.

    OutputError when the folder cannot be made, or is in use; UsageError when a program fails or nothing is
    recorded of it. What has been recorded until then stays."""
    folder = Path(options.into or time.strftime("stepscope-check-%Y%m%d-%H%M%S"))
    check_free(folder, "--into")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"{folder} cannot be made",
            seen=error.strerror or str(error),
            todo="choose another --into",
            path=str(folder),
        ) from error
    sides: tuple[list[str], list[str]] = ([], [])
    width = len(str(options.record))
    for number in range(1, options.record + 1):
        for side in (0, 1) if number % 2 else (1, 0):
            name = f"{'ab'[side]}{number:0{width}d}"
            console.say(f"recording {name} ({len(sides[0]) + len(sides[1]) + 1} of {2 * options.record})")
            _one(options, options.commands[side], folder / name)
            sides[side].append(str(folder / name))
    return sides


def _one(options: argparse.Namespace, command: list[str], out: Path) -> None:
    log = out.with_suffix(".log")
    warmup = _WARMUP if options.warmup is None else options.warmup
    words = [sys.executable, "-m", "stepscope_start", "record", "-o", str(out), "--warmup", str(warmup)]
    words += ["--steps", str(options.steps or _STEPS), *_LEFT_OUT, "--", *command]
    with log.open("wb") as sink:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink, check=False)
    if done.returncode:
        raise UsageError(
            "A program that was to be recorded failed",
            seen=f"{' '.join(command)} ended with {done.returncode}; {_last(log)}",
            todo=f"read {log}; the program has to end well",
        )
    if not out.is_dir() or not any(out.iterdir()):
        raise UsageError(
            "Nothing was recorded of a program",
            seen=f"{' '.join(command)}; {_last(log)}",
            todo=f"read {log}; the program has to run more steps than --warmup and --steps together",
        )


def _last(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return f"its last line: {lines[-1][:200]}" if lines else "it printed nothing"
