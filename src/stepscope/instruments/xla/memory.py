"""Memory of compiled programs, from XLA's buffer assignment.

There are allocations by class, the part of the heap that is needed at once, and the instructions that hold
most at that moment.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from stepscope.library.statements import Query, statement

MOST_PROGRAMS = 8
"""Most programs that are examined: those with the most memory."""
CLASSES = ("parameter", "output", "constant", "thread_local", "temp")
"""Classes of memory, in the order of the statement program_memory."""


class ProgramHolder(NamedTuple):
    """A holder of memory at the peak. of: one of CLASSES."""

    of: str
    bytes: int
    instruction: str | None
    opcode: str | None
    shape: str | None
    op_name: str | None
    file: str | None
    line: int | None


class Heap(NamedTuple):
    """A heap as XLA simulated it: the most bytes that are needed at once, those that it reserves, the
    instruction at which the peak is, and the number of the allocation."""

    needed_bytes: int
    reserved_bytes: int
    at: str | None
    allocation: int


class ProgramMemory(NamedTuple):
    """The memory of a program. classes: bytes of each class, and alias. peak_bytes: everything that a run
    takes."""

    module: str
    id: str
    file: str
    classes: dict[str, int]
    peak_bytes: int
    heaps: tuple[Heap, ...]
    holders: tuple[ProgramHolder, ...]

    @property
    def jax_peak_bytes(self) -> int:
        """The peak of memory_analysis() on the CPU, which leaves temporaries out."""
        return sum(self.classes[name] for name in ("parameter", "output", "constant"))


def find(query: Query) -> tuple[list[ProgramMemory], int]:
    """The programs with known memory, the largest first, and how many there are."""
    rows = query(statement("program_memory")).rows()
    modules = [row[0] for row in rows[:MOST_PROGRAMS]]
    heaps = _modules(query(statement("program_heaps", modules=modules)).rows()) if modules else {}
    holders = _modules(query(statement("program_holders", modules=modules)).rows()) if modules else {}
    found = [
        ProgramMemory(
            module,
            program_id,
            file,
            dict(zip((*CLASSES, "alias"), sizes, strict=True)),
            allocated,
            tuple(Heap(*heap) for heap in heaps.get(number, ())),
            tuple(ProgramHolder(*holder) for holder in holders.get(number, ())),
        )
        for number, module, program_id, file, *sizes, allocated in rows[:MOST_PROGRAMS]
    ]
    return found, len(rows)


def _modules(rows: Sequence[Sequence[Any]]) -> dict[int, list[Sequence[Any]]]:
    found: dict[int, list[Sequence[Any]]] = defaultdict(list)
    for number, *values in rows:
        found[number].append(values)
    return found


def sum_holders(holders: Sequence[ProgramHolder], what: str) -> list[tuple[str, int, int]]:
    """Holders grouped by "op" or "line": name, bytes and count, the largest first."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for holder in holders:
        line = f"{holder.file}:{holder.line}" if holder.file else "unknown"
        name = line if what == "line" else holder.op_name or holder.opcode or "unknown"
        sums[name][0] += holder.bytes
        sums[name][1] += 1
    found = [(name, size, count) for name, (size, count) in sums.items()]
    return sorted(found, key=lambda sum_: (-sum_[1], sum_[0]))
