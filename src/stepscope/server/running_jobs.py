"""Programs that still run while their recordings are served, and the recordings that are ready to open."""

import time
from typing import Any

from stepscope.attach import live
from stepscope.errors import NothingFound
from stepscope.report.live_state import LiveState, state
from stepscope.step_labels import LOOKS


class RunningJobs:
    """The running programs among some paths, as `stepscope top` shows them. Thread-safe."""

    def __init__(self, paths: list[str]) -> None:
        """paths: of recordings, or process ids, which become the folders of their recordings; more may be
        appended. StepscopeError for the id of a process without a recording."""
        self._paths = paths
        self._programs: dict[str, live.WatchedProgram] = {}
        """By their paths."""
        for at, path in enumerate(paths):
            if (program := live.running(path)) is not None:
                paths[at] = str(program.folder)
                self._programs[paths[at]] = program
        self._opened: dict[str, str | None] = {}
        """The recorded part of each program that is open, as WatchedProgram.recorded() returns it."""
        self.open: tuple[str, ...] = ()
        """The paths to open: all but programs without a complete recording."""
        self.opened()

    @property
    def waits(self) -> bool:
        """Whether nothing can be opened until a program has recorded something."""
        return bool(self._programs) and not self.open

    def opened(self) -> tuple[str, ...]:
        """Prepares to open the recordings. Programs that have ended become ordinary recordings."""
        looks = {path: program.look() for path, program in self._programs.items()}
        self._opened = {path: self._programs[path].recorded(looks[path].running) for path in looks}
        self.open = tuple(
            str(self._programs[path].folder) if path in self._programs else path
            for path in self._paths
            if self._opened.get(path, "") is not None
        )
        for path, known in self._opened.items():
            if known is not None and not looks[path].running:
                self._paths[self._paths.index(path)] = str(self._programs.pop(path).folder)
        return self.open

    def need_something(self) -> None:
        """NothingFound where nothing can be opened yet."""
        if self.waits:
            raise NothingFound(
                "Nothing has been recorded yet.",
                seen="a program that runs, and no step of it",
                todo="look at it as it runs, until its first steps are recorded",
            )

    def document(self) -> dict[str, Any]:
        """All programs as they are now. StepscopeError where one cannot be read."""
        programs = list(self._programs.items())  # another thread may open the recordings meanwhile
        return {"waits": self.waits, "jobs": [self._job(path, program) for path, program in programs]}

    def _job(self, path: str, program: live.WatchedProgram) -> dict[str, Any]:
        folder, record, running = program.look()
        recorded = program.recorded(running)
        open_now = recorded is not None and recorded == self._opened.get(path)
        return {
            "folder": str(folder),
            "began": record is not None,
            "running": running,
            "recording": "none" if recorded is None else "open" if open_now else "new",
            **_job_members(state(record, running, time.time_ns(), str(folder))),
        }


def _job_members(found: LiveState) -> dict[str, Any]:
    members = dict(vars(found))
    members["parts"] = [{**part._asdict(), "about": LOOKS[part.label].about} for part in found.parts]
    members["lines"] = [line._asdict() for line in found.lines]
    return members
