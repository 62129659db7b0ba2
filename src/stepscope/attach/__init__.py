"""Reads the Python and C++ stacks of all threads of a running process, with gdb and py-spy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stepscope.attach import kernel, started_program, tools
from stepscope.errors import NothingFound, StepscopeError

COLUMNS = ("tid", "thread", "state", "depth", "kind", "function", "file", "line", "module", "read_by")
"""A row is a frame of a thread. tid: the kernel's number of the thread. depth: 0 is the innermost frame.
kind: python, native, or kernel for the function of the kernel that a thread waits in, where no tool could
read more. module: the library of a native frame. read_by: py-spy, gdb or kernel."""


@dataclass
class Seen:
    """What could be read. threads: (thread, its frames, who read them). notes: what is missing, and why."""

    threads: list[tuple[kernel.Task, list[tools.StackFrame], str]]
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
            for depth, frame in enumerate(frames or [tools.StackFrame("kernel", "")]):
                values = (task.tid, task.name, task.state, depth, frame.kind, frame.function or None)
                yield dict(zip(COLUMNS, (*values, frame.file, frame.line, frame.module, by), strict=True))


def look(pid: int, seconds: float, *, quick: bool = False, own_child: bool = False) -> Seen:
    """The stacks of a process now. seconds: how long each tool may take. quick: without gdb, which reads
    all symbols first. own_child: started by us, and anybody of its user may trace it. The process runs on
    afterwards, also where a tool was ended in the middle. NothingFound if there is no such process."""
    tasks = kernel.tasks(pid)
    refusal = kernel.refusal(pid, own_child=own_child)
    notes: list[str] = []
    read: dict[str, tools.Stacks] = {}
    names: Mapping[int, str] = {}
    if refusal is None:
        with kernel.left_as_it_was(pid):
            of_python = _tool_stacks("py-spy", pid, seconds, notes)
            read["py-spy"], names = of_python.stacks, of_python.names
            left = [task for task in tasks if task.tid not in read["py-spy"]]
            if left and not quick and kernel.is_there(pid):
                read["gdb"] = _tool_stacks("gdb", pid, seconds, notes).stacks
    ended = not kernel.is_there(pid)
    named = [replace(task, name=names.get(task.tid, task.name)) for task in tasks]
    return Seen([_best(task, read) for task in named], notes, refusal, ended)


def _tool_stacks(name: str, pid: int, seconds: float, notes: list[str]) -> tools.ToolStacks:
    path = tools.find(name)
    if path is None:
        notes.append(f"{name} is not installed: {tools.HOW[name]}")
        return tools.ToolStacks({})
    ask = tools.ask_py_spy if name == "py-spy" else tools.ask_gdb
    answer = ask(path, pid, seconds)
    if not answer.stacks:
        notes.append(f"{name} read no stacks: {answer.complaint}")
    return answer


def _best(
    task: kernel.Task, read: dict[str, tools.Stacks]
) -> tuple[kernel.Task, list[tools.StackFrame], str]:
    for name, stacks in read.items():
        if stacks.get(task.tid):
            return task, stacks[task.tid], name
    waits = [tools.StackFrame("kernel", task.waits_in)] if task.waits_in else []
    return task, waits, "kernel"


def stop_at_breakpoint(
    words: Sequence[str], breakpoints: Sequence[str], seconds: float, out: int, pid: int | None = None
) -> Seen:
    """Lets a program run until one of these functions is called, and gives the stacks of its threads there,
    that which called it first. It is started and then ended; or it is the process `pid`, which goes on. out:
    the descriptor for what it prints. NothingFound when it ended before, StepscopeError when gdb cannot be
    asked."""
    if pid is not None:
        kernel.tasks(pid)
        if (refusal := kernel.refusal(pid)) is not None:
            return Seen([], [], refusal)
    stopped = started_program.run_to(words, breakpoints, seconds, out, pid)
    if isinstance(stopped, str):
        raise StepscopeError(
            "The program could not be run under gdb",
            seen=stopped,
            todo=tools.HOW["gdb"],
            slug="attach-refused",
        )
    if stopped.at is None:
        unknown = f"; no library has {', '.join(stopped.missing)}" if stopped.missing else ""
        raise NothingFound(
            "No breakpoint was reached",
            seen=f"{stopped.why}{unknown}",
            todo="`stepscope xla symbols LIB --find NAME` says whether gdb can stop at a function",
        )
    threads = []
    tids = sorted({*stopped.native, *stopped.python}, key=lambda tid: (tid != stopped.tid, tid))
    for tid in tids:
        native, python = stopped.native.get(tid, []), stopped.python.get(tid, [])
        frames, by = [*native, *python], "gdb" if native else "py-spy"
        name = "stopped here" if tid == stopped.tid else ""
        threads.append((kernel.Task(tid, name, "traced", None), frames, by))
    after = "the program was ended there" if pid is None else f"process {pid} went on"
    notes = [f"gdb stopped at {stopped.at}; {after}"]
    if stopped.missing:
        notes.append(f"no library had {', '.join(stopped.missing)} by then")
    if tools.find("py-spy") is None:
        notes.append(f"py-spy is not installed, so frames of Python are missing: {tools.HOW['py-spy']}")
    elif not stopped.python:
        notes.append("py-spy read no frames of Python there")
    return Seen(threads, notes)
