"""Standard errors of the remaining time of a step, from its steps and samples."""

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean

from stepscope.instruments.step_breakdown.labels import ON_DEVICES

_BY_STACKS = frozenset({"python", "wait"})
"""Labels that only stacks show."""
_TOLD = frozenset({*ON_DEVICES, "compile", "dispatch", "input", "setup", "idle"})
"""Labels that slices show, if there are any."""


def error_of_median(left: Sequence[int]) -> float:
    """The standard error of the middle one, by how far the quarters of the steps are apart. left: in
    order."""
    number = len(left)
    return 1.25 * (left[number - 1 - number // 4] - left[number // 4]) / 1.35 / sqrt(number)


def error_of_samples(
    steps: Sequence[tuple[int, Mapping[str, int]]], cause: str, left: float, samples: int | None
) -> float:
    """The standard error of the remaining time that comes from sampling. Of few samples none of which shows
    the cause, the next recording may have a few that do. Times of slices have no such error."""
    whole = fmean(dur_ps for dur_ps, _ in steps)
    if not samples or whole <= 0:
        return 0.0
    by_slices = _TOLD if cause in _BY_STACKS else ON_DEVICES
    expected_saving = fmean(
        sum(ps for label, ps in parts.items() if label in by_slices and label != cause) for _, parts in steps
    )
    sampled = whole - expected_saving
    number = samples * sampled / whole
    if number <= 0:
        return 0.0
    share = min(max((left - expected_saving) / sampled, 1 / max(number, 2.0)), 0.5)
    return sampled * sqrt(share * (1 - share) / number)
