"""Whole processes, measured in turns: wall time and peak memory of what a user would start."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Route:
    """One way to do some work: a command, and what to do before each run (outside of the measurement)."""

    name: str
    command: Sequence[str]
    prepare: Callable[[], None] = lambda: None
    environment: dict[str, str] = field(default_factory=dict)
    tells: bool = False
    """Whether the last line that it prints is a JSON object about its inside."""


@dataclass(frozen=True)
class Measured:
    """Median over the runs; `spread` is slowest over fastest."""

    seconds: float
    peak_mb: float
    spread: float
    runs: int
    processor_seconds: float
    """Median, of all threads and the system on their behalf."""


def _surroundings() -> dict[str, str]:
    """The environment of all routes. Installed packages have their bytecode; a shell that forbids to write it
    would have every route compile its modules in each run."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def run_once(route: Route) -> tuple[float, float, float, dict[str, Any]]:
    """Seconds, peak resident megabytes, processor seconds, and what it tells, of one run. RuntimeError with
    its last words when it fails."""
    route.prepare()
    with (
        tempfile.TemporaryFile() as told,
        subprocess.Popen(
            list(route.command),
            stdout=told if route.tells else subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**_surroundings(), **route.environment},
        ) as process,
    ):
        start = time.perf_counter()
        assert process.stderr is not None
        last_words = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        lines = told.read().splitlines()
    if process.returncode != 0:
        raise RuntimeError(f"{route.name}: exit {process.returncode}: {last_words.decode()[-500:]}")
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, in KiB elsewhere
    processor = usage.ru_utime + usage.ru_stime
    return seconds, usage.ru_maxrss * unit / 1e6, processor, json.loads(lines[-1]) if lines else {}


def in_turns(routes: Sequence[Route], rounds: int) -> tuple[dict[str, Measured], dict[str, dict[str, Any]]]:
    """Runs all routes once per round, so that a busy moment of the machine hits all of them alike.

    Returns the figures, and what each route told in the last round.
    """
    results: dict[str, list[tuple[float, float, float]]] = {route.name: [] for route in routes}
    inside = {}
    for _ in range(rounds):
        for route in routes:
            seconds, peak_mb, processor, told = run_once(route)
            results[route.name].append((seconds, peak_mb, processor))
            if told:
                inside[route.name] = told
    measured = {}
    for name, runs in results.items():
        times = sorted(run[0] for run in runs)
        peak = max(run[1] for run in runs)
        processor = statistics.median(run[2] for run in runs)
        measured[name] = Measured(statistics.median(times), peak, times[-1] / times[0], len(runs), processor)
    return measured, inside


def warm(path: Path) -> None:
    """Brings a file into the page cache."""
    with path.open("rb", buffering=0) as file:
        buffer = bytearray(1 << 23)
        while file.readinto(buffer):
            pass
