"""Timed instructions in other views: grouped, against peaks, with the insides of fusions, with lines."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stepscope.code_lines import is_framework
from stepscope.instruments.roofline import roofs
from stepscope.instruments.xla.costs import scope
from stepscope.instruments.xla.known_programs import HloInstruction, KnownProgram
from stepscope.instruments.xla.timed import COLUMNS, NEVER, finished

BY = ("instruction", "op", "scope", "line", "opcode", "module")
_SHARED = ("module", "program_id", "place", "device", "host", "source_id")
"""Columns that a fusion and its inner instructions share."""


def bounded(rows: Iterable[dict[str, Any]], peaks: tuple[float, float]) -> None:
    """Adds which limit of the machine binds. peaks: flops and bytes per second."""
    for row in rows:
        flops, moved = row["total_flops"], row["total_bytes"]
        if flops is None or moved is None or not (flops or moved):
            continue
        row["bound"], row["bound_ps"] = roofs.least(flops, moved, *peaks)
        row["bound_share"] = row["bound_ps"] / row["self_ps"] if row["self_ps"] else None


def grouped(rows: Sequence[Mapping[str, Any]], by: str) -> list[dict[str, Any]]:
    """Rows grouped by op, scope, line, opcode or module. Flops and bytes cover instructions of known cost;
    where no cost is known, they stay unknown."""
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for timed in rows:
        groups[_key(timed, by)].append(timed)
    found = []
    for name, members in groups.items():
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        modules = {member["module"] for member in members}
        row["instruction"] = name
        if by == "module":
            row["runs"] = max((member["runs"] for member in members if member["runs"]), default=None)
        row["module"] = modules.pop() if len(modules) == 1 else None
        row["opcode"] = name if by == "opcode" else None
        row["timed"], row["instructions"] = True, len(members)
        if by == "line":
            row["file"], row["line"] = members[0]["file"], members[0]["line"]
        hosts = {member["host"] for member in members}
        row["host"] = hosts.pop() if len(hosts) == 1 else None
        for key in ("slices", "executions", "total_ps", "self_ps"):
            row[key] = sum(member[key] for member in members)
        row.update(_sums_of_known(members))
        found.append(row)
    return finished(found)


def _sums_of_known(members: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Sums of what is known of any of them."""
    row: dict[str, float | None] = {}
    for key in ("total_flops", "total_bytes"):
        known = [member[key] for member in members if member[key] is not None]
        row[key] = sum(known) if known else None
    return row


def _key(row: Mapping[str, Any], by: str) -> str:
    if by == "scope":
        return scope(row["op_name"] or "")
    if by == "line":
        return f"{row['file']}:{row['line']}" if row["file"] else "unknown"
    name = row["op_name"] or row["opcode"] if by == "op" else row[by]
    return str(name or "unknown")


def opened(rows: Sequence[dict[str, Any]], programs: Sequence[KnownProgram]) -> list[dict[str, Any]]:
    """The rows, and below each fusion its inner instructions, with costs but no time of their own."""
    known = {(program.module, program.id): program for program in reversed(programs)}
    names: dict[int, dict[str, HloInstruction]] = {}
    parts: dict[int, dict[int, list[HloInstruction]]] = {}
    for program in known.values():
        names[id(program)] = {instruction.name: instruction for instruction in reversed(program.instructions)}
        inside: dict[int, list[HloInstruction]] = defaultdict(list)
        for instruction in program.instructions:
            inside[instruction.computation].append(instruction)
        parts[id(program)] = inside
    found: list[dict[str, Any]] = []
    for row in rows:
        found.append(row)
        program_of = known.get((row["module"], row["program_id"]))
        if program_of is None:
            continue
        fusion = names[id(program_of)].get(row["instruction"])
        if fusion is None or fusion.fused is None:
            continue
        program, inner = program_of, parts[id(program_of)][fusion.fused]
        for made in sorted(inner, key=lambda it: (-(it.flops or 0), -(it.transcendentals or 0))):
            if made.opcode in NEVER:
                continue
            below: dict[str, Any] = dict.fromkeys(COLUMNS)
            below.update({key: row[key] for key in (*_SHARED, "executions")})
            below.update(
                {
                    key: getattr(made, key)
                    for key in ("flops", "transcendentals", "bytes", "op_name", "file", "line")
                }
            )
            below.update(
                instruction=made.name,
                opcode=made.opcode,
                computation=program.computations[made.computation],
                inside=row["instruction"],
                timed=False,
                instructions=1,
            )
            found.append(below)
    return found


def place(rows: Iterable[dict[str, Any]], lines: Iterable[tuple[str, str, int]]) -> None:
    """Adds lines of the program to rows whose program has none, or only the framework's, as in TensorFlow.
    lines: op, file and line, from op logs; ops without one take that of the scope around them."""
    known: dict[str, tuple[str, int] | None] = {}
    for op, file, line in lines:
        known[op] = (file, line) if known.get(op, (file, line)) == (file, line) else None
    for row in rows:
        if not known or not (row["file"] is None or is_framework(row["file"])):
            continue
        name = row["op_name"] or ""
        while name and name not in known:
            name = name.rpartition("/")[0]
        if (found := known.get(name)) is not None:
            row["file"], row["line"] = found
