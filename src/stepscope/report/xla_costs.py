"""The costs of a program of a dump folder, and what they leave out."""

from collections.abc import Mapping
from typing import Any

from stepscope import units
from stepscope.formats.xla.hlo_files import largest as program
from stepscope.instruments.xla import costs
from stepscope.instruments.xla.costs import BY
from stepscope.report.listing import Listing, Row

__all__ = ["BY", "build", "program"]

_FOR_PEOPLE = (
    "name", "opcode", "times", "flops", "bytes", "flops_per_byte", "flops_share", "bytes_share", "bound",
    "bound_ps", "instructions", "file", "line",
)  # fmt: skip


def build(program: Mapping[str, Any], by: str, peak: tuple[float, float] | None, most: int | None) -> Listing:
    """What a program costs. by: one of BY. peak: flops and bytes a second of the machine. most: rows."""
    rows = costs.rows(program, by, peak)
    remarks = [f"{program['module']}, {program['file']}"]
    if most is not None and len(rows) > most:
        remarks.append(f"{units.count(len(rows) - most, 'more row')} (--all shows them)")
    if program["run_custom_calls"]:
        calls = units.count(int(program["run_custom_calls"]), "custom call")
        remarks.append(f"{calls} of unknown cost left out")
    if program["run_open_loops"]:
        loops = units.count(int(program["run_open_loops"]), "loop")
        remarks.append(f"{loops} of unknown length counted once")
    cells = ({name: units.whole(cell) for name, cell in row.items()} for row in rows[:most])
    return Listing(costs.COLUMNS, cells, ["; ".join(remarks)], _FOR_PEOPLE, _rounded)


def _rounded(row: Row) -> Row:
    return {
        name: units.whole(round(cell, 4)) if isinstance(cell, float) else cell for name, cell in row.items()
    }
