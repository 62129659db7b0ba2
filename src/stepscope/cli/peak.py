"""The values of --peak: how much a machine does in a second."""

import argparse
import re

from stepscope.cli.console import Console
from stepscope.cli.progress import working

PEAK_HELP = "flops and bytes a second that the machine does, such as 2T,90G, or measured: of this machine"
MEASURED = (0.0, 0.0)
"""What --peak measured stands for until it is measured."""
_SUFFIX = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}


def peaks(text: str) -> tuple[float, float]:
    """What --peak takes: flops and bytes a second, such as 2T,90G, or MEASURED."""
    if text == "measured":
        return MEASURED
    found = [re.fullmatch(r"(\d+(?:\.\d+)?)([kMGTP]?)", part.strip()) for part in text.split(",")]
    numbers = [float(match[1]) * _SUFFIX[match[2]] for match in found if match is not None]
    if len(numbers) != 2 or len(found) != 2 or min(numbers) <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not two numbers above 0, such as 200G,40G")
    return numbers[0], numbers[1]


def text(peak: tuple[float, float]) -> str:
    """What to give --peak for these."""
    return "measured" if peak == MEASURED else ",".join(map(_number, peak))


def _number(value: float) -> str:
    suffix = max((unit for unit in _SUFFIX if _SUFFIX[unit] <= value), key=_SUFFIX.__getitem__, default="")
    digits = f"{value / _SUFFIX[suffix]:f}".rstrip("0").rstrip(".")
    return f"{digits}{suffix}"


def measured(peak: tuple[float, float], console: Console) -> tuple[float, float]:
    """The peaks, those of this machine measured, which stderr says. UsageError when they cannot be."""
    if peak != MEASURED:
        return peak
    from stepscope.report import xla_ops
    from stepscope.xla_tools import peaks as machine

    with working("measuring this machine", console):
        found = machine.measured()
    console.say(xla_ops.peaks(found))
    return found.flops, found.bytes
