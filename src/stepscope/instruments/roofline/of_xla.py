"""Instructions that XLA compiled: operations and bytes as the profiler says, else as their program does."""

import base64
import binascii
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stepscope import protobuf, strict_json
from stepscope.instruments.roofline.table import Counted
from stepscope.instruments.xla import executions, known_programs, program_index, timed
from stepscope.library.statements import Query, statement

NO_PROGRAM = "the program of the instruction is not recorded"
NO_COST = "no cost is known of what the instruction calls"
_HBM = 1
"""The memory of the device, in the breakdown that profilers of TPUs write; others are on its chip."""
_SHAPE = re.compile(r"([a-z]+\d*[a-z0-9]*)\[([\d,]*)\]")
_FLOATS = {"f64": "f64", "f32": "tf32", "f16": "f16", "bf16": "bf16", "s8": "i8", "u8": "i8"}
"""XLA multiplies 32-bit floats as TF32 where the device can."""
_NARROW = ("i8", "f8", "bf16", "f16", "tf32", "f64")
_BITS = re.compile(r"\d+")
_PRODUCTS = ("__cublas$gemm", "__cublas$lt$matmul")
_MATRIX = 2


class Made(NamedTuple):
    """What an instruction makes, of what, and what it calls."""

    opcode: str
    shape: str
    operands: tuple[str, ...]
    target: str


Shapes = Mapping[tuple[int, str, str | None], Mapping[str, Made]]
"""What instructions make, by source, module and number of the program."""


def counted(query: Query) -> list[Counted]:
    """An instruction on a device is one row."""
    groups: list[Sequence[Any]] = [*query(statement("instruction_slices", computing=1)).rows()]
    if not groups:
        return []
    hosts = {row[0]: (row[1], row[2]) for row in query(statement("sources_seen")).rows()}
    programs = known_programs.stored(
        query(statement("instructions_of_programs")).rows(), {at: run for at, (run, _) in hosts.items()}
    )
    if modules := executions.unclear(groups, programs):
        slices = query(statement("slices_of_modules", modules=sorted(modules))).rows()
        groups = executions.apart(groups, slices, programs)
    shapes = _shapes(query)
    profiler_costs = _costs_by_profiler(query)
    rows = timed.join(groups, programs)
    by_profiler = _profiler_sums(groups, profiler_costs)
    found = [
        _row(row, hosts[row["source_id"]], shapes, by_profiler)
        for row in rows.rows
        if row["opcode"] != "while" and row["self_ps"] > 0
    ]
    return found + _lost(groups, rows, hosts)


def _row(
    row: Mapping[str, Any],
    place: tuple[str, str],
    shapes: Shapes,
    by_profiler: Mapping[tuple[int, str, str], tuple[float, float]],
) -> Counted:
    at, module, name = row["source_id"], row["module"] or "", row["instruction"]
    instructions = shapes.get((at, module, row["program_id"])) or shapes.get((at, module, None), {})
    made = instructions.get(name)
    flops, moved, by = _cost(row, made, instructions, by_profiler.get((at, row["device"], name)))
    unknown = flops is None or moved is None
    return Counted(
        *place,
        at,
        row["device"],
        row["op_name"] or name,
        name,
        made.shape if made is not None else None,
        row["file"],
        row["line"],
        row["executions"],
        row["self_ps"],
        None if unknown else by,
        None if unknown else flops,
        None if unknown else moved,
        _number_type(made, instructions) if made is not None and flops else None,
        NO_COST if unknown else None,
    )


def _cost(
    row: Mapping[str, Any],
    made: Made | None,
    instructions: Mapping[str, Made],
    profiled: tuple[float, float] | None,
) -> tuple[float | None, float | None, str]:
    """Operations and bytes of all executions, and who counted them: the profiler, or else the program."""
    flops, moved, by = row["total_flops"], row["total_bytes"], "program"
    if profiled is not None:
        (flops, moved), by = profiled, "profiler"
    elif flops is None and made is not None and (product := _product(made, instructions)) is not None:
        flops, moved = (number * row["executions"] for number in product)
    return flops, moved, by


def _lost(
    groups: Sequence[Sequence[Any]], rows: timed.TimedPrograms, hosts: Mapping[int, tuple[str, str]]
) -> list[Counted]:
    """Instructions whose program is not known: their time counts, their cost is unknown."""
    gone = {
        (lost.module, lost.instruction)
        for lost in rows.lost
        if lost.reason in ("no_program", "no_instruction", "ambiguous")
    }
    sums: dict[tuple[int, str, str], list[int]] = {}
    for group in (program_index.Group(*row) for row in groups):
        if group.place != "launch" and (group.module or "", group.op) in gone:
            both = sums.setdefault((group.source, group.device, group.op), [0, 0])
            both[0] += group.slices
            both[1] += group.self_ps
    return [
        Counted(
            *hosts[at], at, device, op, op, None, None, None, number, took, None, None, None, None, NO_PROGRAM
        )
        for (at, device, op), (number, took) in sums.items()
        if took > 0
    ]


def _costs_by_profiler(query: Query) -> dict[tuple[int, str, str], tuple[float, float]]:
    """Operations and bytes of one execution, by source, device and name of slices."""
    found = {}
    for source_id, device, name, flops, moved, breakdown in query(statement("costs_told")).rows():
        try:
            of_memory = _memory_bytes(breakdown) if breakdown else None
            cost = float(flops or 0), float(moved) if of_memory is None else of_memory
        except (ValueError, TypeError):
            continue  # the program's own figures are left
        if min(cost) >= 0 and max(cost) < math.inf:
            found[source_id, device, name] = cost
    return found


def _memory_bytes(breakdown: str) -> float:
    """Bytes of the device's memory in a breakdown. ValueError where it is no such thing."""
    whole = 0
    try:
        for number, _, value in protobuf.whole(base64.b64decode(breakdown, validate=True)):
            if number == 1:
                parts = {at: protobuf.varint(memoryview(part), 0)[0] for at, _, part in protobuf.whole(value)}
                whole += (parts.get(3) or 0) if parts.get(2) == _HBM else 0
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    return float(whole)


def _profiler_sums(
    groups: Sequence[Sequence[Any]], profiler_costs: Mapping[tuple[int, str, str], tuple[float, float]]
) -> dict[tuple[int, str, str], tuple[float, float]]:
    """Operations and bytes of all executions, by source, device and instruction. Instructions with others
    inside are left out: their figures are those of all within."""
    sums: dict[tuple[int, str, str], list[float]] = {}
    without: set[tuple[int, str, str]] = set()
    for group in (program_index.Group(*row) for row in groups):
        key = group.source, group.device, group.op
        cost = profiler_costs.get((group.source, group.device, group.name))
        if group.place != "device":
            continue
        if cost is None or group.total_ps != group.self_ps:
            without.add(key)
            continue
        both = sums.setdefault(key, [0.0, 0.0])
        both[0] += cost[0] * group.slices
        both[1] += cost[1] * group.slices
    return {key: (both[0], both[1]) for key, both in sums.items() if key not in without}


def _shapes(query: Query) -> Shapes:
    found: dict[tuple[int, str, str | None], dict[str, Made]] = {}
    of_names: dict[tuple[int, str], set[str]] = {}
    for source_id, module, program_id, name, *made in query(statement("shapes_of_instructions")).rows():
        opcode, shape, operands, target = made
        instruction = Made(opcode, shape or "", tuple(strict_json.elements(operands)), target or "")
        found.setdefault((source_id, module, program_id or None), {})[name] = instruction
        of_names.setdefault((source_id, module), set()).add(program_id)
    # Where only one program has the name of a module, that name alone will do.
    for (source_id, module), programs in of_names.items():
        if len(programs) == 1:
            found[source_id, module, None] = found[source_id, module, programs.pop() or None]
    return found


def _arrays(shape: str) -> list[tuple[str, tuple[int, ...]]]:
    """Types and sizes of the arrays of a shape: bf16[8,16]{1,0} or a tuple of such."""
    return [
        (kind, tuple(int(size) for size in sizes.split(",") if size)) for kind, sizes in _SHAPE.findall(shape)
    ]


def _number_type(made: Made, instructions: Mapping[str, Made]) -> str | None:
    """The narrowest type of the numbers that an instruction reads; where none is known, that it makes."""
    read = [
        kind
        for name in made.operands
        if (operand := instructions.get(name)) is not None
        for kind, sizes in _arrays(operand.shape)
        if sizes
    ]
    kinds = {
        "f8" if kind.startswith("f8") else _FLOATS.get(kind)
        for kind in read or [kind for kind, _ in _arrays(made.shape)]
    }
    return next((kind for kind in _NARROW if kind in kinds), None)


def _product(made: Made, instructions: Mapping[str, Made]) -> tuple[float, float] | None:
    """Operations and bytes of a product of matrices that a library makes. Of sizes m, k and n, the operands
    and the result have mk, kn and mn numbers, of which the product is the square of mkn."""
    if not made.target.startswith(_PRODUCTS):
        return None
    results = _arrays(made.shape)
    operands = [instructions.get(name) for name in made.operands[:_MATRIX]]
    arrays = [array for operand in operands if operand is not None for array in _arrays(operand.shape)[:1]]
    if not results or len(arrays) != _MATRIX:
        return None
    three = [*arrays, results[0]]
    batch = _batch([sizes for _, sizes in three])
    if batch is None:
        return None
    numbers = [math.prod(sizes) for _, sizes in three]
    work = math.isqrt(math.prod(numbers) // max(batch, 1)) if batch else 0
    return 2.0 * work, float(
        sum(number * _bytes(kind) for number, (kind, _) in zip(numbers, three, strict=True))
    )


def _batch(shapes: Sequence[Sequence[int]]) -> int | None:
    """How many products of matrices these shapes are; None where they are none."""
    ranks = {len(sizes) for sizes in shapes}
    batches = {tuple(sizes[:-_MATRIX]) for sizes in shapes}
    if len(ranks) != 1 or min(ranks) < _MATRIX or len(batches) != 1:
        return None
    return math.prod(batches.pop())


def _bytes(kind: str) -> int:
    bits = _BITS.search(kind)
    return 1 if bits is None else max(int(bits[0]) // 8, 1)
