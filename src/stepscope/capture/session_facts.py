"""One recording: its entry in capture.json, and how long it has lasted."""

from typing import Any, Dict

from .callers import Caller
from .folder import Folder
from .output import Output
from .plan import STEPS
from .profiler import now_ns


class SessionFacts:
    """The current or last recording. A recording may have parts, separated by runs that the program traced
    itself."""

    steps = 0
    """Steps recorded in this part."""

    def __init__(self) -> None:
        self.facts: Dict[str, Any] = {}
        """An entry of `sessions` in capture.json; empty before the first recording."""
        self._steps_before = 0
        self._lasted_before_ns = 0

    def name(self, caller: Caller) -> None:
        """Starts another one, or another part."""
        self.facts = {"first_step": caller.count, "how": caller.how, "name": caller.name}

    def begin(self) -> int:
        """Starts its time; returns the Unix time in nanoseconds."""
        self.facts["begin_unix_ns"] = now_ns()
        return int(self.facts["begin_unix_ns"])

    def all_steps(self) -> int:
        """Steps of all its parts."""
        return self._steps_before + self.steps

    def lasted_ns(self, end_ns: int) -> int:
        """The time of all its parts up to then."""
        return int(self._lasted_before_ns + end_ns - self.facts["begin_unix_ns"])

    def end(self, times: Dict[str, Any]) -> int:
        """Its time ends now; how long this part was, in nanoseconds. times: of threads."""
        self.facts["end_unix_ns"] = now_ns()
        self.facts["steps"] = self.steps
        self.facts.update(times)
        return int(self.facts["end_unix_ns"] - self.facts["begin_unix_ns"])

    def count(self, folder: Folder) -> None:
        """Counts the part in capture.json."""
        folder.facts["recorded"]["steps"] += self.steps
        folder.facts["recorded"]["sessions"] += 1

    def pause(self, lasted_ns: int) -> None:
        """Another part will follow the one that lasted so long."""
        self._steps_before += self.steps
        self._lasted_before_ns += lasted_ns

    def complete(self) -> None:
        """No part will follow."""
        self._steps_before = self._lasted_before_ns = 0

    def say_what_is_missing(self, output: Output, cut: str, lacks_metadata: bool, traced: bool) -> None:
        """Records that it ended early. cut: what ended it; traced: whether runs were traced before."""
        plan, beside = output.plan, " beside those that were traced" if traced else ""
        if plan.steps or plan.seconds or self.all_steps() < STEPS:
            output.problem(
                "fewer steps than asked for",
                f"{self.steps} recorded{beside} when {cut} ended it",
                "let the program run longer, or ask for less with --steps or --seconds",
            )
        if lacks_metadata:
            output.problem(
                "no RunMetadata",
                f"it is taken of steps after the XPlane, and {cut} came before",
                "ask for fewer steps with --steps",
            )
