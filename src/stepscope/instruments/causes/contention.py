"""Contention for cores: how much of the processor time that a program wanted it got."""

from dataclasses import dataclass, replace

from stepscope.instruments.causes.query_cache import AskHost
from stepscope.instruments.thresholds import tuned


@dataclass(frozen=True, eq=False, repr=False)
class ContentionThresholds:
    """When a machine is too busy to tell launching from waiting for cores."""

    busy: float = tuned(1.0, "threads that wait for a core, for each that runs")
    oversubscribed: float = tuned(
        3.0,
        "threads of a program that run or wait for a core, for each core: its pools have one for each",
        fitted_on="programs of two frameworks on two busy cores",
    )


THRESHOLDS = ContentionThresholds()


@dataclass(frozen=True)
class Contention:
    """The cores that a program wanted, and those it got."""

    running: float
    """Threads that ran, on average."""
    waiting: float
    """Threads that waited for a core."""
    ran: float | None = None
    """The part of its launching time in which the thread that runs the steps ran, if samples show it."""
    queued: float = 0.0
    """The part of that time in which it was runnable without a core."""
    children: float = 0.0
    """Cores used by processes that the program started, on average."""
    later: float | None = None
    """Threads made with the iterators, or later, that ran or waited for a core; None if they cannot be told
    from the others."""
    cores: int | None = None
    """Cores of the machine; None if unknown."""

    @property
    def oversubscribed(self) -> bool:
        """Whether the program itself wants far more cores than there are."""
        wanted = self.running + self.waiting
        return self.cores is not None and wanted >= THRESHOLDS.oversubscribed * self.cores

    @property
    def launching(self) -> float:
        """The part of launching that is not spent waiting for cores. The launching thread waits for one
        itself, or for other threads of the framework, which wait like all of the program's."""
        if self.ran is None:
            return 1.0
        others = max(1.0 - self.ran - self.queued, 0.0)
        return min(self.ran + others * self.had_cores, 1.0)

    @property
    def thread_had_core(self) -> float:
        """The part of the time in which the thread that runs the steps wanted a core and had one, if samples
        show it; else that of all threads."""
        if self.ran is None:
            return self.had_cores
        wanted = self.ran + self.queued
        return self.ran / wanted if wanted else 1.0

    @property
    def had_cores(self) -> float:
        """The part of the time in which the program's threads wanted a core and had one."""
        wanted = self.running + self.waiting
        return self.running / wanted if wanted else 1.0

    @property
    def busy(self) -> bool:
        """Whether the machine was too busy to tell launching from waiting for cores."""
        return self.waiting >= THRESHOLDS.busy * self.running and self.waiting > 0


def contention_of(ask: AskHost) -> Contention | None:
    """That of a host; None where it is not recorded."""
    rows = ask("contention")
    if not rows or rows[0][0] is None or rows[0][1] is None:
        return None
    ((running, waiting, later, cores, children, launching_ps, ran_ps, queued_ps),) = rows
    found = Contention(running, waiting, children=children or 0.0, later=later, cores=cores)
    if not launching_ps:
        return found
    return replace(found, ran=ran_ps / launching_ps, queued=queued_ps / launching_ps)
