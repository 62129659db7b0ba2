"""Thresholds: numbers by which a cause is judged, each with what it means and how much it may change.

A threshold is a field of a dataclass in the module that uses it. `stepscope docs causes` prints them all, and
`python -m tests.instruments.threshold_slack` measures anew between which values no answer changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple, TypeVar

_Number = TypeVar("_Number", int, float)


def tuned(value: _Number, means: str, *, low: float, high: float, by: tuple[str, ...] = ()) -> _Number:
    """A field of a dataclass of thresholds. low, high: between which values the answers about all recordings
    stay the same; by: recordings whose answers change outside of these, to which the value was fitted."""
    found: Any = field(default=value, metadata={"means": means, "low": low, "high": high, "by": by})
    return found  # type: ignore[no-any-return]


class Threshold(NamedTuple):
    """A threshold with what is known of it."""

    name: str
    value: float
    means: str
    low: float
    high: float
    by: tuple[str, ...]


def thresholds_of(group: Any) -> Iterator[Threshold]:
    """The thresholds of an instance of such a dataclass."""
    for one in fields(group):
        known = one.metadata
        yield Threshold(
            one.name, getattr(group, one.name), known["means"], known["low"], known["high"], known["by"]
        )


@dataclass(frozen=True)
class CauseThresholds:
    """From where on a label is a cause."""

    stands_out: float = tuned(
        0.25,
        "a label is what limits a step from this part of it on, even where compute takes more: it can be had "
        "without changing the model",
        low=0,
        high=0,
    )
