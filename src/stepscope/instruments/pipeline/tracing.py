"""The cost of tracing: steps that were not traced, beside those that were.

An event costs the thread it is on about a microsecond, more than a small op takes itself. A recorder saw
steps before it traced any; by how much those were shorter tells it, as far as events explain it.
"""

from __future__ import annotations

from dataclasses import dataclass

_MOST_EVENT_PS = 2 * 10**6
"""No event costs more: the rest of a difference is other programs', or buffers that were filled."""


@dataclass(frozen=True)
class TracingPace:
    """Steps with and without a profiler, as the recorder saw them; means."""

    traced_ps: float
    untraced_ps: float
    events: float
    """Events of a traced step, over all threads of the host."""

    @property
    def untraced_share(self) -> float:
        """A step that is not traced, as part of one that is; 1 where tracing costs nothing."""
        cost_ps = min(self.traced_ps - self.untraced_ps, self.events * _MOST_EVENT_PS)
        return 1 - max(cost_ps, 0.0) / self.traced_ps if self.traced_ps > 0 else 1.0
