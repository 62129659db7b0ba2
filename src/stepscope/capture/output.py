"""The output of a recorder: its folder, created on first use, and its problems."""

from typing import Any, Dict, Iterable, List, Optional, Tuple

from . import clocks, environment, notes
from .callers import FRAMEWORK, Caller, Span
from .folder import Folder
from .plan import RecordingPlan


class Output:
    """Writes the recording. problem() and failed() do not raise."""

    folder: Optional[Folder] = None

    def __init__(self, plan: RecordingPlan) -> None:
        self.plan = plan
        self.problems: List[Tuple[str, str, str]] = []
        self.cost: Dict[str, int] = {}
        """Nanoseconds by piece."""
        self._compilations: List[Dict[str, Any]] = []
        """Compilations from before the folder was created."""

    def failed(self, piece: str, error: BaseException) -> None:
        """Records that a piece is missing."""
        self.problem(
            f"{piece} could not be recorded",
            f"{type(error).__name__}: {error}",
            "report it, or leave the piece out if it is not needed",
        )

    def problem(self, what: str, seen: str, todo: str) -> None:
        """Records what is missing and why."""
        if (what, seen, todo) not in self.problems:
            self.problems.append((what, seen, todo))
        if self.folder is not None:
            self.folder.problem(what, seen, todo)
        notes.problem(self.plan, what, seen, todo)

    def charge(self, name: str, begin_perf_ns: int) -> None:
        """Adds the time since then to the cost of a piece."""
        self.cost[name] = self.cost.get(name, 0) + clocks.perf_counter_ns() - begin_perf_ns

    def open(self, callers: Iterable[Caller]) -> Folder:
        """The folder, created at the first call. callers: possible steps. OSError where there is no place for
        it."""
        if self.folder is None:
            self.folder = Folder(
                self.plan.out, environment.start_facts(self.plan), lambda path: notes.moved(self.plan, path)
            )
            for what, seen, todo in self.problems:
                self.folder.problem(what, seen, todo)
            for line in self._compilations:
                self.write_compilation(line)
            self._compilations = []
        self.folder.facts["framework"] = sorted({FRAMEWORK[caller.how] for caller in callers})
        return self.folder

    def write_compilation(self, line: Dict[str, Any]) -> None:
        """Writes pending compilations, once there is a folder."""
        if self.folder is None:
            self._compilations.append(line)
        else:
            self.folder.line("compilations.ndjson", "compilations", line)

    def save(self) -> None:
        """Writes the cost of the pieces, and all facts."""
        assert self.folder is not None
        self.folder.facts["cost"] = dict(self.cost)
        self.folder.save()


def write_step(folder: Folder, number: int, caller: Caller, span: Span, recorded: bool, **more: Any) -> None:
    """Writes a line about a step. span: begin of the step, begin of the call, end."""
    begin_ns, call_ns, end_ns = span
    line = {
        "step": number,
        "begin_unix_ns": begin_ns,
        "end_unix_ns": end_ns,
        "how": caller.how,
        "recorded": recorded,
        "call_unix_ns": call_ns,
    }
    folder.line("steps.ndjson", "steps", {**line, **more})


def write_earlier(folder: Folder, caller: Caller) -> None:
    """Writes the steps before the recording."""
    for number, span in enumerate(caller.spans, caller.count - len(caller.spans)):
        write_step(folder, number, caller, span, False)
