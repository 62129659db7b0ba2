"""The columns of a store as the schema wants them: ids made unique, run, host and source added."""

from collections.abc import Sequence

from stepscope.lake.schema import SchemaTable
from stepscope.lake.source_ids import first_id

_LOCAL_IDS = frozenset(
    {"id", "device_id", "track_id", "parent_id", "slice_id", "op_run_id", "flow_id",
     "device_track_id", "piece_id", "step_id", "frame_id", "stack_id", "place_id", "rollup_id",
     "module_id", "pass_id"}
)  # fmt: skip
"""Columns that number rows of the same store."""


def quoted(text: str) -> str:
    """Text as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


def values(
    table: SchemaTable, available: Sequence[str], source_id: int, run_id: str, host_id: str
) -> dict[str, str]:
    """SQL for the columns of the schema that differ in a store's table, which has those `available`, or that
    no store has.

    With source_id 0 ids stay as they are, which costs nothing.
    """
    found = {"run_id": quoted(run_id), "host_id": quoted(host_id), "source_id": str(source_id)}
    if offset := first_id(source_id):
        found |= {name: f"{name} + {offset}" for name in _LOCAL_IDS.intersection(available)}
    return {name: sql for name, sql in found.items() if name in table.names}


Columns = list[tuple[str, str, str | int | None, int]]
"""The columns of a Parquet file as `_core.write_parquet` takes them."""


def plain_columns(table: SchemaTable) -> Columns:
    """The schema's columns of rows that have them all as they are."""
    return [(column.name, column.type, None, 0) for column in table.columns]


def stored_columns(table: SchemaTable, source_id: int, run_id: str, host_id: str) -> Columns:
    """The schema's columns of a store's table: what `values` gives an engine, without one."""
    fixed: dict[str, str | int] = {"run_id": run_id, "host_id": host_id, "source_id": source_id}
    offset = first_id(source_id)
    return [
        (column.name, column.type, fixed.get(column.name), offset if column.name in _LOCAL_IDS else 0)
        for column in table.columns
    ]
