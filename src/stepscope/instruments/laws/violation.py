"""Violations of laws, as a recording shows them."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

Weakens = Literal["busy", "share", "left", "mean", "rate", "place"]
"""What a sentence may say: how long devices are busy, what a cause takes of a step, how long a step would be
without it, how long one execution takes, bytes of a second, what is waited for."""


class Violation(NamedTuple):
    """How a source breaks a law."""

    source_id: int
    run_id: str
    host_id: str
    number: int
    """How many rows break it."""
    of: int
    """How many rows were checked."""
    said: str
    """One sentence for users."""


Violations = Iterator[Violation]


class Broken(NamedTuple):
    """A law that a recording breaks: a row of the table broken_law."""

    run_id: str
    host_id: str
    source_id: int
    law: str
    """Name of its module."""
    number: int
    of: int
    said: str
    """As in Violation."""
