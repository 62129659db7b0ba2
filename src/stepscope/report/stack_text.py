"""The stacks of a process as text: a heading for each thread, a line for each frame."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from stepscope import units
from stepscope.attach import Seen
from stepscope.attach.py_spy import Sampled
from stepscope.attach.tools import StackFrame
from stepscope.escapes import printable

HOT = ("function", "place", "code", "self", "total")
"""Columns of functions for people."""
_AROUND = 2
"""Lines of a source file that are shown before and after the one that ran."""


def lines(seen: Seen, sources: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """Threads with their frames, the innermost first; below a frame of which the source is found by `sources`
    (folder in the program, folder here), its lines."""
    for number, (task, frames, by) in enumerate(seen.threads):
        if number:
            yield ""
        yield " ".join(f"thread {task.tid} {task.name} ({task.state})".splitlines())
        for frame in frames:
            yield " ".join(f"  {frame.kind:<6}  {frame.function}{_place(frame)}".splitlines())
            yield from _source(frame, sources)
        if not frames or by == "kernel":
            yield "  (no stack)"


def _place(frame: StackFrame) -> str:
    if frame.file is not None:
        return f"  {frame.file}" + (f":{frame.line}" if frame.line is not None else "")
    return f"  {frame.module}" if frame.module is not None else ""


def _source(frame: StackFrame, sources: Sequence[tuple[str, str]]) -> Iterator[str]:
    if frame.file is None or frame.line is None:
        return
    for before, after in sources:
        inside = frame.file.removeprefix(before.rstrip("/") + "/")
        if inside == frame.file:
            continue
        try:
            with (Path(after) / inside).open(encoding="utf-8", errors="replace") as file:
                first = max(frame.line - _AROUND, 1)
                for number, line in enumerate(islice(file, first - 1, frame.line + _AROUND), first):
                    mark = ">" if number == frame.line else " "
                    yield f"        {mark}{number:>6}  {printable(line.rstrip())[:200]}"
        except OSError as error:
            yield f"        (no source: {error.strerror})"
        return


def hot(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Functions with the share of looks at them, for people."""
    return [
        {
            "function": row["function"],
            "place": f"{row['file']}:{row['line']}" if row["file"] and row["line"] else row["file"],
            "code": row["code"],
            "self": units.show(row["self_share"], "ratio"),
            "total": units.show(row["total_share"], "ratio"),
        }
        for row in rows
    ]


def sampled_notes(found: Sampled, *, shown: int | None) -> list[str]:
    """What was sampled, and what is missing."""
    sentences = [
        f"{units.count(found.looks, 'stack sample')} of {units.count(found.threads, 'thread')} by py-spy"
    ]
    if shown is not None and len(found.hot) > shown:
        sentences.append(f"{units.count(len(found.hot) - shown, 'more function')} in --format json")
    return sentences + found.notes


def notes(seen: Seen) -> list[str]:
    """What was read by which tool, and what is missing with the reason."""
    by_tool = {name: sum(by == name for _, _, by in seen.threads) for name in ("py-spy", "gdb", "kernel")}
    read = [
        f"{units.count(by_tool[name], 'thread')} by {name}" for name in ("py-spy", "gdb") if by_tool[name]
    ]
    if by_tool["kernel"]:
        read.append(f"{units.count(by_tool['kernel'], 'thread')} without a stack")
    sentences = ["Read " + ", ".join(read)] if seen.has_stacks else []
    if seen.has_stacks:
        sentences += seen.notes
    if seen.ended and seen.has_stacks:
        sentences.append("The process ended while it was traced: this is what could be read")
    return sentences
