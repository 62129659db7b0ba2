"""What counts as compiling."""

from stepscope.instruments.laws.violation import Weakens

HOLDS = (
    "Time counts to compiling only where something traces, lowers, generates code or compiles. Code that "
    "was compiled before, and what looks it up and calls it, launches. Allocating memory of a device, and "
    "loading code onto it, is neither."
)
TOLERANCE = "None."
WEAKENS: tuple[Weakens, ...] = ("share", "left", "place")
KEPT_BY = "stepscope.instruments.step_breakdown.labels.slice_meaning"
