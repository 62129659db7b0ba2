"""Cases within a dumped program: what its instructions, their operands and their schedule show."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from stepscope import _core
from stepscope.formats.xla.case_rows import Case, Program, Row, instruction_case
from stepscope.formats.xla.program_log import LogStatement, kernel

LAYOUT = re.compile(r"\{[^{}]*\}")
"""The order of elements in memory, behind a shape."""
_SPACE = re.compile(r":?S\(\d+\)")
"""Where a value is in memory, which says nothing about the order of its elements."""
_HOLDERS = ("parameter", "fusion", "call", "while", "conditional")
"""What has its values from elsewhere, or from instructions that have rows of their own."""
_LARGE_BYTES = 1 << 20
_LAYOUT_SHARE = 0.1
"""Least that copies into other layouts move, in bytes and as a part of what the program moves."""
_DONOR_BYTES = 1 << 16
_DONOR_SHARE = 0.01
"""Least that is donated in vain, in bytes or as a part of the program's memory."""


def program_cases(row: Row, program: Program, spills: dict[str, LogStatement]) -> Iterator[Case]:
    """What speaks for problems within a program. row: of `dumps`. spills: of the log, by kernel; those of the
    program are taken out."""
    times = {number: computation["times"] for number, computation in enumerate(program["computation_rows"])}
    yield from _layouts(row, program, times)
    if row["f64_instructions"] and not re.search(r"\b(f64|c128)\[", row["parameters"] or ""):
        yield from _doubles(program)
    yield from _donors(row, program)
    yield from _spills(program, spills)
    if program["scheduled"]:
        yield from _collectives(row, program, times)


def _layouts(row: Row, program: Program, times: Mapping[int, float]) -> Iterator[Case]:
    """Copies into another layout and transposes, alone or as a fusion of nothing else, that move a tenth of
    what the program moves."""
    rows = program["instruction_rows"]
    inside: dict[int, list[Row]] = defaultdict(list)
    for op in rows:
        inside[op["computation"]].append(op)
    found = []
    for op in rows:
        often = times.get(op["computation"], 0.0)
        if not often or op["run_bytes"] <= 0:
            continue
        layouts = [what for it in _movers(op, inside) if (what := _other_layout(it, rows))]
        if layouts:
            found.append((op, layouts[0], op["run_bytes"] * often))
    moved = sum(size for _, _, size in found)
    if moved < _LARGE_BYTES or moved < _LAYOUT_SHARE * row["run_bytes"]:
        return
    for op, what, size in found:
        yield instruction_case(program, op, "layout_copy", what, size, min(1.0, size / row["run_bytes"]))


def _movers(op: Row, inside: Mapping[int, Sequence[Row]]) -> Sequence[Row]:
    """The copies and transposes that an instruction is, or that a fusion consists of."""
    movers: Sequence[Row] = [op]
    if op["opcode"] == "fusion" and len(op["called"]) == 1:
        movers = [it for it in inside[op["called"][0]] if it["opcode"] not in ("parameter", "bitcast")]
    return movers if all(it["opcode"] in ("copy", "transpose") for it in movers) else ()


def _other_layout(row: Row, rows: Sequence[Row]) -> str:
    """What a copy or transpose does to the order of elements in memory; empty if nothing is known to."""
    source = row["operands"][0] if row["operands"] else None
    if source is None:
        return ""
    before, after = (_SPACE.sub("", it["shape"]) for it in (rows[source], row))
    if row["opcode"] == "copy" and (before == after or not LAYOUT.search(before + after)):
        return ""
    return f"{before} to {after}"


def _doubles(program: Program) -> Iterator[Case]:
    """Where doubles come from: instructions that make them and take none."""
    rows = program["instruction_rows"]
    for row in rows:
        takes = (rows[at]["shape"] for at in row["operands"] if at is not None)
        made = row["opcode"] not in _HOLDERS and _is_double(row["shape"])
        if made and not any(map(_is_double, takes)):
            yield instruction_case(program, row, "double", row["opcode"], row["shape_bytes"])


def _is_double(shape: str) -> bool:
    return "f64[" in shape or "c128[" in shape


def _donors(row: Row, program: Program) -> Iterator[Case]:
    """Parameters that were given in vain, but for small ones: somebody meant to save their memory."""
    sizes: dict[int, float] = defaultdict(float)
    for parameter, _, size in row["donated"]:
        sizes[parameter] += size or 0
    total, all_memory = sum(sizes.values()), row["allocated_bytes"]
    if total < _DONOR_BYTES and (not all_memory or total < _DONOR_SHARE * all_memory):
        return
    for op in program["instruction_rows"]:
        is_parameter = op["opcode"] == "parameter" and op["computation"] == program["entry_computation"]
        if is_parameter and sizes.get(op["number"]):
            size = sizes[op["number"]]
            share = min(1.0, size / all_memory) if all_memory else None
            what = f"parameter {op['number']}, {op['shape']}"
            yield instruction_case(program, op, "donor", what, size, share)


def _spills(program: Program, spills: dict[str, LogStatement]) -> Iterator[Case]:
    """Fusions whose kernels spill; these are taken from spills."""
    if spills:
        for op in program["instruction_rows"]:
            if op["opcode"] == "fusion" and (logged := spills.pop(kernel(op["name"]), None)):
                yield instruction_case(program, op, "spill", logged.what, logged.value)


@cache
def is_collective(opcode: str) -> bool:
    """Whether an opcode is that of a collective as one instruction: others begin with -start and end with
    -done."""
    in_parts = opcode.endswith(("-start", "-done"))
    return not in_parts and _core.slice_class(opcode, None, None, opcode, "device")[0] == "communication"


def _collectives(row: Row, program: Program, times: Mapping[int, float]) -> Iterator[Case]:
    """Collectives that the schedule hides behind nothing: those that begin and end with no work in between,
    and those that are one instruction where the stage names an accelerator."""
    rows = program["instruction_rows"]
    begun: dict[int, int] = {}
    work: dict[int, int] = defaultdict(int)  # instructions with work so far, by computation
    wrapping = {op["computation"] for op in rows if is_collective(op["opcode"])}
    in_order = _names_accelerator(row)
    for at, op in enumerate(rows):
        computation, opcode = op["computation"], op["opcode"]
        often = times.get(computation, 0.0)
        if not often:
            continue
        if opcode.endswith("-start") and _begins_collective(op, wrapping):
            begun[at] = work[computation]
        elif opcode.endswith("-done"):
            start = next((it for it in op["operands"] if it in begun), None)
            if start is not None and begun.pop(start) == work[computation]:
                what = rows[start]["opcode"]
                size = op["shape_bytes"] * often  # a start has its operands in its shape, too
                yield instruction_case(program, rows[start], "collective", what, size)
        elif in_order and is_collective(opcode):
            size = op["shape_bytes"] * often
            yield instruction_case(program, op, "collective", opcode, size)
        elif _works(op):
            work[computation] += 1


def _names_accelerator(program: Row) -> bool:
    """Whether the stage names an accelerator, whose schedule is the order of the instructions."""
    return any(platform in (program["stage"] or "") for platform in ("gpu_", "tpu_"))


def _works(op: Row) -> bool:
    """Whether an instruction computes or moves something."""
    counts = (op["run_flops"], op["run_transcendentals"], op["run_bytes"])
    return op["opcode"] != "tuple" and any(counts)


def _begins_collective(row: Row, wrapping: set[int]) -> bool:
    """Whether a start is of a collective. wrapping: computations that hold one, as async-start calls them."""
    return is_collective(row["opcode"].removesuffix("-start")) or not wrapping.isdisjoint(row["called"])
