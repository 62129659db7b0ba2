"""Notes of processes for the launcher, which says why nothing was recorded.

They are files in the launcher's own folder: `python-PID` for each process of Python that loaded the hook,
`framework-PID` for those that imported a framework, `seen-PID` with the calls seen, `problem-*`, and `claim`,
which the one process that records makes; every other one that wants to leaves `beside-PID`. Used from code,
there is no such folder and no note.
"""

import contextlib
import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Dict, List

from . import clocks
from .log_filter import write
from .pace import StepWatcher
from .plan import RecordingPlan

_seen_at: Dict[str, float] = {}
"""When the calls were last written, by the folder of the launcher."""


def process(plan: RecordingPlan, kind: str, value: Any = None) -> None:
    """Writes `kind`-PID."""
    _leave(plan, f"{kind}-{os.getpid()}", json.dumps(value))


def course(plan: RecordingPlan, kind: str, name: str, steps: int, out: Path) -> None:
    """Writes `kind`-PID of a recording that begins (recording) or is complete (recorded). steps: the first
    step, counted from 0, or how many there are; out: where it is."""
    process(plan, kind, [name, steps, clocks.time_ns(), str(out)])


def kept(plan: RecordingPlan, why: str, path: Path) -> None:
    """Writes that the last steps were saved, why, and where."""
    process(plan, "kept", [why, 0, clocks.time_ns(), str(path)])


def seen(plan: RecordingPlan, frameworks: List[str], pace: StepWatcher, last: bool = False) -> None:
    """Writes the calls seen so far; at most every 50 ms, because it delays the program, unless it is the last
    time."""
    if plan.state is None:
        return
    now = time.monotonic()
    calls = sum(caller.count for caller in pace.callers.values())
    if calls > 4 and not last and now - _seen_at.get(plan.state, 0) < 0.05:
        return
    _seen_at[plan.state] = now
    process(plan, "seen", {"frameworks": frameworks, "warmup": pace.warmup, "calls": pace.counted_calls()})


def problem(plan: RecordingPlan, what: str, seen: str, todo: str) -> None:
    """Writes a problem."""
    text = json.dumps([what, seen, todo])
    name = hashlib.sha256(text.encode("utf-8")).hexdigest()[:16]
    _leave(plan, f"problem-{os.getpid()}-{name}", text)


def claim(plan: RecordingPlan) -> bool:
    """True for the first process that asks, and for that one every time it asks."""
    if plan.state is None:
        return True
    path = Path(plan.state) / "claim"
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        return path.read_text(encoding="utf-8") == str(os.getpid())
    except OSError:  # the launcher is gone, and nobody waits for a recording
        return False
    return True


def note_sibling(plan: RecordingPlan, steps: str) -> None:
    """Writes that this process took steps while another one records. steps: their kind."""
    script = Path((getattr(sys, "argv", None) or [""])[0]).name  # a host of Python may set none
    process(plan, "beside", [script, steps])


def moved(plan: RecordingPlan, path: Path) -> None:
    """Writes where the recording is now; prints it at once when this disk is full, too."""
    if not _leave(plan, f"moved-{os.getpid()}", json.dumps(str(path))) and plan.state is not None:
        write(f"stepscope: the recording is in {path}\n".encode("utf-8", "backslashreplace"))


def _leave(plan: RecordingPlan, name: str, text: str) -> bool:
    # A process may outlive its launcher, whose folder is gone by then; or the disk is full. Notes explain why
    # nothing was recorded: the program does not fail for want of one.
    if plan.state is not None and Path(plan.state).is_dir():
        with contextlib.suppress(OSError):
            (Path(plan.state) / name).write_text(text, encoding="utf-8")
            return True
    return False
