"""py-spy and gdb: where they are, how they are asked, and what their answers mean."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stepscope import strict_json
from stepscope.attach import kernel
from stepscope.escapes import printable

_HEAD = re.compile(r"^Thread \d+ \(.*?(?:LWP|process) (\d+)\b")
_FRAME = re.compile(
    r"^#\d+\s+(?:0x[0-9a-f]+ in )?(?P<function>.+?)"
    r"(?: \((?:\.\.\.)?\))?(?: at (?P<file>.+):(?P<line>\d+)| from (?P<module>.+))?$"
)
_MOST_FRAMES = 500
"""Frames of a thread that are read: endless recursion has more."""

GDB_SETTINGS = (
    *("auto-load off", "debuginfod enabled off", "pagination off", "width 0", "style enabled off"),
    *("print frame-arguments presence", f"backtrace limit {_MOST_FRAMES}"),
)
"""Settings of gdb before it reads anything: it runs no file by itself, and asks no server."""

HOW = {"py-spy": "pip install py-spy", "gdb": "apt-get install gdb, or the like for your system"}
"""How to get each tool."""


@dataclass(frozen=True)
class StackFrame:
    """A frame. kind: python or native. file and line where they are known; module: the library."""

    kind: str
    function: str
    file: str | None = None
    line: int | None = None
    module: str | None = None


Stacks = dict[int, list[StackFrame]]
"""By thread, the innermost frame first."""


@dataclass(frozen=True)
class ToolStacks:
    """The stacks that a tool read, by thread; or what it complained of. names: of threads, as the program
    calls them."""

    stacks: Stacks
    complaint: str | None = None
    names: Mapping[int, str] = field(default_factory=dict)


def find(name: str) -> str | None:
    """The path of a tool, beside this Python or in PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.is_file() else shutil.which(name)


def ask_py_spy(path: str, pid: int, seconds: float) -> ToolStacks:
    """The threads that Python knows, their C++ frames too where py-spy can unwind them here."""
    answer = ToolStacks({}, None)
    for more in (["--native"], []):
        out, complaint = _run([path, "dump", "--json", *more, "--pid", str(pid)], seconds)
        try:
            threads = strict_json.value(out)
            answer = ToolStacks(spied(threads), complaint, names_of(threads))
        except (ValueError, TypeError, KeyError, AttributeError):
            answer = ToolStacks({}, complaint or "it printed no stacks")
        if answer.stacks:
            return answer
    return answer


def spied(threads: list[dict[str, Any]]) -> Stacks:
    """What py-spy's JSON of a dump says."""
    stacks: Stacks = {}
    for thread in threads:
        frames = [_spied_frame(frame) for frame in thread["frames"][:_MOST_FRAMES]]
        if thread.get("os_thread_id") is not None:
            stacks[int(thread["os_thread_id"])] = frames
    return stacks


def names_of(threads: list[dict[str, Any]]) -> dict[int, str]:
    """What py-spy's JSON of a dump calls the threads, by number."""
    return {
        int(thread["os_thread_id"]): printable(str(thread["thread_name"]))
        for thread in threads
        if thread.get("os_thread_id") is not None and thread.get("thread_name")
    }


def _spied_frame(frame: dict[str, Any]) -> StackFrame:
    module = frame.get("module")
    name, file = printable(str(frame["name"])), printable(str(frame["filename"]))
    line = int(frame["line"]) or None
    if module is None:
        return StackFrame("python", name, file, line)
    module = printable(str(module))
    return StackFrame("native", name, None if file == module else file, line, module)


def ask_gdb(path: str, pid: int, seconds: float) -> ToolStacks:
    """All threads, C and C++ frames only. Reads no file that gdb would run by itself."""
    command = [path, "-nx", "-batch"]
    for setting in GDB_SETTINGS:
        command += ["-iex", f"set {setting}"]
    out, complaint = _run([*command, "-p", str(pid), "-ex", "thread apply all backtrace"], seconds)
    stacks = debugged(out)
    return ToolStacks(stacks, None if stacks else complaint or "it printed no stacks")


def debugged(text: str) -> Stacks:
    """What gdb's `thread apply all backtrace` printed."""
    stacks: Stacks = {}
    frames: list[StackFrame] | None = None
    for line in text.splitlines():
        if head := _HEAD.match(line):
            frames = stacks.setdefault(int(head[1]), [])
        elif frames is not None and (found := _FRAME.match(line)):
            frames.append(_debugged_frame(found))
    return {tid: frames for tid, frames in stacks.items() if frames}


def _debugged_frame(found: re.Match[str]) -> StackFrame:
    file, line, module = found["file"], found["line"], found["module"]
    return StackFrame(
        "native",
        printable(found["function"]),
        printable(file) if file else None,
        int(line) if line else None,
        printable(module) if module else None,
    )


def _run(command: Sequence[str], seconds: float) -> tuple[str, str | None]:
    out, lines = outcome(command, seconds)
    if isinstance(lines, str):
        return "", lines
    refused = [line for line in lines if re.search(r"(?i)ptrace|permitted|denied|no such process", line)]
    complaints = refused[:1] or [line for line in lines if line.startswith("Error")][:1] or lines[:1]
    return out, printable(complaints[0].removeprefix("Error: ")) if complaints else None


def outcome(command: Sequence[str], seconds: float) -> tuple[str, list[str] | str]:
    """What a tool printed, and the lines of its stderr; or why it did not come to its end, as text."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            text=True,
            errors="replace",
            check=False,
            preexec_fn=kernel.end_with_parent,
        )
    except subprocess.TimeoutExpired:
        return "", f"it had not ended after {seconds:g} s"
    except OSError as error:
        return "", f"it did not start: {error.strerror}"
    return done.stdout, [line.strip() for line in done.stderr.splitlines() if line.strip()]
