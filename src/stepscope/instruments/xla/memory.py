"""Memory of compiled programs, from the buffer assignment that XLA dumps: what is allocated for what, how
much of the heap is needed at once, and which instructions hold the most at that moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope import _core
from stepscope.instruments.xla import dumps, oddities, whole
from stepscope.lake.rows import printable

MOST_PROGRAMS = 8
"""Programs that are opened; those that take the most memory come first."""


class Holder(NamedTuple):
    """Memory that is held at the peak. of: parameter, constant, output, thread_local or temp. line: 0 if
    unknown."""

    of: str
    bytes: int
    instruction: str
    opcode: str
    shape: str
    op_name: str
    file: str
    line: int


class Heap(NamedTuple):
    """A heap as XLA simulated it: the most bytes that are needed at once, those that it reserves, the
    instruction at which the peak is, the allocation that holds the heap's buffers, and the one that the file
    names."""

    needed_bytes: int
    reserved_bytes: int | None
    at: str
    allocation: int | None
    named_allocation: int


class Program(NamedTuple):
    """The memory of a program. classes: bytes of each class, and alias. peak_bytes: all that a run takes.
    jax_peak_bytes: what memory_analysis() calls the peak on the CPU, which leaves temporaries out."""

    module: str
    id: int | None
    file: str
    classes: dict[str, int]
    peak_bytes: int
    jax_peak_bytes: int
    heaps: tuple[Heap, ...]
    holders: tuple[Holder, ...]


def find(paths: Sequence[str]) -> tuple[list[Program], int]:
    """The programs under some paths that say what memory they take, the largest first, and how many there
    are. NothingFound as dumps.read()."""
    found = dumps.read(paths)
    rows = [row for row in oddities.finals(found.rows) if row["allocated_bytes"] is not None]
    rows.sort(key=lambda row: -row["allocated_bytes"])
    programs = [one for one in map(_program, rows[:MOST_PROGRAMS]) if one is not None]
    return programs, len(rows)


def _program(row: Mapping[str, Any]) -> Program | None:
    """A program of a row; None when its file is gone since."""
    try:
        module = whole.module(row["path"])
    except (OSError, _core.CoreError):
        return None
    memory, buffers = module["memory"], module["buffers"]
    if memory is None or buffers is None:
        return None
    classes = {
        key: memory[f"{key}_bytes"] for key in ("parameter", "output", "constant", "thread_local", "temp")
    }
    sizes = {index: size for index, size, *_ in buffers["allocations"]}
    heaps = tuple(
        Heap(needed, sizes.get(allocation), printable(at), allocation, said)
        for needed, at, allocation, said, _ in buffers["traces"]
    )
    return Program(
        row["module"],
        row["id"],
        row["file"],
        {**classes, "alias": memory["alias_bytes"]},
        memory["allocated_bytes"],
        classes["parameter"] + classes["output"] + classes["constant"],
        heaps,
        tuple(sorted(_holders(module, buffers), key=lambda one: (-one.bytes, one.instruction))),
    )


def _holders(module: Mapping[str, Any], buffers: Mapping[str, Any]) -> Iterator[Holder]:
    """Everything that is held at the peak: whole allocations, and of the heap what lives just then."""
    rows, frames = module["instruction_rows"], module["frames"]
    by_id = {row["id"]: row for row in rows}
    by_name = {row["name"]: row for row in rows}
    makers = {
        number: by_name.get(name) or by_id.get(maker) for number, _, name, maker, _ in buffers["logical"]
    }

    def holder(of: str, size: int, maker: Mapping[str, Any] | None) -> Holder:
        if maker is None:
            return Holder(of, size, "", "", "", "", "", 0)
        frame = frames[maker["frame"] - 1] if 0 < maker["frame"] <= len(frames) else ("", 0)
        name, opcode, shape, op_name = (
            printable(maker[key]) for key in ("name", "opcode", "shape", "op_name")
        )
        return Holder(of, size, name, opcode, shape, op_name, printable(frame[0]), frame[1])

    heaps = {trace[2] for trace in buffers["traces"]}
    for index, size, of, _, _, _, assigned in buffers["allocations"]:
        if index in heaps and of == "temp":
            continue
        # Of values that share the memory one after the other, the first that needs all of it is named.
        whole = [number for number, _, part in assigned if part == size] or [one[0] for one in assigned]
        yield holder(of, size, makers.get(min(whole)) if whole else None)
    temporary = {index for index, _, of, *_ in buffers["allocations"] if of == "temp"}
    for _, _, allocation, _, held in buffers["traces"]:
        if allocation in temporary:
            yield from (holder("temp", size, makers.get(buffer)) for buffer, size in held)


def by(holders: Sequence[Holder], what: str) -> list[tuple[str, int, int]]:
    """Holders put together by "op" or "line": name, bytes and how many, the largest first."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for one in holders:
        line = f"{one.file}:{one.line}" if one.file else "unknown"
        name = line if what == "line" else one.op_name or one.opcode or "unknown"
        sums[name][0] += one.bytes
        sums[name][1] += 1
    found = [(name, size, count) for name, (size, count) in sums.items()]
    return sorted(found, key=lambda one: (-one[1], one[0]))
