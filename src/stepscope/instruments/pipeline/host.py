"""The load of the machine, from a capture's record, which samples cores several times a second."""

from __future__ import annotations

from dataclasses import dataclass

FULL = 0.9
"""The CPU is full when at least this part of all cores is busy."""
OTHERS = 0.2
"""Part of the cores that other programs may keep busy without being told."""


@dataclass(frozen=True)
class Threads:
    """What some threads got of the cores: how many ran, and how many waited for a core, on average."""

    running: float
    waiting: float

    @property
    def stretch(self) -> float:
        """How much longer what they computed took because it waited for cores; 1 when it never did."""
        return 1 + self.waiting / self.running if self.running > 0 else 1.0


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
    program: Threads | None = None
    """Threads that were there before the first iterator: the program's and its framework's."""
    pipeline: Threads | None = None
    """Threads that came with the iterators, or after."""
    together: Threads | None = None
    """All of them, where the two cannot be told apart."""
    available_bytes: int | None = None
    """Memory that was free for more during the steps, at least."""
    children_cores: float = 0.0
    """Cores that processes kept busy which the program started."""

    @property
    def tells_threads(self) -> bool:
        """It is known what the threads of the process got of the cores."""
        return self.together is not None or (self.program is not None and self.pipeline is not None)

    @property
    def others(self) -> float:
        """Cores that other programs kept busy."""
        if self.process_cores is None:
            return 0.0
        return max(self.busy * self.cores - self.process_cores - self.children_cores, 0.0)

    @property
    def crowded(self) -> bool:
        """Other programs take cores that a change of this one might need."""
        return self.full and self.others >= OTHERS * self.cores

    @property
    def full(self) -> bool:
        """No core is left for more work."""
        return self.busy >= FULL
