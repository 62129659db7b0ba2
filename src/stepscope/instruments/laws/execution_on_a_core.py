"""What counts as execution."""

from stepscope.instruments.laws.violation import Weakens

HOLDS = (
    "Only ops on the row of a core execute. Counters, units, bundles and what goes on beside the core do "
    "not, and a core that waits for a copy is not busy."
)
TOLERANCE = "None."
WEAKENS: tuple[Weakens, ...] = ("busy", "share")
KEPT_BY = "stepscope._core.decode"
