"""Sentences about the programs that XLA compiled."""

from collections.abc import Iterable, Mapping
from typing import Any

from stepscope import units
from stepscope.report.names import shortened
from stepscope.report.parts import Rows


def modules(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """How many there are, which computes most, and which takes most memory."""
    rows = [row for row in rows_of["hlo_modules"] if not row["is_copy"]]
    if not rows:
        return
    functions = units.count(len({(row["run_id"], row["function"]) for row in rows}), "function")
    yield f"XLA compiled {units.count(len(rows), 'module')} of {functions}."
    most = max(rows, key=lambda row: row["run_flops"] or 0)
    if most["run_flops"]:
        yield f"The most work is in {shortened(most['module'])}: {_work(most)}."
    hungriest = max(rows, key=lambda row: row["allocated_bytes"] or 0)
    if hungriest["allocated_bytes"]:
        size, temporary = (units.show(hungriest[key], "bytes") for key in ("allocated_bytes", "temp_bytes"))
        yield f"{shortened(hungriest['module'])} takes the most memory: {size}, {temporary} of it temporary."
    if copies := len(rows_of["hlo_modules"]) - len(rows):
        yield f"The table also lists {units.count(copies, 'copy', 'copies')} that recordings keep."
    if unread := sum(row["instructions"] is None for row in rows):
        yield f"{units.count(unread, 'module')} could not be read; the column problem says why."


def _work(module: Mapping[str, Any]) -> str:
    """What a run of a program computes."""
    work = f"{units.show(module['run_flops'], 'flop')} a run"
    if module["devices"] and module["is_final"]:
        work += f" on each of {module['devices']} devices"
    if module["flops_per_byte"]:
        work += f", {units.show(module['flops_per_byte'], 'float')} for each byte it moves"
    return work


def passes(rows_of: Mapping[str, Rows]) -> Iterable[str]:
    """How many passes of the compiler changed nothing."""
    passes = sum(row["passes"] for row in rows_of["hlo_modules"])
    if same := passes - sum(row["changing_passes"] for row in rows_of["hlo_modules"]):
        equal = units.agree(same, "equals", "equal")
        dumps = units.count(passes, "dump")
        yield f"Of {dumps} after passes, {same:,} {equal} the dump before byte for byte."
