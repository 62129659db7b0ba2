"""Whole processes, measured in turns: wall time and peak memory of what a user would start."""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

MILLION = 1_000_000
TINY = 100
"""Events of a recording whose cost is the fixed one."""
MOST_SLOPE = 1.1
"""Of the logarithm of the time over that of the events."""
MOST_MB = 2000
"""Memory that an answer about ten million events may take."""


def of_a_million(name: str) -> float:
    """Seconds of the processor that an answer about a million events may take: a verb's first one, or one of
    the page, which has the recording decoded."""
    return 2.0 if name == "page report/first" else 3.0


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


class Outcome(NamedTuple):
    """How a process ended, and what it took with those that it waited for."""

    exit_code: int
    """The number of a signal, negative, where one ended it."""
    seconds: float
    peak_mb: float
    processor_s: float
    output: bytes
    last_words: bytes


PATIENCE = 10
"""How many times its limit of processor time a process may take by the clock: the machine may be busy."""


def run_limited(command: Sequence[str], environment: dict[str, str], limit_s: float | None) -> Outcome:
    """Runs a process to its end; beyond limit_s of processor time the system ends it with SIGXCPU."""

    def limit() -> None:
        if limit_s is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit_s), resource.RLIM_INFINITY))

    with (
        tempfile.TemporaryFile() as told,
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            list(command), stdout=told, stderr=said, env={**_surroundings(), **environment}, preexec_fn=limit
        ) as process,
    ):
        start = time.perf_counter()
        guard = None if limit_s is None else threading.Timer(PATIENCE * limit_s, process.kill)
        if guard is not None:
            guard.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if guard is not None:
            guard.cancel()
        for file in (told, said):
            file.seek(0)
        output, last_words = told.read(), said.read()
    unit = 1 if sys.platform == "darwin" else 1024  # ru_maxrss is in bytes there, in KiB elsewhere
    processor = usage.ru_utime + usage.ru_stime
    return Outcome(process.returncode, seconds, usage.ru_maxrss * unit / 1e6, processor, output, last_words)


def run_once(route: Route) -> tuple[float, float, float, dict[str, Any]]:
    """Seconds, peak resident megabytes, processor seconds, and what it tells, of one run. RuntimeError with
    its last words when it fails."""
    route.prepare()
    found = run_limited(route.command, route.environment, None)
    if found.exit_code != 0:
        raise RuntimeError(f"{route.name}: exit {found.exit_code}: {found.last_words.decode()[-500:]}")
    lines = found.output.splitlines() if route.tells else []
    return found.seconds, found.peak_mb, found.processor_s, json.loads(lines[-1]) if lines else {}


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
