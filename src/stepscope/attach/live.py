"""live.json of a program that `stepscope record --live` runs: where it is, and what it says."""

import contextlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.attach import kernel
from stepscope.capture import scratch
from stepscope.errors import StepscopeError

NAME = "live.json"
_MOST_BYTES = 1 << 20
_HOW = (
    "start it with `stepscope record --live train.py`; `stepscope attach PID` shows the stacks of any program"
)


class LiveLook(NamedTuple):
    """What a program that is watched said last."""

    folder: Path
    """Of its recording."""
    record: dict[str, Any] | None
    """None before its first word."""
    running: bool


class WatchedProgram:
    """A program that `stepscope record --live` runs, given the folder of its recording or its process."""

    def __init__(self, target: str) -> None:
        """StepscopeError where there is none."""
        self._target = target
        self.folder = folder_of(target)

    def look(self) -> LiveLook:
        """What it said last; errors as of read()."""
        with contextlib.suppress(StepscopeError):  # the process is gone; its recording stays where it was
            self.folder = folder_of(self._target)
        record = read(self.folder)
        if record is not None:
            return LiveLook(self.folder, record, is_running(record))
        runs = kernel.is_there(int(self._target)) if _is_process(self._target) else _is_coming(self.folder)
        return LiveLook(self.folder, None, runs)

    def recorded(self, running: bool) -> str | None:
        """What tells its recording from an earlier one of the same folder; None while there is none to open.
        A recording is complete when its steps have ended, or when nobody writes it any more."""
        try:
            facts = _object(self.folder / "capture.json")
        except (OSError, ValueError):  # who opens it says what is wrong
            return None
        if facts is None or (running and not isinstance(facts.get("ended_unix_ns"), int)):
            return None
        return json.dumps([facts.get("ended_unix_ns"), facts.get("exit")])


def running(target: str) -> WatchedProgram | None:
    """The program that has a number, or is recorded into a folder, while it runs; None for what else a path
    may be. StepscopeError for a number of which there is no such program."""
    if _is_process(target):
        return WatchedProgram(target)
    try:
        record = read(Path(target))
    except (StepscopeError, ValueError):  # nothing that is watched: who opens it says what it is
        return None
    found = is_running(record) if record is not None else _is_coming(Path(target))
    return WatchedProgram(target) if found else None


def _is_coming(folder: Path) -> bool:
    """Whether a launcher of this user was told to watch a program and to record it there."""
    wanted = str(folder.absolute())
    for path in Path(tempfile.gettempdir()).glob(f"{scratch.PREFIX}*/plan.json"):
        try:
            plan = _object(path)
            if plan is not None and plan.get("live") is True and plan.get("out") == wanted:
                return not scratch.is_left(path.parent)
        except (OSError, ValueError):  # another user's, or one that is just being removed
            continue
    return False


def _is_process(target: str) -> bool:
    return target.isdecimal() and not Path(target).exists()


def folder_of(target: str) -> Path:
    """The folder of a recording, given itself or the number of the process that is recorded. StepscopeError
    where there is none."""
    if not _is_process(target):
        return Path(target)
    try:
        variables = dict(
            word.partition(b"=")[::2] for word in Path(f"/proc/{target}/environ").read_bytes().split(b"\0")
        )
        plan = json.loads(Path(os.fsdecode(variables[b"STEPSCOPE_RECORD"])).read_bytes())
        moved = Path(os.fsdecode(variables[b"STEPSCOPE_RECORD"])).parent / f"moved-{target}"
        out = json.loads(moved.read_bytes()) if moved.exists() else plan["out"]
        return Path(f"/proc/{target}/cwd").readlink() / str(out)
    except (OSError, KeyError, ValueError, TypeError) as error:
        seen = (
            f"there is no process {target}"
            if not Path(f"/proc/{target}").exists()
            else f"process {target} is not recorded ({type(error).__name__})"
        )
        raise StepscopeError("There is nothing to watch", seen=seen, todo=_HOW, slug="not-live") from error


def read(folder: Path) -> dict[str, Any] | None:
    """What the program said last; None before its first word. StepscopeError where it never will."""
    path = folder / NAME
    try:
        record = _object(path)
        if record is None:
            recording = _object(folder / "capture.json")
            plan = None if recording is None else recording.get("plan")
            if recording is not None and not (isinstance(plan, dict) and plan.get("live") is True):
                raise StepscopeError(
                    "This recording is not watched",
                    seen=f"no {NAME}",
                    todo=_HOW,
                    slug="not-live",
                    path=str(folder),
                )
        elif record.get("format") != 1:
            raise ValueError("it is of another version")
    except (OSError, ValueError) as error:
        raise StepscopeError(
            "What the program said cannot be read",
            seen=str(error),
            todo=_HOW,
            slug="not-live",
            path=str(path),
        ) from error
    return record


def _object(path: Path) -> dict[str, Any] | None:
    """A JSON object; None where there is no file."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ValueError("it is too large")
        record = strict_json.parse(path.read_bytes(), lenient=True)
    except FileNotFoundError:
        return None
    if not isinstance(record, dict):
        raise ValueError("it holds no object")
    return record


def is_running(record: dict[str, Any]) -> bool:
    """Whether the program that wrote this still runs, as far as this machine can see."""
    pid = record.get("pid")
    return not record.get("ended") and isinstance(pid, int) and kernel.is_there(pid)
