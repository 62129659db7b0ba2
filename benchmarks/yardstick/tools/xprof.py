"""xprof: its overview page and its tables of ops."""

from __future__ import annotations

from pathlib import Path

from benchmarks.yardstick.answer import Answer
from benchmarks.yardstick.tools import Made, ran

NAME = "xprof"
PACKAGE = "xprof"
KINDS = ("xplane",)
ABOUT = (
    "The largest part of a mean step in the overview page; `input` where its statement says input-bound. "
    "Where it measures no steps, the first row of its table of ops: of the device, else of the host, where a "
    "`Dataset` op stands for input and any other for compute. Ops: the first three of `kernel_stats`, else "
    "of `framework_op_stats`."
)
READS_PROGRAMS = True


def program(made: Made, python: Path) -> Answer:
    """What it says of the XPlane of a recorded program."""
    found = sorted(made.recording.rglob("*.xplane.pb"))
    return ran(NAME, python, str(found[0])) if found else Answer(problem="the recording has no XPlane")


def trace(path: Path, python: Path) -> Answer:
    """What it says of an XPlane."""
    return ran(NAME, python, str(path))
