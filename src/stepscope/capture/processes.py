"""Names of processes: the system gives numbers again, so the time of the start belongs to them."""

import os
from pathlib import Path
from typing import Optional


def identity(pid: int) -> str:
    """A line that identifies a process among all others, past and future: its id, when it began, and where.
    Unknown parts are a ?."""
    began = _began(pid)
    return f"{pid} {'?' if began is None else began} {_where()}"


def is_gone(owner: str) -> bool:
    """True when the process of an `identity` has certainly ended; False where that is unknown, as for one on
    another machine or in another container. ValueError for anything but an identity."""
    number, began, where = owner.split(" ", 2)
    pid = int(number)
    if where != _where() or pid <= 0 or os.name != "posix":  # elsewhere, to ask would end it
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:  # another user's process has the number
        pass
    now = _began(pid)
    return began != "?" and now is not None and str(now) != began


def _began(pid: int) -> Optional[int]:
    """When a process began, in ticks since the machine did."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):  # it has ended, is hidden, or this is not Linux
        return None


def _where() -> str:
    """Where process numbers mean the same: on a machine since it was started, in one container."""
    machine = os.uname().nodename if hasattr(os, "uname") else "?"
    return f"{machine} {_boot()} {_namespace()}"


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii", errors="replace").strip()
    except OSError:  # not Linux, or it is hidden
        return "?"


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "?"
