"""The compiled programs of a recording, in one form for XPlanes, dump folders and tables of a lake."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import code_lines, strict_json
from stepscope.escapes import printable


class HloInstruction(NamedTuple):
    """An instruction of a program. computation: its index. fused: index of the computation that it fuses.
    called: indexes of computations that run inside it, the body of a loop before its condition. flops,
    transcendentals, bytes: of one execution as it really runs; None if unknown. trips: iterations of a loop,
    where known."""

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


class KnownProgram(NamedTuple):
    """A program. source: number of the source that has it; None for one of a dump folder. id: program_id of
    its slices. entry: index of the computation that begins."""

    source: int | None
    module: str
    id: str | None
    entry: int | None
    instructions: tuple[HloInstruction, ...]
    computations: tuple[str, ...]
    file: str


class _InstructionRow(NamedTuple):
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


def stored(rows: Iterable[Sequence[Any]], runs: Mapping[int, str]) -> list[KnownProgram]:
    """The programs in rows of the statement instructions_of_programs. runs: the run of each source. Dumps
    serve the recordings of their own run that lack the program; other runs may have another program of that
    name."""
    found: list[KnownProgram] = []
    dumped: list[tuple[str, KnownProgram]] = []
    for _, members in groupby(map(_InstructionRow._make, rows), key=lambda row: (row.source, row.module_id)):
        several = list(members)
        program = _program_of_rows(several)
        if several[0].recorded:
            found.append(program)
        else:
            dumped.append((several[0].run, program))
    kept = {(program.source, program.module) for program in found}
    for run, program in dumped:
        run_sources = [source for source, name in runs.items() if name == run]
        found += [program._replace(source=at) for at in run_sources if (at, program.module) not in kept]
    return found


def _program_of_rows(rows: Sequence[_InstructionRow]) -> KnownProgram:
    numbers = {name: at for at, name in enumerate(dict.fromkeys(row.computation for row in rows))}
    instructions = [_stored_instruction(row, numbers) for row in rows]
    first = rows[0]
    entry = next((numbers[row.computation] for row in rows if row.is_entry), None)
    return KnownProgram(
        first.source,
        first.module,
        first.program or None,
        entry,
        tuple(instructions),
        tuple(numbers),
        first.file,
    )


def _stored_instruction(row: _InstructionRow, numbers: Mapping[str, int]) -> HloInstruction:
    """numbers: of the computations, by their names."""
    called: tuple[int, ...] = ()
    if row.opcode in (*CALLS, "fusion"):
        called = tuple(numbers[name] for name in strict_json.elements(row.calls) if name in numbers)
    return HloInstruction(
        row.name,
        row.opcode,
        numbers[row.computation],
        called if row.opcode in CALLS else (),
        called[0] if row.opcode == "fusion" and called else None,
        row.flops if row.is_known else None,
        row.transcendentals if row.is_known else None,
        row.bytes if row.is_known else None,
        None if row.trips is None else int(row.trips),
        row.op_name,
        row.in_file,
        row.on_line,
    )


CALLS = ("while", "call", "conditional", "async-start")
"""Opcodes that run other computations: what these cost is counted there."""


def decoded(module: Mapping[str, Any], source: int | None, number: str | None, file: str) -> KnownProgram:
    """The program of what _core.hlo_module() gives."""
    return KnownProgram(
        source,
        printable(module["name"]),
        number if number is not None else None if module["id"] is None else str(module["id"]),
        module["entry_computation"],
        tuple(_instruction(row, module["frames"]) for row in module["instruction_rows"]),
        tuple(printable(row["name"]) for row in module["computation_rows"]),
        printable(Path(file).name),
    )


def _instruction(row: Mapping[str, Any], frames: Sequence[Any]) -> HloInstruction:
    unknown = row["run_custom_calls"] > 0 or row["run_open_loops"] > 0
    flops, transcendentals, moved = (
        None if unknown else row[key] for key in ("run_flops", "run_transcendentals", "run_bytes")
    )
    opcode = row["opcode"]
    return HloInstruction(
        printable(row["name"]),
        printable(opcode),
        row["computation"],
        tuple(row["called"]) if opcode in CALLS else (),
        row["called"][0] if opcode == "fusion" and row["called"] else None,
        flops,
        transcendentals,
        moved,
        row["trip_count"],
        printable(row["op_name"]) or None,
        *code_lines.frame_line(frames, row["frame"]),
    )
