"""What speaks for problems of dumped programs and stands in no column of their tables: the table hlo_case.

To see it takes the operands of instructions, their order in the schedule, shapes of parameters as text, or
the program's own log; what the other tables show, findings ask of them. Only programs that are dumped to
their end are looked into, each once, those that move most bytes first, up to a number of instructions; what
is left out is counted. What the files do not say is not guessed: thunks of the CPU may run beside a
collective whatever the order in the schedule. A donated buffer that XLA could not use is still among the
donors of the program; one that JAX refused never was, and only the program's log tells, as it does of
registers that are spilled.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

from stepscope import _core, code_lines
from stepscope.escapes import printable
from stepscope.formats.xla.dumps import is_final
from stepscope.formats.xla.program_log import LogStatement, kernel

Row = Mapping[str, Any]
Program = Mapping[str, Any]
Case = dict[str, Any]
"""A row of hlo_case without its number."""

_MOST_INSTRUCTIONS = 100_000
"""Of all programs that are searched, unless the first one has more."""
_LARGEST = 300_000
"""Instructions of a program that is searched."""
_MOST_BYTES = 1 << 28
"""Size of a file that is still opened a second time."""
_LARGE_BYTES = 1 << 20
_LAYOUT_SHARE = 0.1
_DONOR_BYTES = 1 << 16
_DONOR_SHARE = 0.01
_LEAST_INSTRUCTIONS = 8
"""Programs with fewer are mostly single ops, which are compiled for each type that they are used with."""
_ANONYMOUS = ("_lambda", "_lambda_", "_fun")
"""Names that JAX gives to functions without one: other parameters may be of another function."""


class Cases(NamedTuple):
    """Rows of hlo_case, and the number of programs that were not looked into."""

    rows: list[Case]
    left_out: int


def find(
    programs: Sequence[tuple[int, Row]], log: Sequence[LogStatement], read: Callable[[Row], bytes]
) -> Cases:
    """What speaks for problems. programs: the last row of `dumps` of each module that could be read, with the
    number of the module. log: of logs. read: gives the bytes of a row's file; OSError when it is gone."""
    cases = [*_compiled_again(programs), *_mixed(programs)]
    finished = sorted(
        ((at, row) for at, row in programs if is_final(row)),
        key=lambda row: (-row[1]["run_bytes"], row[1]["file"]),
    )
    searched = left_out = 0
    spills = {statement.name: statement for statement in log if statement.kind == "spilled"}
    for at, row in finished:
        full = searched and searched + row["instructions"] > _MOST_INSTRUCTIONS
        if full or row["instructions"] > _LARGEST or row["file_bytes"] > _MOST_BYTES:
            left_out += 1
            continue
        searched += row["instructions"]
        try:
            program = _core.hlo_module(read(row))
        except (OSError, _core.CoreError):  # it changed since it was summed up
            left_out += 1
            continue
        cases += ({**case, "module_id": at} for case in _program_cases(row, program, spills))
    cases += (_logged("spill", spill, None) for spill in spills.values())
    cases += (
        _logged("donor", statement, _taker(statement, finished))
        for statement in log
        if statement.kind == "refused"
    )
    return Cases(cases, left_out)


def _program_cases(row: Row, program: Program, spills: dict[str, LogStatement]) -> Iterator[Case]:
    times = {number: computation["times"] for number, computation in enumerate(program["computation_rows"])}
    yield from _layouts(row, program, times)
    if row["f64_instructions"] and not re.search(r"\b(f64|c128)\[", row["parameters"] or ""):
        yield from _doubles(program)
    yield from _donors(row, program)
    yield from _spills(program, spills)
    if program["scheduled"]:
        yield from _collectives(row, program, times)


def _case(
    kind: str,
    what: str,
    value: float,
    share: float | None = None,
    instruction: str | None = None,
    *,
    op_name: str | None = None,
    file: str | None = None,
    line: int | None = None,
) -> Case:
    return {
        "module_id": None,
        "kind": kind,
        "instruction": instruction and printable(instruction),
        "what": printable(what),
        "value": float(value),
        "share": share,
        "op_name": op_name and printable(op_name),
        "file": file,
        "line": line,
    }


def _found(
    program: Program, row: Row, kind: str, what: str, value: float, share: float | None = None
) -> Case:
    """A case of an instruction."""
    file, line = code_lines.frame_line(program["frames"], row["frame"])
    return _case(kind, what, value, share, row["name"], op_name=row["op_name"] or None, file=file, line=line)


# --- several programs -----------------------------------------------------------------------------


def _compiled_again(programs: Sequence[tuple[int, Row]]) -> Iterator[Case]:
    """Functions that were compiled more than once for other shapes, or else for other types, and the first
    parameter that changed."""
    compiles: dict[Any, list[tuple[int, Row]]] = defaultdict(list)
    for at, row in programs:
        if row["parameters"]:
            compiles[row["folder"], row["function"]].append((at, row))
    for same in compiles.values():
        alike: dict[Any, list[tuple[int, Row]]] = defaultdict(list)
        for program in same:
            alike[_types(program[1]["parameters"])].append(program)
        kind, most = "shapes", max(alike.values(), key=lambda rows: len(_inputs(rows)))
        if len(_inputs(most)) < 2:
            kind, most = "types", same
            if len(_inputs(most)) < 2 or max(row["instructions"] for _, row in same) < _LEAST_INSTRUCTIONS:
                continue
            if same[0][1]["function"] in _ANONYMOUS:
                continue
        inputs = _inputs(most)
        yield {**_case(kind, _changed(inputs[0], inputs[1]), len(inputs)), "module_id": most[0][0]}


def _inputs(rows: Sequence[tuple[int, Row]]) -> list[str]:
    """The different parameters of programs, in the order in which they were compiled."""
    return list(dict.fromkeys(row["parameters"] for _, row in rows))


def _types(parameters: str) -> tuple[str, ...]:
    """The types of parameters, and how many dimensions each has."""
    return tuple(re.sub(r"\d+(?=[,\]])", "", shape) for shape in _shapes(parameters))


def _changed(a: str, b: str) -> str:
    """The first parameter that differs, with both shapes."""
    for number, (shape, other) in enumerate(zip_longest(_shapes(a), _shapes(b), fillvalue="no parameter")):
        if shape != other:
            return f"parameter {number} was {shape}, then {other}"
    return f"the layout of parameters was {a}, then {b}"


def _shapes(text: str) -> list[str]:
    """The shapes in a list, without their layouts: commas inside of brackets part nothing."""
    found, depth, start = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            found.append(text[start:at])
            start = at + 1
    return [re.sub(r"\{[^{}]*\}", "", parameter).strip() for parameter in (*found, text[start:])]


def _mixed(programs: Sequence[tuple[int, Row]]) -> Iterator[Case]:
    """Numbers that modules of two names have: a process gives each number once, and begins at 0. Names that
    begin with the time of the process are apart."""
    numbers: dict[Any, dict[str, int]] = defaultdict(dict)
    for at, row in programs:
        if row["id"] is not None and row["stage"] != "snapshot":
            clock = (row["file"] or "").partition("module_")[0]
            numbers[row["folder"], clock, row["id"]].setdefault(row["module"], at)
    for same in numbers.values():
        if len(same) > 1:
            yield {
                **_case("mixed", " and ".join(sorted(same)[:2]), len(same)),
                "module_id": next(iter(same.values())),
            }


# --- one program ----------------------------------------------------------------------------------

_LAYOUT = re.compile(r"\{[^{}]*\}")
_SPACE = re.compile(r":?S\(\d+\)")
"""Where a value is in memory, which says nothing about the order of its elements."""


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
        yield _found(program, op, "layout_copy", what, size, min(1.0, size / row["run_bytes"]))


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
    if row["opcode"] == "copy" and (before == after or not _LAYOUT.search(before + after)):
        return ""
    return f"{before} to {after}"


def _doubles(program: Program) -> Iterator[Case]:
    """Where doubles come from: instructions that make them and take none."""
    rows = program["instruction_rows"]
    for row in rows:
        takes = (rows[at]["shape"] for at in row["operands"] if at is not None)
        made = row["opcode"] not in _HOLDERS and _is_double(row["shape"])
        if made and not any(map(_is_double, takes)):
            yield _found(program, row, "double", row["opcode"], row["shape_bytes"])


_HOLDERS = ("parameter", "fusion", "call", "while", "conditional")
"""What has its values from elsewhere, or from instructions that have rows of their own."""


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
            yield _found(program, op, "donor", what, size, share)


def _spills(program: Program, spills: dict[str, LogStatement]) -> Iterator[Case]:
    """Fusions whose kernels spill; these are taken from spills."""
    if spills:
        for op in program["instruction_rows"]:
            if op["opcode"] == "fusion" and (logged := spills.pop(kernel(op["name"]), None)):
                yield _found(program, op, "spill", logged.what, logged.value)


def _logged(kind: str, logged: LogStatement, module: int | None) -> Case:
    """What a log says, with the program where only one can be meant."""
    case = _case(
        kind, logged.what, logged.value, None, logged.name, file=printable(logged.path), line=logged.at
    )
    return {**case, "module_id": module}


def _taker(logged: LogStatement, programs: Sequence[tuple[int, Row]]) -> int | None:
    """The program with a parameter of the shape of a refused argument, if only one function has one."""
    shape = _xla_shape(logged.name)
    found = [
        (at, row["function"])
        for at, row in programs
        if shape in _LAYOUT.sub("", row["parameters"] or "").split(", ")
    ]
    return found[0][0] if len({function for _, function in found}) == 1 else None


def _xla_shape(shape: str) -> str:
    """A shape as JAX writes it, in the words of XLA: float32[8] is f32[8]."""
    name, _, dims = shape.partition("[")
    for jax, xla in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "s"), ("complex", "c")):
        if name.startswith(jax):
            return f"{xla}{name.removeprefix(jax)}[{dims}"
    return f"{'pred' if name == 'bool' else name}[{dims}"


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
                yield _found(program, rows[start], "collective", what, size)
        elif in_order and is_collective(opcode):
            size = op["shape_bytes"] * often
            yield _found(program, op, "collective", opcode, size)
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
