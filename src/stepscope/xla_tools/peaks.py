"""The peaks of this machine: a product of matrices and a pass over a long array, both of 32-bit floats.

They are measured in a process of their own, which may load a large library and take the memory of a device.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from stepscope.errors import UsageError

_CHILD = Path(__file__).with_name("peaks_child.py")
_SECONDS = 120


class Peaks(NamedTuple):
    """flops and bytes: of a second. device and library: what did them."""

    flops: float
    bytes: float
    device: str
    library: str


def measured(python: str = sys.executable) -> Peaks:
    """What the first device does. UsageError when nothing is installed to measure with, or it fails."""
    try:
        done = subprocess.run(
            [python, str(_CHILD)], capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )
        measurement = json.loads(done.stdout)
        return Peaks(
            float(measurement["flops"]),
            float(measurement["bytes"]),
            measurement["device"],
            measurement["library"],
        )
    except subprocess.TimeoutExpired:
        seen = f"it took more than {_SECONDS} s"
    except OSError as error:
        seen = str(error)
    except ValueError:
        seen = (done.stderr.strip().splitlines() or ["neither jax nor NumPy is installed"])[-1]
    raise UsageError(
        "The peaks of the machine could not be measured",
        seen=seen,
        todo="install jax or NumPy, or give the peaks: --peak 200G,40G",
    )
