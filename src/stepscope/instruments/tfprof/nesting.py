"""Nesting of slices: the modules, annotations, ops and Python calls around each op of a thread."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from stepscope import strict_json, units
from stepscope.engines import Statement
from stepscope.errors import LimitReached
from stepscope.instruments import python_frame
from stepscope.instruments.python_frame import Frame
from stepscope.library.statements import statement


class BatchedRows(Protocol):
    """The rows of a query."""

    def rows(self) -> list[tuple[Any, ...]]:
        """All of them."""

    def batches(self, size: int = ...) -> Iterable[list[tuple[Any, ...]]]:
        """All of them, some at a time."""


Query = Callable[[Statement], BatchedRows]
"""Asks for rows: Trace.query or an engine's, which know the library's base views."""

MOST_LEVELS = 200
"""Levels that a name has at most; recursion of programs knows no end."""
MOST_BYTES = 1 << 29
"""Bytes of all names together."""
SLASH = "\N{DIVISION SLASH}"
"""Instead of a slash within a part of a name, where it would begin a scope."""


@dataclass(frozen=True)
class OpExecutions:
    """Executions of an op in a step, on the host or on an accelerator."""

    name: str
    op: str
    on_device: bool
    device: str
    step: int | None
    runs: int
    self_ps: int
    start_ps: int
    stack: tuple[Frame, ...] = ()
    work: int = 0
    """Floating point operations of all of them."""
    bytes: int = 0
    """Bytes of all of them."""

    def placed(self, step: int) -> OpExecutions:
        """The same in a step."""
        return replace(self, step=step)


@dataclass
class Nested:
    """The executions on threads where nesting tells something, and of the kernels that they launched."""

    samples: list[OpExecutions] = field(default_factory=list)
    tracks: list[int] = field(default_factory=list)
    """Threads whose ops are counted here, and must not be counted again."""
    notes: list[str] = field(default_factory=list)


class _Trie:
    """Paths by number; 0 is the empty one."""

    def __init__(self) -> None:
        self._ids: dict[tuple[int, Any], int] = {}
        self.above = [0]
        self.part: list[Any] = [None]
        self.level = [0]
        self.cut = 0
        """Steps that were not taken because the path was as long as paths may be."""

    def child(self, path: int, part: Any) -> int:
        """The path that goes on from `path` with `part`."""
        if self.level[path] >= MOST_LEVELS:
            self.cut += 1
            path = self.above[path]
        found = self._ids.get((path, part))
        if found is None:
            found = self._ids[path, part] = len(self.part)
            self.above.append(path)
            self.part.append(part)
            self.level.append(self.level[path] + 1)
        return found

    def parts(self, path: int) -> list[Any]:
        """The parts of a path from its beginning."""
        found = []
        while path:
            found.append(self.part[path])
            path = self.above[path]
        return found[::-1]


_ADDRESS = re.compile(r" object at 0x[0-9a-f]+")
MODULE = "nn.Module: "


def _call(name: str) -> Frame:
    """A slice that is a Python call, with or without its place."""
    if name.startswith(MODULE):
        return ("nn.Module", 0, name[len(MODULE) :])
    return python_frame.recorded_call(name) or ("", 0, _ADDRESS.sub("", name).strip("<>"))


def _listed(text: str) -> list[Frame]:
    """The frames of Kineto's `Call stack`, whose innermost comes first. text: the slice's args_json."""
    found = strict_json.members(text).get("Call stack")
    return [_call(part) for part in reversed(found.split(";")) if part] if isinstance(found, str) else []


def device_name(name: str) -> str:
    """A device as tfprof has it: in lower case, without what TensorFlow's Timeline puts behind it."""
    return name.lower().removesuffix(" compute").removesuffix("/stream:all")


def whole(value: Any) -> int:
    """A count that a recording gives as a number or as text; 0 for anything else."""
    try:
        return max(0, min(int(float(value)), 2**62))
    except (TypeError, ValueError, OverflowError):
        return 0


class _Numbers:
    """Python calls by numbers, which are quicker to look up."""

    def __init__(self) -> None:
        self.every: list[Frame] = []
        self._ids: dict[Frame, int] = {}

    def number_of(self, frame: Frame) -> int:
        """The number of a call."""
        found = self._ids.get(frame)
        if found is None:
            found = self._ids[frame] = len(self.every)
            self.every.append(frame)
        return found


@dataclass
class _OpenOps:
    """Numbers of what is open, and what was summed up so far."""

    frames: _Numbers = field(default_factory=_Numbers)
    paths: _Trie = field(default_factory=_Trie)
    stacks: _Trie = field(default_factory=_Trie)
    sums: dict[tuple[Any, ...], list[int]] = field(default_factory=dict)
    launches: dict[tuple[int, int], tuple[int, int, int | None]] = field(default_factory=dict)
    kinds: dict[int, str] = field(default_factory=dict)

    def add(self, key: tuple[Any, ...], self_ps: int, ts_ps: int, size: int) -> None:
        """Counts an execution: key is path, stack, whether on an accelerator, device, step."""
        found = self.sums.get(key)
        if found is None:
            self.sums[key] = [1, self_ps, ts_ps, size]
            return
        found[0] += 1
        found[1] += self_ps
        found[2] = min(found[2], ts_ps)
        found[3] += size


def walk(query: Query) -> Nested:
    """What ran on threads where slices do not name their op, or where Python calls lie around them."""
    tracks = [int(track_id) for (track_id,) in query(statement("tfprof_nested_tracks")).rows()]
    state = _OpenOps()
    if tracks:
        kind_rows = query(statement("tfprof_nested_kinds", tracks=tracks)).rows()
        kinds = {row[0]: _AlikeSlices(row, state.frames) for row in kind_rows}
        _threads(query(statement("tfprof_nested_slices", tracks=tracks)), kinds, state)
    unknown = _accelerators(query(statement("tfprof_kernels")), state)
    notes = []
    if unknown and state.launches:
        names = units.agree(unknown, "names", "name")
        notes.append(
            f"{units.count(unknown, 'slice')} of accelerators {names} no launch that was recorded; each has"
            " its own name"
        )
    if state.paths.cut:
        cut = state.paths.cut
        notes.append(
            f"{units.count(cut, 'slice')} {units.agree(cut, 'lies', 'lie')} below {MOST_LEVELS} levels; "
            f"{units.agree(cut, 'its name leaves', 'their names leave')} levels out"
        )
    return Nested(_samples(state), tracks, notes)


def _scope(name: str) -> str:
    """A name as one part of a path."""
    return name.replace("/", SLASH)


class _AlikeSlices:
    """What slices that are called alike are, and what that adds to where they lie."""

    __slots__ = ("device", "frame", "op", "op_type", "part", "source", "stands_for")

    def __init__(self, row: Sequence[Any], frames: _Numbers) -> None:
        """row: of the statement tfprof_nested_kinds. frames: numbers of Python calls."""
        _, self.source, self.device, name, self.stands_for, self.op, self.op_type = row
        self.part: str | None = None
        """Of the path."""
        self.frame: int | None = None
        """Of the stack."""
        if self.stands_for == "frame":
            self.frame = frames.number_of(_call(name))
            self.part = _scope(name[len(MODULE) :]) if name.startswith(MODULE) else None
        elif self.stands_for is not None and self.op is None:
            self.part = _scope(name)
            place = python_frame.recorded_call(name) if self.stands_for == "op" else None
            self.frame = None if place is None else frames.number_of(place)


def _threads(rows: BatchedRows, kinds: Mapping[int, _AlikeSlices], state: _OpenOps) -> None:
    paths, stacks = state.paths, state.stacks
    below, on_stack = paths.child, stacks.child
    named: dict[tuple[str, str | None], int] = {}
    open_: list[tuple[int, int, int, int]] = []
    last = None
    for batch in rows.batches():
        for track, depth, ts_ps, dur_ps, rollup, step, self_ps, correlation, module, listed in batch:
            kind = kinds[rollup]
            stands_for = kind.stands_for
            if stands_for is None and correlation is None:
                continue
            if track != last:
                open_.clear()
                last = track
            end_ps = ts_ps + dur_ps
            path, stack = _innermost(open_, depth, end_ps)
            if stands_for == "op":
                stack_of_row = stack
                if kind.op is not None:
                    path = _op_path(paths, named, kind.op, module)
                else:
                    path = below(path, kind.part)
                    if kind.frame is not None:
                        stack_of_row = stack = on_stack(stack, kind.frame)
                if listed and not stack_of_row:
                    stack_of_row = _listed_stack(listed, state)
                state.kinds.setdefault(path, kind.op_type)
                state.add((path, stack_of_row, False, kind.device, step), self_ps, ts_ps, 0)
            elif stands_for is None:
                state.launches[kind.source, correlation] = (path, stack, step)
                continue
            else:
                if kind.frame is not None:
                    stack = on_stack(stack, kind.frame)
                if kind.part is not None:
                    path = below(path, kind.part)
            open_.append((depth, end_ps, path, stack))


def _innermost(open_: list[tuple[int, int, int, int]], depth: int, end_ps: int) -> tuple[int, int]:
    """Path and stack of what a slice lies in; what has ended is closed."""
    while open_ and (open_[-1][0] >= depth or open_[-1][1] < end_ps):
        open_.pop()
    return open_[-1][2:] if open_ else (0, 0)


def _listed_stack(listed: str, state: _OpenOps) -> int:
    """The stack that a slice lists among its values."""
    stack = 0
    for frame in _listed(listed):
        stack = state.stacks.child(stack, state.frames.number_of(frame))
    return stack


def _op_path(paths: _Trie, named: dict[tuple[str, str | None], int], op: str, module: str | None) -> int:
    """The path of an op whose name tells its scopes; what it calls without a name lies below it. named: paths
    that were found before."""
    if (known := named.get((op, module))) is not None:
        return known
    path, cut = 0, paths.cut
    for part in (f"{module}/{op}" if module else op).split("/"):
        path = paths.child(path, part)
    if paths.cut == cut:  # what is cut is counted each time
        named[op, module] = path
    return path


def _accelerators(rows: BatchedRows, state: _OpenOps) -> int:
    """Kernels and copies, counted where they were launched; returns how many of them do not tell where."""
    unknown = 0
    for batch in rows.batches():
        for source, correlation, name, op_type, device, step, self_ps, ts_ps, size in batch:
            launch = state.launches.get((source, correlation))
            unknown += launch is None
            path, stack, launched = launch or (0, 0, None)
            if path not in state.kinds:
                path = state.paths.child(path, _scope(name))
                state.kinds[path] = op_type
            step = step if launched is None else launched
            state.add((path, stack, True, device, step), self_ps, ts_ps, whole(size))
    return unknown


def _samples(state: _OpenOps) -> list[OpExecutions]:
    names: dict[int, str] = {}
    stacks: dict[int, tuple[Frame, ...]] = {}
    taken = 0
    samples = []
    for (path, stack, on_device, device, step), (runs, self_ps, start, size) in state.sums.items():
        if path not in names:
            names[path] = "/".join(state.paths.parts(path))
            taken += len(names[path])
            if taken > MOST_BYTES:
                raise LimitReached(
                    "The names of what ran are too long to be held.",
                    seen=f"more than {MOST_BYTES >> 20} MiB of scopes in {len(names)} names",
                    todo="look at a shorter recording, or ask the table slice",
                )
        if stack not in stacks:
            stacks[stack] = tuple(state.frames.every[frame] for frame in state.stacks.parts(stack))
        samples.append(
            OpExecutions(
                names[path],
                state.kinds.get(path) or names[path].rsplit("/", 1)[-1],
                on_device,
                device_name(device),
                step,
                runs,
                self_ps,
                start,
                stacks[stack],
                0,
                size,
            )
        )
    return samples
