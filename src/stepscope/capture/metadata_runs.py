"""Runs of TF1's sessions traced for RunMetadata: after the XPlane or, where there is none, before."""

from typing import Any, Dict, FrozenSet, Tuple

from .folder import Folder
from .plan import METADATA_STEPS, STEPS, RecordingPlan
from .profiler import Profilers, now_ns


class MetadataRuns:
    """The runs of sessions that RunMetadata is taken from, and how many there were."""

    keys: FrozenSet[Tuple[Any, ...]] = frozenset()
    """The keys of the runs that RunMetadata is taken from."""
    traced = 0
    """Runs of the current step that were traced."""
    taken_before = False
    """Whether the RunMetadata of this recording was taken before it."""

    def __init__(self, plan: RecordingPlan, profilers: Profilers) -> None:
        self._plan = plan
        self._profilers = profilers
        self._taken = 0.0

    def lacks(self, how: str) -> bool:
        """Whether a recording with this kind of steps still needs some."""
        return how == "session_run" and "run_metadata" in self._plan.pieces and not self.taken_before

    def come_first(self, how: str) -> bool:
        """Whether only they show the ops: then they come first, because the program may be short."""
        if not self.taken_before:
            self._taken = 0.0
        return self.lacks(how) and not self._profilers.of_tensorflow

    def step_ended(self) -> Tuple[int, bool]:
        """A step ended that could be traced: how many of its runs were, and whether that was the last one."""
        traced, self.traced = self.traced, 0
        # Runs that the program traces itself give none; waiting for them ends at some point.
        self._taken += 1 if traced else 0.1
        # Without an XPlane, only they show the ops.
        few = METADATA_STEPS if self._profilers.of_tensorflow else STEPS
        return traced, self._taken >= min(self._plan.steps or few, few)

    def keep(self, folder: Folder, session: Dict[str, Any], cut: str) -> None:
        """The program ended while its steps were traced. Without a recording before, these are the
        recording."""
        steps = int(self._taken)
        if self._profilers.of_tensorflow or not steps:
            return
        session.update(end_unix_ns=now_ns(), steps=steps, cut=cut)
        folder.facts["sessions"].append(session)
        folder.facts["recorded"]["steps"] += steps
        folder.facts["recorded"]["sessions"] += 1

    def stand_in(self, folder: Folder, session: Dict[str, Any]) -> None:
        """The program ended before another step was recorded than those that were traced: they are the
        recording."""
        if self.taken_before and not folder.facts["recorded"]["steps"]:
            session["steps"] = folder.facts["recorded"]["steps"] = int(self._taken)
