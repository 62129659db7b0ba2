"""TraceLens: its timeline of a GPU and its table of kernels."""

from __future__ import annotations

from pathlib import Path

from benchmarks.yardstick.answer import Answer
from benchmarks.yardstick.tools import Made, ran

NAME = "tracelens"
PACKAGE = "TraceLens"
KINDS = ("kineto", "xplane")
ABOUT = (
    "The largest of computation, exposed communication, exposed memcpy and idle in `get_df_gpu_timeline`, "
    "with unlinked kernels, and its `busy_time`; the first three of its kernels by total time."
)
READS_PROGRAMS = True


def program(made: Made, python: Path) -> Answer:
    """What it says of the XPlane of a recorded program: nothing so far, for it reads GPUs."""
    found = sorted(made.recording.rglob("*.xplane.pb"))
    return ran(NAME, python, str(found[0])) if found else Answer(problem="the recording has no XPlane")


def trace(path: Path, python: Path) -> Answer:
    """What it says of a trace."""
    return ran(NAME, python, str(path))
