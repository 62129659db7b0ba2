"""Sleeping and waiting: for locks, files, sockets and checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from stepscope.instruments.causes.cause import LineCause
from stepscope.instruments.causes.sampled_lines import LineSearch
from stepscope.instruments.causes.thresholds import STANDS_OUT, CauseThresholds
from stepscope.instruments.thresholds import tuned


@dataclass(frozen=True, eq=False, repr=False)
class WaitThresholds(CauseThresholds):
    """Which line waits, and whether it goes as a whole."""

    stands_out: float = tuned(
        0.25, STANDS_OUT, slack=(0.008, 0.831), by=("tf1/unfed.tar.xz", "chrome/jax.trace.json.gz")
    )
    of_line: float = tuned(
        0.55,
        "a line is followed into what it calls while it has this part of the waiting: other calls, of a "
        "framework, block as well, while ops run",
        slack=(0.0, inf),
    )
    most_of_line: float = tuned(
        0.5,
        "a line that waits goes as a whole when waiting has this part of it: what it stores is copied first",
        slack=(0.0, inf),
    )


class WaitCause(LineCause):
    """Sleeping and waiting."""

    name = "wait"
    marked = True
    thresholds: WaitThresholds = WaitThresholds()

    @property
    def search(self) -> LineSearch:
        """By lines, else by the function that has them."""
        return LineSearch(most_of=self.thresholds.of_line, functions_too=True)

    @property
    def most_of_line(self) -> float:
        """The part of a line that waits from which on it goes as a whole."""
        return self.thresholds.most_of_line
