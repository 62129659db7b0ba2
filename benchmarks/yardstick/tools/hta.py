"""HolisticTraceAnalysis: its temporal breakdown and its breakdown of kernels."""

from __future__ import annotations

from pathlib import Path

from benchmarks.yardstick.answer import Answer
from benchmarks.yardstick.tools import ran

NAME = "hta"
PACKAGE = "HolisticTraceAnalysis"
KINDS = ("kineto",)
ABOUT = (
    "The largest of compute, idle and non-compute time in `get_temporal_breakdown`, with the last step, "
    "without rounding (`HTA_DISABLE_NS_ROUNDING`), and with pandas 2; non-compute is communication or copy, "
    "whichever `get_gpu_kernel_breakdown` finds longer. Busy time: kernel time less idle time. Ops: the "
    "first three kernels of the breakdown by their sum."
)
READS_PROGRAMS = False


def trace(path: Path, python: Path) -> Answer:
    """What it says of a trace."""
    return ran(NAME, python, str(path))
