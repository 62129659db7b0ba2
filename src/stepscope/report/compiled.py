"""A dump folder of XLA as a report: what was compiled, how often, what it costs and what is odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.instruments.xla import evidence, oddities, program_log
from stepscope.instruments.xla.dumps import NOT_COLUMNS
from stepscope.report import compiled_findings
from stepscope.report.compiled_findings import LONGEST, flops, module_name
from stepscope.report.parts import Column, Report, Section, Table

if TYPE_CHECKING:
    from stepscope.instruments.xla.dumps import Dumps

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
    Column("added", "int", "Change", "instructions more than in the dump before", signed=True),
    Column("changed", "text", "Opcodes", "opcodes that became more or fewer"),
)


def build(found: Dumps, name: str, all: bool = False) -> Report:
    """The report on what a folder holds. name: what was read. all: every row of every table."""
    last = oddities.finals(found.rows)
    odd = oddities.find(found.rows)
    logs = program_log.read(found.logs)
    looked = evidence.find(found.rows, logs.said)
    findings = compiled_findings.build(odd, looked.cases, _heavy(last), all)
    sections = [_modules(last, all), _passes(found, all)]
    return Report(
        title=f"{name}: {units.count(len(found.files), 'file')} that XLA dumped",
        headline=(*_headline(found, last, looked.left_out), *_unread(logs.unread)),
        sections=tuple(one for one in sections if one is not None),
        findings=findings,
        next_commands=_next(found, name),
        document={"modules": [_raw(row) for row in last], "oddities": [one._asdict() for one in odd]},
    )


_HEAVY = 0.01


def _heavy(last: Sequence[Mapping[str, Any]]) -> set[str]:
    """Functions with at least a hundredth of the heaviest one's work."""
    found: set[str] = set()
    for key in ("run_flops", "run_bytes"):
        most = max((row[key] for row in last), default=0)
        found |= {row["function"] for row in last if row[key] >= _HEAVY * most}
    return found


def _raw(row: Mapping[str, Any]) -> dict[str, Any]:
    """A module for programs; every figure in the unit that its key names."""
    left_out = ("pass", "pass_number", "before", "changed", "unchanged_passes", *NOT_COLUMNS)
    return {key: value for key, value in row.items() if key not in left_out}


def _headline(found: Dumps, last: Sequence[Mapping[str, Any]], left_out: int) -> list[str]:
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
        what = f"The most work is in {_named(heaviest)}: {flops(heaviest['run_flops'])} a run"
        what += _devices(heaviest)
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
        told.append(f"{_named(hungriest)} takes the most memory: {memory}, {temp} of it temporary.")
    if left_out:
        programs = units.count(left_out, "program")
        told.append(f"The instructions of {programs} were not searched for problems: those that move least.")
    if found.damaged:
        damaged = units.count(found.damaged, "stage")
        told.append(f"{damaged} could not be read; stepscope xla dumps says why, in the column problem.")
    return told


def _unread(logs: Mapping[str, str]) -> list[str]:
    """Logs of which a part is missing, so that what they would tell may be missing, too."""
    return [
        f"{path} could not be read to its end ({why}): spills and refused donations may be missing."
        for path, why in logs.items()
    ]


def _named(row: Mapping[str, Any]) -> str:
    """A module: with its number where the name alone is its function's."""
    return module_name(row["module"], row["id"] if len(row["module"]) > LONGEST else None)


def _devices(row: Mapping[str, Any]) -> str:
    """On how many devices a program runs whose figures are of one; empty where it is one only."""
    if row["partitions"] == 1 or not row["per_device"]:
        return ""
    return f" on each of {row['partitions']} devices"


def _next(found: Dumps, name: str) -> tuple[str, ...]:
    passes = any(row["pass"] for row in found.rows)
    return (
        f"stepscope xla cost {name}",
        *((f"stepscope xla diff {name}",) if passes else ()),
        f"stepscope graph {name}",
        f"stepscope xla dumps {name}",
    )


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
