"""The stacks of all threads of a process that runs, in Python and in C++, by the tools that are there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stepscope.instruments.stacks import kernel, tools

COLUMNS = ("tid", "thread", "state", "depth", "kind", "function", "file", "line", "module", "read_by")
"""A row is a frame of a thread. tid: the kernel's number of the thread. depth: 0 is the innermost frame.
kind: python, native, or kernel for the function of the kernel that a thread waits in, where no tool could
read more. module: the library of a native frame. read_by: py-spy, gdb or kernel."""


@dataclass
class Seen:
    """What could be read. threads: (thread, its frames, who read them). notes: what is missing, and why."""

    threads: list[tuple[kernel.Task, list[tools.Frame], str]]
    notes: list[str] = field(default_factory=list)
    refusal: tuple[str, str] | None = None
    ended: bool = False

    @property
    def has_stacks(self) -> bool:
        """Whether a tool read any stack."""
        return any(by != "kernel" for _, _, by in self.threads)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Rows with COLUMNS; a thread without a frame has one with an empty function."""
        for task, frames, by in self.threads:
            for depth, frame in enumerate(frames or [tools.Frame("kernel", "")]):
                values = (task.tid, task.name, task.state, depth, frame.kind, frame.function or None)
                yield dict(zip(COLUMNS, (*values, frame.file, frame.line, frame.module, by), strict=True))


def look(pid: int, seconds: float, *, quick: bool = False) -> Seen:
    """The stacks of a process now. seconds: how long each tool may take. quick: without gdb, which reads
    all symbols first. The process runs on afterwards, also where a tool was ended in the middle.
    NothingFound if there is no such process."""
    tasks = kernel.tasks(pid)
    was_stopped = kernel.is_stopped(pid)
    refusal = kernel.refusal(pid)
    notes: list[str] = []
    read: dict[str, tools.Stacks] = {}
    try:
        if refusal is None:
            read["py-spy"] = _asked("py-spy", pid, seconds, notes)
            left = [task for task in tasks if task.tid not in read["py-spy"]]
            if left and not quick and kernel.is_there(pid):
                read["gdb"] = _asked("gdb", pid, seconds, notes)
    finally:
        if not was_stopped and kernel.is_stopped(pid):
            kernel.go_on(pid)
    ended = not kernel.is_there(pid)
    return Seen([_best(task, read) for task in tasks], notes, refusal, ended)


def _asked(name: str, pid: int, seconds: float, notes: list[str]) -> tools.Stacks:
    path = tools.find(name)
    if path is None:
        notes.append(f"{name} is not installed: {tools.HOW[name]}")
        return {}
    ask = tools.ask_py_spy if name == "py-spy" else tools.ask_gdb
    answer = ask(path, pid, seconds)
    if not answer.stacks:
        notes.append(f"{name} read no stacks: {answer.complaint}")
    return answer.stacks


def _best(task: kernel.Task, read: dict[str, tools.Stacks]) -> tuple[kernel.Task, list[tools.Frame], str]:
    for name, stacks in read.items():
        if stacks.get(task.tid):
            return task, stacks[task.tid], name
    waits = [tools.Frame("kernel", task.waits_in)] if task.waits_in else []
    return task, waits, "kernel"
