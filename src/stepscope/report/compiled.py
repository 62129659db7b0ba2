"""A dump folder of XLA as a report: what was compiled, how often, what it costs and what is odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.report.parts import Column, Report, Section, Table

if TYPE_CHECKING:
    from stepscope.instruments.xla.dumps import Dumps
    from stepscope.instruments.xla.oddities import Odd

_MOST = 20
"""Rows of a table in a report that is not asked for everything."""
_MODULES = (
    Column("module", "text", "Module", "name of the HLO module"),
    Column("id", "int", "Id", "its number in this process"),
    Column("compile", "int", "Compile", "which compile of its function it is"),
    Column("instructions", "int", "Instructions", "in all its computations"),
    Column("fusions", "int", "Fusions", "fused groups of instructions"),
    Column(
        "run_flops", "float", "Flops", "floating-point operations of a run; loops as often as they go round"
    ),
    Column("run_bytes", "bytes", "Bytes moved", "bytes that a run reads and writes"),
    Column("allocated_bytes", "bytes", "Memory", "memory that a run takes"),
    Column("temp_bytes", "bytes", "Temporary", "of it, memory of values in between"),
    Column("flops", "float", "By XLA", "the same as XLA counts it: bodies of loops once"),
)
_PASSES = (
    Column("module", "text", "Module", "name of the HLO module"),
    Column("pass_number", "int", "Number", "of the dump"),
    Column("pass", "text", "Pass", "the pass that had just run"),
    Column("instructions", "int", "Instructions", "after it"),
    Column("added", "int", "Change", "instructions more than in the dump before"),
    Column("changed", "text", "Opcodes", "opcodes that became more or fewer"),
)


def build(found: Dumps, name: str, all: bool = False) -> Report:
    """The report on what a folder holds. name: what was read. all: every row of every table."""
    from stepscope.instruments.xla import oddities

    last = oddities.finals(found.rows)
    odd = oddities.find(found.rows)
    sections = [_modules(last, all), _odd(odd, all), _passes(found, all)]
    return Report(
        title=f"{name}: {units.count(len(found.files), 'file')} that XLA dumped",
        headline=tuple(_headline(found, last, odd)),
        sections=tuple(one for one in sections if one is not None),
        next_commands=(f"stepscope xla dumps {name}", f"stepscope xla dumps {name} --files"),
        document={"modules": [_raw(row) for row in last], "oddities": [one._asdict() for one in odd]},
    )


def _raw(row: Mapping[str, Any]) -> dict[str, Any]:
    """A module for programs; every figure in the unit that its key names."""
    left_out = ("path", "pass", "pass_number", "before", "changed", "unchanged_passes")
    return {key: value for key, value in row.items() if key not in left_out}


def _headline(found: Dumps, last: Sequence[Mapping[str, Any]], odd: Sequence[Odd]) -> list[str]:
    functions = {(row["folder"], row["function"]) for row in last}
    compiled = units.count(len(last), "module")
    told = [f"XLA compiled {compiled} of {units.count(len(functions), 'function')}."]
    only_input = {(row["id"], row["module"]) for row in found.files if row["place"] == "input"} - {
        (row["id"], row["module"]) for row in last
    }
    if only_input:
        count = units.count(len(only_input), "more module")
        told.append(f"Of {count} the folder has only the input: a filter kept XLA from dumping the rest.")
    heaviest = max(last, key=lambda row: row["run_flops"], default=None)
    if heaviest is not None and heaviest["run_flops"] > 0:
        what = f"The most work is in {_short(heaviest['module'])}: {_flops(heaviest['run_flops'])} a run"
        moved = heaviest["run_bytes"]
        if moved > 0:
            what += f", {units.show(heaviest['run_flops'] / moved, 'float')} for each byte it moves"
        told.append(f"{what}.")
    hungriest = max(
        (row for row in last if row["allocated_bytes"] is not None),
        key=lambda row: row["allocated_bytes"],
        default=None,
    )
    if hungriest is not None and hungriest["allocated_bytes"]:
        memory, temp = (units.show(hungriest[key], "bytes") for key in ("allocated_bytes", "temp_bytes"))
        told.append(f"{_short(hungriest['module'])} takes the most memory: {memory}, {temp} of it temporary.")
    told += [f"{units.count(len(odd), 'oddity', 'oddities')}: see below."] if odd else []
    if found.damaged:
        damaged = units.count(found.damaged, "stage")
        told.append(f"{damaged} could not be read; stepscope xla dumps says why, in the column problem.")
    return told


def _flops(number: float) -> str:
    for size, name in ((1e12, "Tflop"), (1e9, "Gflop"), (1e6, "Mflop"), (1e3, "kflop")):
        if number >= size:
            return f"{units.show(number / size, 'float')} {name}"
    return units.count(int(number), "flop")


_LONGEST = 60


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 9]}…{name[-8:]}"


def _modules(last: Sequence[Mapping[str, Any]], all: bool) -> Section:
    ordered = sorted(last, key=lambda row: -row["run_flops"])
    kept = ordered if all else ordered[:_MOST]
    rows = tuple(tuple(row[column.name] for column in _MODULES) for row in kept)
    answer = []
    if len(kept) < len(ordered):
        answer.append(
            f"The {len(kept)} modules with the most work; {len(ordered) - len(kept):,} others do less."
        )
    return Section(
        "compiled_modules",
        "Modules",
        "What was compiled, and what does it cost?",
        tuple(answer),
        Table(_MODULES, rows, len(ordered)),
    )


def _odd(odd: Sequence[Odd], all: bool) -> Section | None:
    """A sentence for each oddity."""
    if not odd:
        return None
    kept = odd if all else odd[:_MOST]
    told = [
        _sentence(one) if one.kind == "recompiled" else f"{_named(one)}: {_sentence(one)}" for one in kept
    ]
    if len(kept) < len(odd):
        told.append(f"{len(odd) - len(kept):,} more; --all lists them.")
    return Section("compiled_oddities", "Odd", "What is odd about it?", tuple(told))


def _named(one: Odd) -> str:
    return _short(one.module) if one.id is None else f"{_short(one.module)} ({one.id})"


def _passes(found: Dumps, all: bool) -> Section | None:
    """The passes that changed the number of instructions most."""
    rows: list[tuple[Any, ...]] = []
    passes = 0
    before: Mapping[str, Any] | None = None
    for row in found.rows:
        same = before is not None and (before["id"], before["module"]) == (row["id"], row["module"])
        known = same and before is not None and None not in (before["instructions"], row["instructions"])
        if row["pass"] is not None:
            passes += 1
            if known and before is not None and row["changed"]:
                added = row["instructions"] - before["instructions"]
                figures = (row["module"], row["pass_number"], row["pass"], row["instructions"])
                rows.append((*figures, added, row["changed"]))
        before = row
    if not passes:
        return None
    rows.sort(key=lambda row: -abs(row[4]))
    kept = rows if all else rows[:10]
    answer = [f"{units.count(len(rows), 'dump')} of {passes + found.folded:,} changed the opcodes."]
    if found.folded:
        verb = units.agree(found.folded, "equals", "equal")
        answer.append(f"{found.folded:,} {verb} the dump before byte for byte.")
    return Section(
        "compiled_passes",
        "Passes",
        "Which passes changed the most?",
        tuple(answer),
        Table(_PASSES, tuple(kept), len(rows)),
    )


def _sentence(one: Odd) -> str:
    """What is odd, and what to do about it."""
    number = int(one.value)
    if one.kind == "recompiled":
        function, parameter, before, after = one.details
        return (
            f"{_short(function)} was compiled for {number} different inputs: parameter {parameter} was"
            f" {before}, then {after}. Pad inputs to one shape, or bucket them."
        )
    if one.kind == "unfinished":
        stage, passed = one.details
        after = f"pass {number}, {passed}" if passed else stage
        return f"the compile was not dumped to its end; the last that is there is {after}."
    if one.kind == "loops":
        run, counted = _flops(one.value), _flops(max(one.of, 0))
        return f"its loops make a run {run}; XLA counts their bodies once and says {counted}."
    if one.kind == "open_loops":
        loops = units.count(number, "loop")
        return f"{loops} without a known trip count: the cost counts each once, so a run costs more."
    if one.kind == "custom_calls":
        calls = units.count(number, "custom call")
        return f"{calls} in a run, whose cost nobody knows; flops and bytes leave them out."
    if one.kind == "doubles":
        doubles, verb = units.count(number, "instruction"), units.agree(number, "makes", "make")
        return f"{doubles} {verb} 64-bit floats, though no parameter is one. Give constants a type."
    size = f"{units.show(number, 'bytes')} of {units.show(int(one.of), 'bytes')}"
    if one.kind == "constants":
        return f"constants take {size}. Pass arrays as arguments instead of closing over them."
    if one.kind == "gaps":
        return f"of its temporaries, {size} are never needed at once: alignment and fragmentation."
    share = f"{number:,} of {int(one.of):,} instructions"
    return f"{share} copy or transpose. Keep one layout through the model, or transpose weights once."
