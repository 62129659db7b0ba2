"""live.json of a program that `stepscope record --live` runs: where it is, and what it says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from stepscope import strict_json
from stepscope.attach import kernel
from stepscope.errors import StepscopeError

NAME = "live.json"
_MOST_BYTES = 1 << 20
_HOW = (
    "start it with `stepscope record --live train.py`; `stepscope attach PID` shows the stacks of any program"
)


def folder_of(target: str) -> Path:
    """The folder of a recording, given itself or the number of the process that is recorded. StepscopeError
    where there is none."""
    if not target.isdecimal() or Path(target).exists():
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
    """Whether the program that said this runs on, as far as it can be told here."""
    pid = record.get("pid")
    return not record.get("ended") and isinstance(pid, int) and kernel.is_there(pid)
