"""Facts from the kernel about a process: its threads, and why it may not be traced. Linux only."""

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from stepscope.errors import NothingFound, StepscopeError
from stepscope.escapes import printable

SYS_PTRACE = 19
"""The number of CAP_SYS_PTRACE, which tracing other users' processes takes."""

_STATES = {
    "R": "running", "S": "sleeping", "D": "waiting for a device", "T": "stopped", "t": "traced", "Z": "ended",
    "X": "ended", "I": "idle",
}  # fmt: skip
_MOST_BYTES = 1 << 16
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Task:
    """A thread. state: a word. waits_in: the function of the kernel that it waits in, if that may be read."""

    tid: int
    name: str
    state: str
    waits_in: str | None


def tasks(pid: int) -> list[Task]:
    """The threads of a process, by number. NothingFound if there is no such process."""
    if not Path("/proc/self/task").is_dir():
        raise StepscopeError(
            "Processes can only be looked at on Linux",
            seen="no /proc",
            todo="run py-spy or the system's debugger by hand",
            slug="attach-refused",
        )
    try:
        numbers = sorted(int(task.name) for task in Path(f"/proc/{pid}/task").iterdir())
    except (OSError, OverflowError):
        raise NothingFound(
            f"There is no process {pid}",
            seen=f"no /proc/{pid}/task",
            todo="give the number of a process that runs; `pgrep -af python` lists candidates",
        ) from None
    found = (_task(pid, tid) for tid in numbers)
    return [thread for thread in found if thread is not None]


def _task(pid: int, tid: int) -> Task | None:
    folder = f"/proc/{pid}/task/{tid}"
    status = _fields(f"{folder}/status")
    if not status:
        return None  # it ended meanwhile
    waits = _text(f"{folder}/wchan")
    letter = status.get("State", "?")[:1]
    return Task(
        tid,
        printable(status.get("Name", "")),
        _STATES.get(letter, "unknown"),
        printable(waits) if waits not in ("", "0") else None,
    )


def is_stopped(pid: int) -> bool:
    """Whether a stop signal has stopped the process; not while it is traced."""
    return _fields(f"/proc/{pid}/status").get("State", "").startswith("T")


def is_there(pid: int) -> bool:
    """Whether the process runs: a zombie has ended."""
    state = _fields(f"/proc/{pid}/status").get("State", "Z")
    return state[:1] not in ("Z", "X")


def go_on(pid: int) -> None:
    """Makes a stopped process continue."""
    try:
        os.kill(pid, signal.SIGCONT)
    except (ProcessLookupError, PermissionError):
        return  # it ended, or is not ours: then no tool of ours has stopped it either


@contextlib.contextmanager
def left_as_it_was(pid: int) -> Iterator[None]:
    """A process that runs does so again afterwards, also where a tool was ended while it had stopped it."""
    was_stopped = is_stopped(pid)
    try:
        yield
    finally:
        if not was_stopped and is_stopped(pid):
            go_on(pid)


def refusal(pid: int, *, own_child: bool = False) -> tuple[str, str] | None:
    """Why the kernel does not let this user trace a process: what was seen and what to do. None if nothing
    speaks against it. own_child: it has said that others than its parent may trace it."""
    status = _fields(f"/proc/{pid}/status")
    yama = _text("/proc/sys/kernel/yama/ptrace_scope")
    return judged(status, _fields("/proc/self/status"), _scope(yama, own_child))


def _scope(yama: str, own_child: bool) -> int:
    scope = int(yama) if yama.isdigit() else 0
    return 0 if own_child and scope == 1 else scope


def judged(target: dict[str, str], own_status: dict[str, str], yama: int) -> tuple[str, str] | None:
    """`refusal` from the fields of both /proc/PID/status, and Yama's ptrace_scope."""
    tracer = target.get("TracerPid", "0")
    if tracer not in ("0", ""):
        return (
            f"process {tracer} traces it already, and a process has one tracer",
            f"let process {tracer} (a debugger, strace or profiler) detach, then try again",
        )
    capable = bool(int(own_status.get("CapEff", "0"), 16) >> SYS_PTRACE & 1)
    mine, theirs = own_status.get("Uid", "").split(), target.get("Uid", "").split()
    if yama >= 3:
        return (
            "ptrace_scope is 3: this system forbids tracing until it is booted again",
            "have kernel.yama.ptrace_scope set to 1 at boot, or trace on another machine",
        )
    if capable:
        return None
    if mine and theirs and set(theirs[:3]) != {mine[1]}:
        return (
            f"it belongs to user {theirs[0]}, and you are user {mine[1]} without CAP_SYS_PTRACE",
            "run the command as that user, or with sudo; in a container add --cap-add SYS_PTRACE",
        )
    if yama == 2:
        return (
            "ptrace_scope is 2: tracing takes CAP_SYS_PTRACE",
            "run the command with sudo; in a container add --cap-add SYS_PTRACE",
        )
    if yama == 1:
        return (
            "ptrace_scope is 1: only a parent may trace a process",
            "run the command with sudo, or `sudo sysctl kernel.yama.ptrace_scope=0`; in a container add "
            "--cap-add SYS_PTRACE",
        )
    return None


def _fields(path: str) -> dict[str, str]:
    lines = (line.partition(":") for line in _text(path).splitlines())
    return {name: value.strip() for name, _, value in lines}


def _text(path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""  # not readable by us, or the thread has ended


def end_with_parent() -> None:
    """Has the kernel end this process, a child before it runs its program, when the parent ends: a tool that
    were left behind would keep the process that it looks at stopped."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
