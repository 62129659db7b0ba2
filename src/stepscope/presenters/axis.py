"""Axes: how high a chart reaches and where its marks are. Only drawing depends on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from stepscope import units
from stepscope.units import Unit

_FAR_OUT = 4
"""A value this many times the median is far out: it would press all others flat."""


def size(value: Any) -> float:
    """The length of what is drawn: what is unknown, not a number or negative has none."""
    is_length = isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
    return float(value) if is_length and math.isfinite(value) else 0.0


def ceiling(values: Sequence[float]) -> float:
    """The top of the axis: the largest value, or, when a few are far out, the largest of the others.
    Those above are cut and say so."""
    present = sorted(v for v in values if v > 0)
    if not present:
        return 0.0
    bound = _FAR_OUT * median(present)
    near = [v for v in present if v <= bound]
    few = len(present) - len(near) <= max(1, len(present) // 10)
    return near[-1] if few and len(near) >= 3 else present[-1]


@dataclass(frozen=True)
class Ticks:
    """Marks of an axis: their places in the unit of the values, and their labels."""

    places: tuple[float, ...]
    labels: tuple[str, ...]


def ticks(top: float, unit: Unit, about: int = 4) -> Ticks:
    """Round marks from 0 up to `top`, about that many."""
    if top <= 0:
        return Ticks((0.0,), ("0",))
    scale = units.scale(unit, [top])
    per = scale.divisor or 0.01  # shares are written as hundredths
    reach = top / per
    rough = 10.0 ** math.floor(math.log10(reach / about))
    step = next(rough * m for m in (1, 2, 5, 10) if reach / (rough * m) <= about + 0.5)
    if unit == "int":
        step = max(1.0, step)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    marks = [i * step for i in range(int(reach / step + 1e-9) + 1)]
    return Ticks(
        tuple(mark * per for mark in marks),
        tuple(f"{mark:,.{decimals}f} {scale.symbol}".strip() for mark in marks),
    )
