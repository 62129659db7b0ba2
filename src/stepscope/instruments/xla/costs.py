"""The cost of a compiled program by instruction, op, scope or line, and the limit of the machine that binds.

A fusion is one instruction: the fused ones run as one kernel. The cost of loops, calls and branches is
counted on the instructions inside, as often as they run.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import code_lines
from stepscope.escapes import printable
from stepscope.instruments.roofline import roofs
from stepscope.instruments.xla.known_programs import CALLS

BY = ("instruction", "op", "scope", "line")
COLUMNS = (
    "module", "id", "name", "opcode", "times", "flops", "transcendentals", "bytes", "flops_per_byte",
    "flops_share", "bytes_share", "bound", "bound_ps", "instructions", "op_name", "file", "line",
)  # fmt: skip
"""A row is an instruction, or all with one op_name, scope or line. times: how often it runs in a run of the
program; flops, transcendentals and bytes: of all these times. bound: compute or memory, whichever takes
longer at the machine's peaks; bound_ps: the least time that it can take there. opcode, times, op_name, file
and line are of single instructions."""


def rows(
    program: Mapping[str, Any], by: str = "instruction", peaks: tuple[float, float] | None = None
) -> list[dict[str, Any]]:
    """Rows with COLUMNS, the most bytes and flops first. by: one of BY. peaks: flops and bytes per second of
    the machine."""
    times = [computation["times"] for computation in program["computation_rows"]]
    groups: dict[Any, list[tuple[Mapping[str, Any], float]]] = defaultdict(list)
    for number, instruction in enumerate(program["instruction_rows"]):
        count = times[instruction["computation"]]
        costs = instruction["run_flops"] or instruction["run_bytes"] or instruction["run_transcendentals"]
        if count and costs and instruction["opcode"] not in CALLS:
            groups[_key(program, instruction, number, by)].append((instruction, count))
    found = [_row(program, name, members, peaks) for (name, _), members in groups.items()]
    for key in ("flops", "bytes"):
        total = sum(row[key] for row in found)
        for row in found:
            row[f"{key}_share"] = row[key] / total if total else 0.0
    return sorted(found, key=lambda row: (-(row["flops_share"] + row["bytes_share"]), row["name"]))


def _key(program: Mapping[str, Any], instruction: Mapping[str, Any], number: int, by: str) -> tuple[str, int]:
    if by == "instruction":
        return instruction["name"], number
    if by == "op":
        return instruction["op_name"] or instruction["opcode"], -1
    if by == "scope":
        return scope(instruction["op_name"]), -1
    file, line = code_lines.frame_line(program["frames"], instruction["frame"])
    return (f"{file}:{line}" if file else "unknown"), -1


def _row(
    program: Mapping[str, Any],
    name: str,
    members: Sequence[tuple[Mapping[str, Any], float]],
    peaks: tuple[float, float] | None,
) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    sums = {
        key: sum(member[f"run_{key}"] * count for member, count in members)
        for key in ("flops", "transcendentals", "bytes")
    }
    row.update(
        module=program["module"], id=program["id"], name=printable(name), instructions=len(members), **sums
    )
    row["flops_per_byte"] = sums["flops"] / sums["bytes"] if sums["bytes"] else None
    if len(members) == 1:
        (member, count) = members[0]
        row["file"], row["line"] = code_lines.frame_line(program["frames"], member["frame"])
        row.update(opcode=member["opcode"], times=int(count), op_name=printable(member["op_name"]) or None)
    if peaks is not None:
        row["bound"], row["bound_ps"] = roofs.least(sums["flops"], sums["bytes"], *peaks)
    return row


NO_SCOPE = "no scope"
_WRAPPED = re.compile(r"^[a-z_]+\((.*)\)$")


def scope(op_name: str) -> str:
    """The scope of an op: jit(f)/jvp(layer_0)/attn/dot_general is layer_0/attn, and so is its gradient,
    jit(f)/transpose(jvp(layer_0))/attn/dot_general, which says so: layer_0/attn (backward). Of an
    instruction that was made of several ops, a;b, the first counts."""
    op_name = op_name.partition(";")[0]
    parts, depth, part = [], 0, ""
    for letter in op_name:
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += letter
    names = []
    for wrapped in parts:  # without the last, which is the op
        inner = wrapped
        while match := _WRAPPED.match(inner):
            inner = "" if inner.startswith(("jit(", "pjit(")) else match[1]
        if inner:
            names.append(inner)
    backward = " (backward)" if "transpose(" in op_name else ""
    return ("/".join(names) or NO_SCOPE) + backward
