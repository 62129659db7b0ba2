"""Thresholds: numbers by which something is decided, each with what it means and how much it may change.

A threshold is a field of a dataclass in the module that uses it. `stepscope docs causes` prints them all, and
`python -m tests.instruments.threshold_slack` measures anew between which values no answer changes.
"""

from collections.abc import Iterator
from dataclasses import field, fields
from math import inf
from typing import Any, NamedTuple, TypeVar

_Number = TypeVar("_Number", int, float)

CULPRITS = "programs with a known culprit (benchmarks/yardstick)"
DRAWN = "cases drawn in the tests"
MEASURED = "measured alone, on two cores"
ANY = (0.0, inf)
"""The slack of a threshold by which no answer about a sample changes."""


def tuned(
    value: _Number,
    means: str,
    *,
    fitted_on: str = CULPRITS,
    slack: tuple[float, float] | None = None,
    by: tuple[str, ...] = (),
) -> _Number:
    """A field of a dataclass of thresholds.

    fitted_on: the recordings that it was chosen by. slack: between which values no answer about a recording
    in tests/samples changes; None where that was not measured. by: the recordings whose answers change first.
    """
    known = {"means": means, "fitted_on": fitted_on, "slack": slack, "by": by}
    found: Any = field(default=value, metadata=known)
    return found  # type: ignore[no-any-return]


class Threshold(NamedTuple):
    """A threshold with what is known of it."""

    name: str
    value: float
    means: str
    fitted_on: str
    slack: tuple[float, float] | None
    by: tuple[str, ...]

    def range(self) -> str:
        """The slack in words."""
        if self.slack is None:
            return "not measured"
        low, high = self.slack
        if low <= 0:
            return "any value" if high == inf else f"up to {high:,.3g}"
        return f"from {low:,.3g}" if high == inf else f"{low:,.3g} to {high:,.3g}"


def thresholds_of(group: Any) -> Iterator[Threshold]:
    """The thresholds of an instance of such a dataclass."""
    for threshold in (threshold for threshold in fields(group) if threshold.metadata):
        yield Threshold(threshold.name, getattr(group, threshold.name), **threshold.metadata)
