"""Stacks for profiles: the samples of a trace or, where it has none, its slices as stacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from stepscope.errors import UsageError
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

SAMPLES, SLICES = "stack_sample", "slice"

Frame = tuple[str, str, int]
"""Function, file ("": unknown) and line (0: unknown)."""


class Weight(NamedTuple):
    """Time of one stack on one thread."""

    stack: int
    thread: str
    """Display name of the thread or track; with host and run where there are several."""
    times: int
    """Number of samples."""
    time_ps: int


class StackTree(NamedTuple):
    """Stacks, the outer ones first, and the time of each by thread."""

    table: str
    rows: int
    frames: dict[Frame, int]
    nodes: list[tuple[int, int]]
    """For each stack: the stack around it (-1: none), and the number of its innermost frame."""
    weights: list[Weight]

    def path(self, stack: int) -> list[int]:
        """Numbers of its frames, the outermost first."""
        found = []
        while stack >= 0:
            stack, frame = self.nodes[stack]
            found.append(frame)
        return found[::-1]


class StackTimes:
    """Self times by stack, from slices in the order of their ids: by track, parents before children."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.nodes: dict[tuple[int, int], int] = {}
        """(parent or -1, name) of every stack, to its number."""
        self.values: dict[tuple[int, int], list[int]] = {}
        """(stack, track): how often, self picoseconds."""
        self._track: int | None = None
        self._open: list[int] = []

    def add(self, rows: Iterable[Sequence[Any]]) -> None:
        """Adds (track, depth, name, self_ps)."""
        names, nodes, values = self.names, self.nodes, self.values
        for track, depth, name, self_ps in rows:
            if track != self._track:
                self._track, self._open = track, []
            del self._open[depth:]
            parent = self._open[-1] if self._open else -1
            number = names.setdefault(name, len(names))
            node = nodes.setdefault((parent, number), len(nodes))
            self._open.append(node)
            value = values.get((node, track))
            if value is None:
                values[node, track] = [1, self_ps]
            else:
                value[0] += 1
                value[1] += self_ps


def tree(trace: OpenTrace, table: str | None) -> StackTree:
    """The stacks of a table; by default those of samples, if there are any. UsageError for other tables."""
    if table not in (None, SAMPLES, SLICES):
        raise UsageError(
            "A profile is made of slices or of samples of stacks.",
            seen=f"--table {table}",
            todo=f"use --table {SAMPLES} or {SLICES}, or write .parquet, .csv or .ndjson",
        )
    if table is None:
        table = SAMPLES if trace.query(statement("sample_count")).rows()[0][0] else SLICES
    return _sample_weights(trace) if table == SAMPLES else _slice_weights(trace)


def label(frame: Frame) -> str:
    """A frame in one line of text: `token_f1 (program.py:31)`."""
    function, file, line = frame
    place = f"{file}:{line}" if line else file
    return f"{function} ({place})" if place else function


def _sample_weights(trace: OpenTrace) -> StackTree:
    frames: dict[Frame, int] = {}
    nodes: list[tuple[int, int]] = []
    numbers: dict[int, int] = {}
    for batch in trace.query(statement("stack_frames")).batches():
        for stack, parent, function, file, line, _ in batch:
            number = frames.setdefault((function, file or "", line or 0), len(frames))
            # A stack comes after the one around it: anything else is damage, and ignored.
            numbers[stack] = len(nodes)
            nodes.append((numbers.get(parent, -1) if parent != stack else -1, number))
    stack_rows = [row for batch in trace.query(statement("stack_weights")).batches() for row in batch]
    several = len({row[1:3] for row in map(tuple, stack_rows)}) > 1
    weights = [
        Weight(numbers[stack], _thread((run, host), name or "(no name)", several), times, time_ps)
        for stack, run, host, name, times, time_ps in stack_rows
        if stack in numbers
    ]
    return StackTree(SAMPLES, sum(weight.times for weight in weights), frames, nodes, weights)


def _slice_weights(trace: OpenTrace) -> StackTree:
    stacks = StackTimes()
    for batch in trace.query(statement("self_times")).batches():
        stacks.add(batch)
    tracks: dict[int, Any] = {
        track: (run, host, process, name)
        for track, process, name, run, host in trace.query(statement("track_names")).rows()
    }
    several = len({tuple(row[:2]) for row in tracks.values()}) > 1
    weights = []
    for (stack, track), (times, self_ps) in stacks.values.items():
        run, host, process, name = tracks.get(track, ("", "", "", f"track {track}"))
        title = f"{process} {name}".strip() or "(no name)"
        weights.append(Weight(stack, _thread((run, host), title, several), times, self_ps))
    frames = {(name, "", 0): number for name, number in stacks.names.items()}
    return StackTree(SLICES, sum(weight.times for weight in weights), frames, list(stacks.nodes), weights)


def _thread(place: tuple[str, str], name: str, several: bool) -> str:
    return f"{' '.join(dict.fromkeys(place))} {name}" if several else name


def group_by_thread(weights: list[Weight]) -> Iterator[tuple[str, list[Weight]]]:
    """The weights of each thread, the one with most time first."""
    found: dict[str, list[Weight]] = {}
    for weight in weights:
        found.setdefault(weight.thread, []).append(weight)
    yield from sorted(found.items(), key=lambda item: (-sum(weight.time_ps for weight in item[1]), item[0]))
