"""Executions identified by time and thread, for programs of one name whose executions have no numbers.

TensorFlow compiles a function for each shape, gives all these programs one name, and its slices do not tell
which of them ran. Slices within the time of an execution belong to it; where two threads execute at once, to
the execution on their own thread. The instructions of an execution may then fit only one of the programs.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.xla.known_programs import KnownProgram
from stepscope.instruments.xla.program_index import statements
from stepscope.instruments.xla.timed import NEVER

BY = "module, time and thread"
"""The basis of such a join."""


class _Slice(NamedTuple):
    """A row of the statement slices_of_modules."""

    source: int
    track: int
    ts: int
    dur: int
    self: int
    module: str | None
    op: str | None
    name: str
    place: str | None
    device: str | None


def unclear(groups: Sequence[Sequence[Any]], programs: Sequence[KnownProgram]) -> set[str]:
    """Modules with several programs, whose slices do not tell which ran."""
    counts: dict[str, int] = defaultdict(int)
    for program in programs:
        counts[program.module] += 1
    return {
        group[3] for group in groups if group[1] == "host" and not group[5] and counts[group[3] or ""] > 1
    }


def apart(
    groups: Sequence[Sequence[Any]], slices: Sequence[Sequence[Any]], programs: Sequence[KnownProgram]
) -> list[Sequence[Any]]:
    """The groups (rows of the statement instruction_slices); those of unclear modules by execution, with the
    program that fits, or unchanged where none or several fit. slices: rows of slices_of_modules."""
    modules = unclear(groups, programs)
    kept: list[Sequence[Any]] = [
        group for group in groups if not (group[1] == "host" and not group[5] and group[3] in modules)
    ]
    rows = [_Slice._make(row) for row in slices]
    sums: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for sure, members in _executions(rows):
        by_module = _slices_by_module(members, modules)
        for module, found in by_module.items():
            program = _fits({row.op for row in found if row.op}, module, found[0].source, programs, sure)
            for row in found:
                number, by = (None, "") if program is None else (program.id, BY)
                key = (
                    row.source,
                    "host",
                    row.device,
                    module,
                    number,
                    program is not None,
                    row.op,
                    row.name,
                    by,
                )
                for at, add in enumerate((1, row.dur, row.self)):
                    sums[key][at] += add
    return [*kept, *((*key[:-1], *figures, key[-1]) for key, figures in sums.items())]


def _slices_by_module(members: Iterable[_Slice], modules: set[str]) -> dict[str, list[_Slice]]:
    """Slices of the host, of these modules."""
    by_module: dict[str, list[_Slice]] = defaultdict(list)
    for member in members:
        if member.module in modules and member.place == "host":
            by_module[member.module].append(member)
    return by_module


def _executions(rows: Iterable[_Slice]) -> Iterable[tuple[bool, list[_Slice]]]:
    """Executions with their slices, and whether these are surely all. A slice outside all executions, or in
    several, is an execution of its own."""
    whole = list(rows)
    spans = _spans(whole)
    starts = {source: [execution.ts for execution in found] for source, found in spans.items()}
    longest = {source: max(execution.dur for execution in found) for source, found in spans.items()}
    members: dict[tuple[int, int], list[_Slice]] = defaultdict(list)
    alone: list[tuple[bool, list[_Slice]]] = []
    unsure: set[tuple[int, int]] = set()
    for row in whole:
        if row.op is None:
            continue
        around = _enclosing_executions(
            row, spans.get(row.source, []), starts.get(row.source, []), longest.get(row.source, 0)
        )
        on_track = [at for at in around if spans[row.source][at].track == row.track]
        if len(on_track or around) == 1:
            members[row.source, (on_track or around)[0]].append(row)
        else:
            alone.append((False, [row]))
            unsure |= {(row.source, at) for at in around}
    return [*((key not in unsure, found) for key, found in members.items()), *alone]


def _enclosing_executions(
    row: _Slice, found: Sequence[_Slice], starts: Sequence[int], longest: int
) -> list[int]:
    """The indexes of the executions that contain a slice. starts: of the executions; longest: the longest of
    them."""
    around = []
    at = bisect_right(starts, row.ts)
    while at and found[at - 1].ts >= row.ts - longest:
        at -= 1
        if found[at].ts + found[at].dur >= row.ts + row.dur:
            around.append(at)
    return around


def _spans(whole: Iterable[_Slice]) -> dict[int, list[_Slice]]:
    """Executions by source: slices without an op."""
    spans: dict[int, list[_Slice]] = defaultdict(list)
    for row in whole:
        if row.op is None:
            spans[row.source].append(row)
    return spans


def _fits(
    names: set[str], module: str, source: int, programs: Sequence[KnownProgram], sure: bool
) -> KnownProgram | None:
    """The one program that has all these instructions and, if they are surely all, no other work; None for
    several."""
    known = [program for program in programs if program.module == module]
    known = [program for program in known if program.source == source] or known
    having = [
        program for program in known if names <= {instruction.name for instruction in program.instructions}
    ]
    if len(having) > 1 and sure:
        having = [program for program in having if _work(program) <= names]
    return having[0] if len(having) == 1 else None


def _work(program: KnownProgram) -> set[str]:
    """The instructions that are timed in each execution of a program: those of its entry."""
    if program.entry not in statements(program):
        return set()
    return {
        instruction.name
        for instruction in program.instructions
        if instruction.computation == program.entry
        and instruction.opcode not in NEVER
        and not instruction.called
    }
