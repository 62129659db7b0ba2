"""How busy the machine was: from a capture's record, which samples cores several times a second."""

from __future__ import annotations

from dataclasses import dataclass

FULL = 0.9
"""The CPU is full when at least this part of all cores is busy."""


@dataclass(frozen=True)
class Machine:
    """The machine during the steps, from a capture's record."""

    cores: int
    busy: float
    """Part of all cores that was busy, by anybody."""
    busiest: float
    """Part of the time that the busiest core was busy."""
    process_cores: float | None
    """Cores that the program kept busy."""

    @property
    def full(self) -> bool:
        """No core is left for more work."""
        return self.busy >= FULL
