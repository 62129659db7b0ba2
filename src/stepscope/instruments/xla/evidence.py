"""Which instructions of the programs of a dump folder speak for a problem.

Only programs that are dumped to their end are looked into, each once, those that move most bytes first, up to
a number of instructions; what is left out is counted. What the files do not say is not guessed: thunks of the
CPU may run beside a collective whatever the order in the schedule. A donated buffer that XLA could not use is
still among the donors of the program; one that JAX refused never was, and only the program's log tells, as it
does of registers that are spilled.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core, units
from stepscope.instruments.xla import costs
from stepscope.instruments.xla.oddities import Row, finals, is_final
from stepscope.instruments.xla.program_log import Said, kernel
from stepscope.lake.rows import printable

Program = Mapping[str, Any]

_MOST_INSTRUCTIONS = 100_000
"""Of all programs that are searched, unless the first one has more."""
_LARGEST = 300_000
"""Instructions of a program that is searched."""
_MOST_BYTES = 1 << 28
"""Size of a file that is still opened a second time."""
NOT_TOLD = "not told"
"""The module of what a log says without naming it."""
_LARGE_BYTES = 1 << 20
_LAYOUT_SHARE = 0.1
_LOOP_SHARE = 0.5
_WORK_SHARE = 0.1
_CONSTANT_SHARE = 0.1
_DONOR_BYTES = 1 << 16
_DONOR_SHARE = 0.01


class Case(NamedTuple):
    """An instruction that speaks for a problem.

    kind: dominating_loop, layout_copies, doubles, donors, spills, constants, host_calls, custom_calls or
    exposed_collectives.
    value: bytes, or how often a run comes by; share: of the program, None where there is no whole. what: an
    opcode, a target, or the layouts."""

    kind: str
    module: str
    id: int | None
    instruction: str
    what: str
    value: float
    share: float | None
    op_name: str | None
    file: str | None
    line: int | None


class Found(NamedTuple):
    """Cases, and the number of programs that were not looked into."""

    cases: list[Case]
    left_out: int


def find(rows: Sequence[Row], said: Sequence[Said] = ()) -> Found:
    """What the instructions of the programs that run tell. rows: of dumps.read(); said: of a log."""
    programs = [row for row in finals(rows) if is_final(row)]
    work = {key: max((row[key] for row in programs), default=0) for key in ("run_flops", "run_bytes")}
    searched = 0
    cases: list[Case] = []
    left_out = 0
    spills = {one.name: one for one in said if one.kind == "spilled"}
    for row in sorted(programs, key=lambda row: (-row["run_bytes"], row["file"])):
        full = searched and searched + row["instructions"] > _MOST_INSTRUCTIONS
        if full or row["instructions"] > _LARGEST or row["file_bytes"] > _MOST_BYTES:
            left_out += 1
            continue
        searched += row["instructions"]
        try:
            program = _core.hlo_module(Path(row["path"]).read_bytes())
        except (OSError, _core.CoreError):  # it changed since it was summed up
            left_out += 1
            continue
        cases += _of_program(row, program, work)
        cases += _spills(row, program, spills)
    cases += (_unplaced("spills", one, None) for one in spills.values())
    cases += (_unplaced("donors", one, _taker(one, programs)) for one in said if one.kind == "refused")
    order = {kind: number for number, kind in enumerate(dict.fromkeys(one.kind for one in cases))}
    return Found(sorted(cases, key=lambda one: (order[one.kind], -one.value, one.instruction)), left_out)


def _of_program(row: Row, program: Program, work: Mapping[str, float]) -> Iterator[Case]:
    times = {number: one["times"] for number, one in enumerate(program["computation_rows"])}
    heavy = any(work[key] and row[key] >= _WORK_SHARE * work[key] for key in work)
    if heavy:
        yield from _loops(row, program, times)
    yield from _layouts(row, program, times)
    if row["f64_instructions"] and not re.search(r"\b(f64|c128)\[", row["parameters"] or ""):
        yield from _doubles(row, program)
    yield from _donors(row, program)
    yield from _constants(row, program)
    yield from _calls(row, program, times)
    if program["scheduled"]:
        yield from _collectives(row, program, times)


def _case(
    kind: str, row: Row, program: Program, one: Row, what: str, value: float, share: float | None
) -> Case:
    file, line = costs.place_of(program, one)
    name, op = printable(one["name"]), printable(one["op_name"]) or None
    return Case(kind, row["module"], row["id"], name, printable(what), value, share, op, file, line)


def _loops(row: Row, program: Program, times: Mapping[int, float]) -> Iterator[Case]:
    """The outermost loops that do most of the work or move most of the bytes."""
    for one in program["instruction_rows"]:
        if one["opcode"] != "while" or one["computation"] != program["entry_computation"]:
            continue
        shares = [
            one[key] * times.get(one["computation"], 0.0) / row[key]
            for key in ("run_flops", "run_bytes")
            if row[key] > 0 and (key == "run_bytes" or row["run_flops"] >= 1e6)
        ]
        share = min(1.0, max(shares, default=0.0))
        if share >= _LOOP_SHARE:
            trips = one["trip_count"]
            what = "" if trips is None else units.count(trips, "trip")
            yield _case("dominating_loop", row, program, one, what, one["run_bytes"], share)


_LAYOUT = re.compile(r"\{[^{}]*\}")
_SPACE = re.compile(r":?S\(\d+\)")
"""Where a value is in memory, which says nothing about the order of its elements."""


def _layouts(row: Row, program: Program, times: Mapping[int, float]) -> Iterator[Case]:
    """Copies into another layout and transposes, alone or as a fusion of nothing else, that move a tenth of
    what the program moves."""
    rows = program["instruction_rows"]
    inside: dict[int, list[Row]] = defaultdict(list)
    for one in rows:
        inside[one["computation"]].append(one)
    found = []
    for one in rows:
        often = times.get(one["computation"], 0.0)
        if not often or one["run_bytes"] <= 0:
            continue
        movers = [one]
        if one["opcode"] == "fusion" and len(one["called"]) == 1:
            movers = [it for it in inside[one["called"][0]] if it["opcode"] not in ("parameter", "bitcast")]
        if movers and all(it["opcode"] in ("copy", "transpose") for it in movers):
            told = [what for it in movers if (what := _other_layout(it, rows))]
            if told:
                found.append((one, told[0], one["run_bytes"] * often))
    moved = sum(size for _, _, size in found)
    if moved < _LARGE_BYTES or moved < _LAYOUT_SHARE * row["run_bytes"]:
        return
    for one, what, size in found:
        yield _case("layout_copies", row, program, one, what, size, min(1.0, size / row["run_bytes"]))


def _other_layout(one: Row, rows: Sequence[Row]) -> str:
    """What a copy or transpose does to the order of elements in memory; empty if nothing is known to."""
    source = one["operands"][0] if one["operands"] else None
    if source is None:
        return ""
    before, after = (_SPACE.sub("", it["shape"]) for it in (rows[source], one))
    if one["opcode"] == "copy" and (before == after or not _LAYOUT.search(before + after)):
        return ""
    return f"{before} to {after}"


def _doubles(row: Row, program: Program) -> Iterator[Case]:
    """Where doubles come from: instructions that make them and take none."""
    rows = program["instruction_rows"]
    for one in rows:
        takes = (rows[at]["shape"] for at in one["operands"] if at is not None)
        made = one["opcode"] not in _HOLDERS and _is_double(one["shape"])
        if made and not any(map(_is_double, takes)):
            yield _case("doubles", row, program, one, one["opcode"], one["shape_bytes"], None)


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
    for one in program["instruction_rows"]:
        own = one["opcode"] == "parameter" and one["computation"] == program["entry_computation"]
        if own and sizes.get(one["number"]):
            size = sizes[one["number"]]
            share = min(1.0, size / all_memory) if all_memory else None
            what = f"parameter {one['number']}, {one['shape']}"
            yield _case("donors", row, program, one, what, size, share)


def _spills(row: Row, program: Program, spills: dict[str, Said]) -> Iterator[Case]:
    """Fusions whose kernels spill; these are taken from spills."""
    if spills:
        for one in program["instruction_rows"]:
            if one["opcode"] == "fusion" and (said := spills.pop(kernel(one["name"]), None)):
                yield _case("spills", row, program, one, said.what, said.value, None)


def _unplaced(kind: str, said: Said, row: Row | None) -> Case:
    """What a log says, with the program where only one can be meant."""
    module, number = (NOT_TOLD, None) if row is None else (row["module"], row["id"])
    return Case(
        kind,
        module,
        number,
        printable(said.name),
        said.what,
        said.value,
        None,
        None,
        printable(said.path),
        said.at,
    )


def _taker(said: Said, programs: Sequence[Row]) -> Row | None:
    """The program with a parameter of the shape of a refused argument, if only one function has one."""
    shape = _as_xla(said.name)
    found = [row for row in programs if shape in re.sub(_LAYOUT, "", row["parameters"] or "").split(", ")]
    return found[0] if len({row["function"] for row in found}) == 1 else None


def _as_xla(shape: str) -> str:
    """A shape as JAX writes it, in the words of XLA: float32[8] is f32[8]."""
    name, _, dims = shape.partition("[")
    for jax, xla in (("bfloat", "bf"), ("float", "f"), ("uint", "u"), ("int", "s"), ("complex", "c")):
        if name.startswith(jax):
            return f"{xla}{name.removeprefix(jax)}[{dims}"
    return f"{'pred' if name == 'bool' else name}[{dims}"


def _constants(row: Row, program: Program) -> Iterator[Case]:
    total = row["allocated_bytes"]
    constants = [one for one in program["instruction_rows"] if one["opcode"] == "constant"]
    size = sum(one["shape_bytes"] for one in constants)
    if size < _LARGE_BYTES or (total is not None and size < _CONSTANT_SHARE * total):
        return
    for one in constants:
        if one["shape_bytes"] >= _LARGE_BYTES / 16:
            share = min(1.0, one["shape_bytes"] / total) if total else None
            yield _case("constants", row, program, one, one["shape"], one["shape_bytes"], share)


_OF_HOST = re.compile(
    r"python_(cpu|gpu|tpu)_callback|python_callback|host_callback|HostCallback|PyFunc", re.I
)


def _calls(row: Row, program: Program, times: Mapping[int, float]) -> Iterator[Case]:
    """Calls of the host's Python, its queues, and custom calls, which cost what nobody knows."""
    for one in program["instruction_rows"]:
        often = times.get(one["computation"], 0.0)
        if not often:
            continue
        target = one["target"] or ""
        if one["opcode"] in ("infeed", "outfeed") or _OF_HOST.search(target):
            yield _case("host_calls", row, program, one, target or one["opcode"], often, None)
        if one["opcode"] == "custom-call":
            yield _case("custom_calls", row, program, one, target or "no target", often, None)


_COLLECTIVES = (
    *("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute"),
    *("collective-broadcast", "ragged-all-to-all"),
)


def _collectives(row: Row, program: Program, times: Mapping[int, float]) -> Iterator[Case]:
    """Collectives that the schedule hides behind nothing: those that begin and end with no work in between,
    and those that are one instruction where the stage names an accelerator."""
    rows = program["instruction_rows"]
    begun: dict[int, int] = {}
    work: dict[int, int] = defaultdict(int)  # instructions with work so far, by computation
    wrapping = {one["computation"] for one in rows if one["opcode"] in _COLLECTIVES}
    in_order = any(platform in (row["stage"] or "") for platform in ("gpu_", "tpu_"))
    for at, one in enumerate(rows):
        computation, opcode = one["computation"], one["opcode"]
        often = times.get(computation, 0.0)
        if not often:
            continue
        if opcode.endswith("-start") and _is_collective(one, wrapping):
            begun[at] = work[computation]
        elif opcode.endswith("-done"):
            start = next((it for it in one["operands"] if it in begun), None)
            if start is not None and begun.pop(start) == work[computation]:
                what = rows[start]["opcode"]
                size = one["shape_bytes"] * often  # a start has its operands in its shape, too
                yield _case("exposed_collectives", row, program, rows[start], what, size, None)
        elif opcode in _COLLECTIVES and in_order:
            size = one["shape_bytes"] * often
            yield _case("exposed_collectives", row, program, one, opcode, size, None)
        elif opcode != "tuple" and (one["run_flops"] or one["run_transcendentals"] or one["run_bytes"]):
            work[computation] += 1


def _is_collective(one: Row, wrapping: set[int]) -> bool:
    """Whether a start is of a collective. wrapping: computations that hold one, as async-start calls them."""
    return one["opcode"].removesuffix("-start") in _COLLECTIVES or not wrapping.isdisjoint(one["called"])
