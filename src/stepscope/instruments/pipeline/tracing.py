"""The cost of tracing: steps with a profiler compared with steps without one.

An event costs its thread about a microsecond, more than a small op takes. A recorder sees steps before it
traces any; how much shorter these are shows the cost, as far as events explain it.
"""

from dataclasses import dataclass

_MOST_EVENT_PS = 2 * 10**6
"""No event costs more: the rest of a difference comes from other programs, or from full buffers."""


@dataclass(frozen=True)
class TracingPace:
    """Mean steps with and without a profiler, as the recorder saw them."""

    traced_ps: float
    untraced_ps: float
    events: float
    """Events of a traced step, over all threads of the host."""

    @property
    def untraced_share(self) -> float:
        """An untraced step as part of a traced one; 1 where tracing costs nothing."""
        cost_ps = min(self.traced_ps - self.untraced_ps, self.events * _MOST_EVENT_PS)
        return 1 - max(cost_ps, 0.0) / self.traced_ps if self.traced_ps > 0 else 1.0
