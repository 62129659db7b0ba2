"""The stacks of a process as text: a heading for each thread, a line for each frame."""

from __future__ import annotations

from collections.abc import Iterator

from stepscope import units
from stepscope.instruments.stacks import Seen
from stepscope.instruments.stacks.tools import Frame


def lines(seen: Seen) -> Iterator[str]:
    """Threads with their frames, the innermost first."""
    for number, (task, frames, by) in enumerate(seen.threads):
        if number:
            yield ""
        yield " ".join(f"thread {task.tid} {task.name} ({task.state})".splitlines())
        for frame in frames:
            yield " ".join(f"  {frame.kind:<6}  {frame.function}{_place(frame)}".splitlines())
        if not frames or by == "kernel":
            yield "  (no stack)"


def _place(frame: Frame) -> str:
    if frame.file is not None:
        return f"  {frame.file}" + (f":{frame.line}" if frame.line is not None else "")
    return f"  {frame.module}" if frame.module is not None else ""


def notes(seen: Seen) -> list[str]:
    """What was read by which tool, and what is missing with the reason."""
    by_tool = {name: sum(by == name for _, _, by in seen.threads) for name in ("py-spy", "gdb", "kernel")}
    read = [
        f"{units.count(by_tool[name], 'thread')} by {name}" for name in ("py-spy", "gdb") if by_tool[name]
    ]
    if by_tool["kernel"]:
        read.append(f"{units.count(by_tool['kernel'], 'thread')} without a stack")
    told = ["Read " + ", ".join(read)] if seen.has_stacks else []
    if seen.has_stacks:
        told += seen.notes
    if seen.ended and seen.has_stacks:
        told.append("The process ended while it was traced: this is what could be read")
    return told
