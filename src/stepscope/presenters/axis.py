"""Axes: how high a chart reaches. Only drawing depends on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Any

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
