"""The plan of a recording: how long to wait, how much to take, which pieces."""

import json
from pathlib import Path
from typing import Any, Dict, Optional, Tuple

PIECES = (
    *("xplane", "run_metadata", "model_proto", "datasets", "graph", "op_log", "machine", "stacks"),
    "memory",
)
"""The pieces of a recording; each can be left out."""

WARMUP = 3
STEPS = 10
SECONDS = 1.0
PATIENCE = 60.0
METADATA_STEPS = 3
MOST_RING = 10_000


class RecordingPlan:
    """A recording as asked for.

    warmup: settled steps to let go by first, those without tracing or compilation. steps, seconds: the length
    of one recording; with neither it lasts at least STEPS steps and SECONDS seconds, so that bursts of the
    input show, but after PATIENCE seconds ends with the step that runs, or without it when
    none has ended for so long. every: a recording each so many
    steps. state: the launcher's folder for notes of processes; None when used from code.
    live: whether steps are watched on to the end of the program, for whoever looks while it runs.
    ring: how many of the last steps are kept in full meanwhile, for a moment that matters; implies live.
    allocations: whether PyTorch's profiler keeps each allocation, and the line that it was for.
    """

    def __init__(
        self,
        out: str,
        warmup: int = WARMUP,
        steps: Optional[int] = None,
        seconds: Optional[float] = None,
        every: Optional[int] = None,
        pieces: Tuple[str, ...] = PIECES,
        state: Optional[str] = None,
        version: str = "",
        live: bool = False,
        ring: Optional[int] = None,
        allocations: bool = False,
    ) -> None:
        unknown = sorted(set(pieces) - set(PIECES))
        if unknown:
            raise ValueError("no such piece: {} (there are {})".format(", ".join(unknown), ", ".join(PIECES)))
        for name, value, least in (
            ("warmup", warmup, 0),
            ("steps", steps, 1),
            ("every", every, 1),
            ("ring", ring, 1),
        ):
            if value is not None and (isinstance(value, bool) or int(value) != value or value < least):
                raise ValueError(f"{name} must be a whole number from {least} on, not {value!r}")
        if ring is not None and ring > MOST_RING:
            raise ValueError(f"ring must be at most {MOST_RING}, not {ring!r}: it is held in memory")
        if seconds is not None and not 0 < seconds < float("inf"):
            raise ValueError(f"seconds must be a number above 0, not {seconds!r}")
        if steps is not None and seconds is not None:
            raise ValueError("give steps or seconds, not both")
        self.out = str(out)
        self.warmup = warmup
        self.steps = steps
        self.seconds = seconds
        self.every = every
        self.pieces = tuple(pieces)
        self.state = state
        self.version = version
        self.live = live or ring is not None
        self.ring = ring
        self.allocations = allocations

    @property
    def mode(self) -> str:
        """record for the launcher, code when the program asked for it itself."""
        return "record" if self.state else "code"

    def enough(self, steps: int, seconds: float) -> bool:
        """Whether a recording with this many steps, and of this length, may end."""
        if self.seconds is not None:
            return steps >= 1 and seconds >= self.seconds
        if self.steps is not None or self.every is not None:
            return steps >= (self.steps or STEPS)
        return (steps >= STEPS and seconds >= SECONDS) or (steps >= 1 and seconds >= PATIENCE)

    def gives_up(self, seconds: float) -> bool:
        """True when no step has ended for so long that a recording does not wait for the next."""
        return self.seconds is self.steps is self.every is None and seconds > PATIENCE

    def asked(self) -> Dict[str, Any]:
        """The plan in the capture: only the options that were given."""
        options: Dict[str, Any] = {"warmup": self.warmup}
        for name in ("steps", "seconds", "every", "ring"):
            if getattr(self, name) is not None:
                options[name] = getattr(self, name)
        for name in ("live", "allocations"):
            if getattr(self, name):
                options[name] = True
        if "steps" not in options and "seconds" not in options:
            options["default"] = {"least_steps": STEPS}
            if self.every is None:
                options["default"].update(least_seconds=SECONDS, patience_seconds=PATIENCE)
        return options

    def save(self, path: Path) -> None:
        """Writes the plan for the process that records."""
        path.write_text(json.dumps(vars(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "RecordingPlan":
        """Reads a plan that save wrote."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        fields["pieces"] = tuple(fields["pieces"])
        return cls(**fields)
