"""The least time that a machine needs for operations and bytes, and which of them binds."""

from typing import Literal

Bound = Literal["compute", "memory"]
_PS = 10**12


def least(flops: float, moved: float, peak_flops: float, peak_bytes: float) -> tuple[Bound, int]:
    """What takes longer at the peaks, of a second, and how long in picoseconds: at best both run at once."""
    compute, memory = flops / peak_flops, moved / peak_bytes
    return "compute" if compute > memory else "memory", round(max(compute, memory) * _PS)
