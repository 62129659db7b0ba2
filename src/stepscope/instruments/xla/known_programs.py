"""The compiled programs that a recording speaks of: those that XPlanes keep, those of dump folders beside
them, and those of a lake. What joins times with costs asks here only, and so needs not know where a program
was found."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core, strict_json
from stepscope.errors import LimitReached
from stepscope.formats import _hlo
from stepscope.formats import xplane as xplane_format
from stepscope.instruments.xla import dumps, whole
from stepscope.instruments.xla.programs import bytes_of
from stepscope.lake.rows import printable
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool

_MOST_FILE_BYTES = 1 << 30


class Instruction(NamedTuple):
    """An instruction of a program. computation: its index. fused: index of the computation that it fuses.
    called: indexes of computations that run in its place, the body of a loop before its condition. flops,
    transcendentals, bytes: of one execution as it really runs; None if unknown. trips: how often a
    loop is known to go round."""

    name: str
    opcode: str
    computation: int
    called: tuple[int, ...]
    fused: int | None
    flops: float | None
    transcendentals: float | None
    bytes: float | None
    trips: int | None
    op_name: str | None
    file: str | None
    line: int | None


class Program(NamedTuple):
    """A program. source: the number of the source that keeps it; None for one of a dump folder. id: as slices
    have it in program_id. entry: index of the computation that begins."""

    source: int | None
    module: str
    id: str | None
    entry: int | None
    instructions: tuple[Instruction, ...]
    computations: tuple[str, ...]
    file: str


def find(
    sources: Sequence[Any], folders: Sequence[str], modules: Collection[str] | None, ids: Collection[str]
) -> tuple[list[Program], int]:
    """The programs whose module or id is asked for (all, when modules is None), and how many could not be
    read.

    sources: those of a trace; those of a lake give none, see of_tables(). folders: paths that
    may be dump folders.
    """
    found: list[Program] = []
    damaged = 0
    spool = Spool()
    try:
        for source, number, module, file in chain(
            _of_sources(sources, modules, ids, spool), _of_folders(folders)
        ):
            if module is None:
                damaged += 1
            elif (
                modules is None
                or printable(module["name"]) in modules
                or number in ids
                or str(module["id"]) in ids
            ):
                found.append(_program(module, source, number, file))
    finally:
        spool.close()
    return found, damaged


Read = tuple[int | None, str | None, Mapping[str, Any] | None, str]
"""Source, program number, module and file; the module is None when it is damaged."""


def _of_sources(
    sources: Sequence[Any], modules: Collection[str] | None, ids: Collection[str], spool: Spool
) -> Iterator[Read]:
    """The programs that XPlanes keep, others than those asked for left unread where their name says so."""
    for at, source in enumerate(sources):
        if not isinstance(source, Source) or source.format != xplane_format.NAME:
            continue
        for number, proto in _hlo.programs(bytes_of(source, spool)[0]):
            name = printable(_hlo.module_of(proto))
            if name and modules is not None and name not in modules and number not in ids:
                continue
            try:
                yield at, number, _core.hlo_module(bytes(proto)), source.path
            except _core.CoreError:
                yield at, number, None, source.path


def _of_folders(folders: Sequence[str]) -> Iterator[Read]:
    """The programs of dump folders; where the proto of one is damaged, its text."""
    for files in dumps.finished([path for path in folders if Path(path).exists()]):
        for file in files:
            if file.size > _MOST_FILE_BYTES:
                continue
            try:
                module = whole.module(file.path)
            except (OSError, _core.CoreError, LimitReached):
                continue
            if module["id"] is None and file.named is not None:
                module["id"] = file.named.id  # a text does not say it
            yield None, None, module, file.relative
            break
        else:
            yield None, None, None, files[0].relative


class _Row(NamedTuple):
    """A row of the statement instructions_of_programs."""

    run: str
    source: int
    module_id: int
    recorded: bool
    program: str
    module: str
    file: str
    computation: str
    is_entry: bool
    name: str
    opcode: str
    calls: str
    flops: float
    transcendentals: float
    bytes: float
    is_known: bool
    trips: float | None
    op_name: str | None
    in_file: str | None
    on_line: int | None


def of_tables(rows: Iterable[Sequence[Any]], runs: Mapping[int, str]) -> list[Program]:
    """The programs of rows of the statement instructions_of_programs, which is what a lake keeps. runs: the
    run of each source. Dumps tell the recordings of their own run, where these do not keep the program
    themselves; others may have a program of the same name."""
    found: list[Program] = []
    dumped: list[tuple[str, Program]] = []
    for _, members in groupby(map(_Row._make, rows), key=lambda row: (row.source, row.module_id)):
        several = list(members)
        program = _of_rows(several)
        if several[0].recorded:
            found.append(program)
        else:
            dumped.append((several[0].run, program))
    kept = {(program.source, program.module) for program in found}
    for run, program in dumped:
        own = [source for source, name in runs.items() if name == run]
        found += [program._replace(source=at) for at in own if (at, program.module) not in kept]
    return found


def _of_rows(rows: Sequence[_Row]) -> Program:
    numbers = {name: at for at, name in enumerate(dict.fromkeys(row.computation for row in rows))}
    instructions = []
    for row in rows:
        called: tuple[int, ...] = ()
        if row.opcode in (*_CALLS, "fusion"):
            called = tuple(numbers[name] for name in strict_json.elements(row.calls) if name in numbers)
        instructions.append(
            Instruction(
                row.name,
                row.opcode,
                numbers[row.computation],
                called if row.opcode in _CALLS else (),
                called[0] if row.opcode == "fusion" and called else None,
                row.flops if row.is_known else None,
                row.transcendentals if row.is_known else None,
                row.bytes if row.is_known else None,
                None if row.trips is None else int(row.trips),
                row.op_name,
                row.in_file,
                row.on_line,
            )
        )
    first = rows[0]
    entry = next((numbers[row.computation] for row in rows if row.is_entry), None)
    return Program(
        first.source,
        first.module,
        first.program or None,
        entry,
        tuple(instructions),
        tuple(numbers),
        first.file,
    )


_CALLS = ("while", "call", "conditional", "async-start")


def _program(module: Mapping[str, Any], source: int | None, number: str | None, file: str) -> Program:
    frames = module["frames"]
    return Program(
        source,
        printable(module["name"]),
        number if number is not None else None if module["id"] is None else str(module["id"]),
        module["entry_computation"],
        tuple(_instruction(row, frames) for row in module["instruction_rows"]),
        tuple(printable(row["name"]) for row in module["computation_rows"]),
        printable(Path(file).name),
    )


def _instruction(row: Mapping[str, Any], frames: Sequence[Any]) -> Instruction:
    file, line = frames[row["frame"] - 1][:2] if 0 < row["frame"] <= len(frames) else ("", 0)
    unknown = row["run_custom_calls"] > 0 or row["run_open_loops"] > 0
    flops, transcendentals, moved = (
        None if unknown else row[key] for key in ("run_flops", "run_transcendentals", "run_bytes")
    )
    opcode = row["opcode"]
    return Instruction(
        printable(row["name"]),
        printable(opcode),
        row["computation"],
        tuple(row["called"]) if opcode in _CALLS else (),
        row["called"][0] if opcode == "fusion" and row["called"] else None,
        flops,
        transcendentals,
        moved,
        row["trip_count"],
        printable(row["op_name"]) or None,
        printable(file) or None,
        line or None,
    )
