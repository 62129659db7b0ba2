"""What a tool says, in words that all tools share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Place(NamedTuple):
    """A line of a program."""

    file: str
    line: int | None
    function: str | None


class Gain(NamedTuple):
    """A step, and what it would take without the cause: a number, a range, or one of them; and by how much it
    would be shorter."""

    step_ms: float
    left_ms: float | None
    low_ms: float | None
    high_ms: float | None
    saved_ms: float | None = None
    saved_low_ms: float | None = None
    saved_high_ms: float | None = None


class Answer(NamedTuple):
    """An answer; what a tool does not say is None or empty."""

    cause: str | None = None
    """One of score.LABELS, `none` for a healthy program, or another word of the tool's."""
    or_causes: Sequence[str] = ()
    """Other labels that the tool's word may stand for."""
    limit: str | None = None
    """One of truth.LIMITS."""
    places: Sequence[Place] = ()
    """The first is the answer; of a list that the tool sorts, the first few count."""
    ops: Sequence[str] = ()
    """Ops, kernels or stages, in the same way."""
    gain: Gain | None = None
    high: Sequence[str] = ()
    """Findings that the tool marks as severe, by name."""
    busy_ms: Mapping[str, float] = {}
    """How long each device was busy."""
    step_ms: float | None = None
    said: str = ""
    """The tool's sentence, or how it was read."""
    problem: str = ""
    """Why there is no answer: an error, or a kind of input that the tool does not read."""


def of(found: Mapping[str, Any]) -> Answer:
    """An answer from JSON."""
    places = [Place(**place) for place in found.get("places", ())]
    gain = Gain(**found["gain"]) if found.get("gain") else None
    return Answer(**{**found, "places": places, "gain": gain})
