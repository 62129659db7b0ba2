"""Instructions of compiled programs as people read them: the columns that say something, with units."""

from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.instruments.xla.timed import COLUMNS
from stepscope.report.listing import Listing, Row, brief
from stepscope.units import Unit

_UNITS: dict[str, Unit] = {
    **dict.fromkeys(("total_ps", "self_ps", "bound_ps"), "ps"),
    **dict.fromkeys(("share", "bound_share"), "ratio"),
    **dict.fromkeys(
        ("slices", "executions", "runs", "known_trips", "instructions", "times", "number"), "int"
    ),
    **dict.fromkeys(
        ("flops", "bytes", "gflop_per_s", "gb_per_s", "flops_per_byte", "trips", "per_run"), "float"
    ),
}
_TIMED = (
    "module", "instruction", "opcode", "runs", "executions", "per_run", "trips", "self_ps", "share",
    "place_of", "bound", "bound_share", "gflop_per_s", "gb_per_s", "flops", "bytes", "instructions", "device",
    "host",
)  # fmt: skip
_LONGEST = 36


def listing(
    columns: Sequence[str],
    rows: Sequence[Row],
    sentences: Sequence[str],
    most: int | None,
    by: str = "instruction",
) -> Listing:
    """Rows, up to `most`, with the columns that say something of these. by: what a timed row is."""
    rows, left = rows[:most], len(rows) - len(rows[:most])
    more = [f"{units.count(left, 'more row')} (--all shows them)"] if left else []
    is_timed = columns is COLUMNS
    empty = {name for name in ("device", "host") if len(_values(rows, name)) < 2}
    empty |= {name for name in ("per_run", "instructions") if _values(rows, name) <= {1, None}}
    if by != "module":
        empty.add("runs")
    if is_timed and (by == "module" or (len(rows) > 1 and len(_values(rows, "module")) < 2)):
        empty.add("module")
    return Listing(
        columns,
        [{name: units.whole(cell) for name, cell in row.items()} for row in rows],
        [*more, *sentences],
        [name for name in (_TIMED if is_timed else columns) if name not in empty],
        _readable,
        _UNITS,
        {"place_of": "line", **({"instruction": by} if is_timed else {})},
    )


def _values(rows: Sequence[Row], name: str) -> set[Any]:
    return {row.get(name) for row in rows}


def _readable(row: Mapping[str, Any]) -> Row:
    cells = dict(row)
    for name in ("module", "instruction"):
        if name in row and row.get("opcode", "") is not None:
            cells[name] = brief(row[name], _LONGEST)
    if row.get("within"):
        cells["within"] = row["within"].rpartition(" > ")[2]
    if "timed" not in row:
        return cells
    if row["timed"] is False:
        cells["instruction"] = f"  {cells['instruction']} (not timed inside)"
    for rate, name in (("flops_per_s", "gflop_per_s"), ("bytes_per_s", "gb_per_s")):
        cells[name] = None if row[rate] is None else row[rate] / 1e9
    cells["place_of"] = None
    if row["file"] and row["instruction"] != f"{row['file']}:{row['line']}":
        cells["place_of"] = f"{row['file'].rpartition('/')[2]}:{row['line']}"
    return cells
