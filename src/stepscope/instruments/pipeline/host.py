"""The load of the machine, from a capture's record, which samples cores several times a second."""

from dataclasses import dataclass

FULL = 0.9
"""The CPU is full when at least this part of all cores is busy."""
OTHERS = 0.2
"""The part of the cores that other programs may keep busy before it is reported."""


@dataclass(frozen=True)
class Threads:
    """The share of the cores that some threads got: how many ran, and how many waited for a core, on
    average."""

    running: float
    waiting: float

    @property
    def stretch(self) -> float:
        """How much longer their computing took because they waited for cores; 1 when they never did."""
        return 1 + self.waiting / self.running if self.running > 0 else 1.0


@dataclass(frozen=True)
class Machine:
    """The machine during the steps, as a capture recorded it."""

    cores: int
    busy: float
    """The part of all cores that was busy, with any program."""
    busiest: float
    """The part of the time in which the busiest core was busy."""
    process_cores: float | None
    """Cores that the program kept busy."""
    program: Threads | None = None
    """Threads from before the first iterator: the program's and its framework's."""
    pipeline: Threads | None = None
    """Threads that started with the iterators, or later."""
    together: Threads | None = None
    """All threads, where these two cannot be told apart."""
    available_bytes: int | None = None
    """Memory that stayed free during the steps, at least."""
    children_cores: float = 0.0
    """Cores that processes which the program started kept busy."""

    @property
    def tells_threads(self) -> bool:
        """Whether the process's threads were recorded."""
        return self.together is not None or (self.program is not None and self.pipeline is not None)

    @property
    def others(self) -> float:
        """Cores that other programs kept busy."""
        if self.process_cores is None:
            return 0.0
        return max(self.busy * self.cores - self.process_cores - self.children_cores, 0.0)

    @property
    def crowded(self) -> bool:
        """Other programs use cores that a change of this one might need."""
        return self.full and self.others >= OTHERS * self.cores

    @property
    def full(self) -> bool:
        """No core is free for more work."""
        return self.busy >= FULL
