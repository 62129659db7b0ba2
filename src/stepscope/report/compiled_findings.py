"""Findings on a dump folder: what is odd about its programs, with the instructions that speak for it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.formats._dump_names import function as function_of
from stepscope.library.compiled import KINDS, Definition
from stepscope.report.parts import Column, Finding, Table

if TYPE_CHECKING:
    from stepscope.instruments.xla.evidence import Case
    from stepscope.instruments.xla.oddities import Odd

_MOST = 100
"""Rows of evidence in a report that is not asked for everything."""
LONGEST = 60


_RANK = {"high": 0, "medium": 1, "low": 2, "info": 3}


def build(
    odd: Sequence[Odd], cases: Sequence[Case], heavy: Container[str], all: bool = False
) -> tuple[Finding, ...]:
    """The findings, the most severe first. odd: by program; cases: by instruction, which say more where there
    are any. heavy: functions whose compiles matter."""
    by_kind: dict[str, list[Odd]] = defaultdict(list)
    cases_by_kind: dict[str, list[Case]] = defaultdict(list)
    for one in odd:
        by_kind[one.kind].append(one)
    for case in cases:
        cases_by_kind[case.kind].append(case)
    found = []
    for name, kind in KINDS.items():
        if name in cases_by_kind:
            found.append(_of_cases(kind, name, cases_by_kind[name], all))
        elif name in by_kind:
            programs = sorted(by_kind[name], key=lambda one: -one.value)
            if name in ("recompiled", "retyped"):
                programs.sort(key=lambda one: one.details[0] not in heavy)
                if programs[0].details[0] not in heavy:
                    kind = kind._replace(severity="low")
            found.append(_of_programs(kind, programs, all))
    return tuple(sorted(found, key=lambda one: _RANK[one.severity]))


def _finding(
    kind: Definition, impact: str, columns: Sequence[Column], rows: Sequence[Any], all: bool
) -> Finding:
    kept = tuple(rows if all else rows[:_MOST])
    return Finding(
        kind.slug,
        kind.severity,
        kind.title,
        impact,
        kind.action,
        Table(tuple(columns), kept, len(rows)),
        sql="",
        reasoning=kind.reasoning,
        formula=kind.formula,
    )


_MODULE = (
    Column("module", "text", "Module", "name of the HLO module"),
    Column("id", "int", "Id", "its number in this process"),
)


def _of_cases(kind: Definition, name: str, cases: Sequence[Case], all: bool) -> Finding:
    unit, title, about = kind.value
    columns = (
        *_MODULE,
        Column("instruction", "text", "Instruction", "its name in the program"),
        Column("what", "text", "What", "opcode, target, trips, or shapes with their layouts"),
        Column("value", unit, title, about),
        Column("share", "ratio", "Share", "of the program"),
        Column("op_name", "text", "Op", "the op that it was made of"),
        Column("file", "text", "File", "of the source"),
        Column("line", "int", "Line", "of the source"),
    )
    empty = {column.name for column in columns if _lacking(cases, column.name)}
    kept = [column for column in columns if column.name not in empty]
    rows = [tuple(getattr(one, column.name) for column in kept) for one in cases]
    return _finding(kind, _impact(name, cases), kept, rows, all)


def _lacking(cases: Sequence[Case], name: str) -> bool:
    """Whether no case has a value."""
    return all(getattr(one, name) is None for one in cases)


def _impact(name: str, cases: Sequence[Case]) -> str:
    """What the first case does, and how many there are."""
    first = cases[0]
    program = module_name(first.module, first.id)
    named = f"{short(first.instruction)} in {program}"
    size = units.show(int(first.value), "bytes")
    share = "" if first.share is None else f" ({units.show(first.share, 'ratio')} of the program's)"
    trips = f", in {first.what}" if first.what else ""
    often = units.count(round(first.value), "time")
    said = {
        "dominating_loop": f"{named} has {units.show(first.share or 0.0, 'ratio')} of the work{trips}",
        "layout_copies": f"{named} moves {size}{share} from {short(first.what)}",
        "doubles": f"{named} makes {size} of 64-bit floats",
        "donors": f"argument {short(first.op_name or first.instruction)} of {program} gives {size} that no"
        f" result takes ({first.what})",
        "spills": f"{named} spills {size} in each thread",
        "constants": f"{named} is {size} large",
        "host_calls": f"{named} calls {short(first.what)} {often} in a run",
        "custom_calls": f"{named} calls {short(first.what)} {often} in a run",
        "exposed_collectives": f"{named} communicates {size} while nothing else runs",
    }[name]
    where = f", {first.file}:{first.line}" if first.file and first.line else ""
    return f"{said}{where}.{_more(len(cases))}"


def _more(number: int) -> str:
    return f" {units.count(number - 1, 'more case')} like it." if number > 1 else ""


def _of_programs(kind: Definition, odd: Sequence[Odd], all: bool) -> Finding:
    unit, title, about = kind.value
    columns: tuple[tuple[Column, Callable[[Odd], object]], ...] = (
        (_MODULE[0], lambda one: one.module),
        (_MODULE[1], lambda one: one.id),
        (Column("value", unit, title, about), lambda one: one.value),
        (Column("of", unit, "Of", "what that is part of or compared with"), lambda one: one.of or None),
        (
            Column("details", "text", "Details", "names and shapes"),
            lambda one: ", ".join(filter(None, one.details)) or None,
        ),
    )
    kept = [(column, value) for column, value in columns if any(value(one) is not None for one in odd)]
    rows = [tuple(value(one) for _, value in kept) for one in odd]
    first = odd[0]
    named = "" if first.kind in ("recompiled", "retyped") else f"{module_name(first.module, first.id)}: "
    said = f"{named}{_sentence(first)}{_more(len(odd))}"
    return _finding(kind, said, [column for column, _ in kept], rows, all)


def short(name: str) -> str:
    """A name that fits a sentence."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 9]}…{name[-8:]}"


def flops(number: float) -> str:
    """1.23 Gflop."""
    for size, name in ((1e12, "Tflop"), (1e9, "Gflop"), (1e6, "Mflop"), (1e3, "kflop")):
        if number >= size:
            return f"{units.show(number / size, 'float')} {name}"
    return units.count(int(number), "flop")


def module_name(module: str, id: int | None) -> str:
    """A module in a sentence: by its function where TensorFlow has put that into a long name."""
    name = short(module if len(module) <= LONGEST else function_of(module))
    return name if id is None else f"{name} ({id})"


def _sentence(one: Odd) -> str:
    """What is odd about a program."""
    number = int(one.value)
    if one.kind in ("recompiled", "retyped"):
        function, parameter, before, after = one.details
        return (
            f"{short(function)} was compiled for {number} different inputs: parameter {parameter} was"
            f" {before}, then {after}."
        )
    if one.kind == "mixed":
        a, b = map(short, one.details)
        return f"{number} programs have its number, among them {a} and {b}."
    if one.kind == "unfinished":
        stage, passed = one.details
        return f"the last dump that is there is {f'pass {number}, {passed}' if passed else stage}."
    if one.kind == "loops":
        run, counted = flops(one.value), flops(max(one.of, 0))
        return f"its loops make a run {run}; XLA counts their bodies once and says {counted}."
    if one.kind == "open_loops":
        loops = units.count(number, "loop")
        return f"{loops} without a known trip count: the cost counts each once, so a run costs more."
    if one.kind == "custom_calls":
        calls = units.count(number, "custom call")
        return f"{calls} in a run, whose cost nobody knows; flops and bytes leave them out."
    if one.kind == "doubles":
        doubles, verb = units.count(number, "instruction"), units.agree(number, "makes", "make")
        return f"{doubles} {verb} 64-bit floats, though no parameter is one."
    size = f"{units.show(number, 'bytes')} of {units.show(int(one.of), 'bytes')}"
    if one.kind == "constants":
        return f"constants take {size}."
    if one.kind == "gaps":
        return f"of its temporaries, {size} are never needed at once: alignment and fragmentation."
    return f"{number:,} of {int(one.of):,} instructions copy or transpose."
