"""Delta Lake: a folder with one Delta table for each table of the schema, or for one.

Spark, DuckDB, Databricks, Trino and others read it. No table holds an absolute path: the folder can be moved.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import UsageError
from stepscope.exporters import Written
from stepscope.exporters.lines import rows_of

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".delta",)
TEXT = False
DEFAULT = None


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes a new folder. UsageError when the package deltalake is not installed."""
    try:
        from deltalake import DeltaTable, write_deltalake
    except ImportError:
        raise UsageError(
            "What writes Delta tables is not installed.",
            seen="the package deltalake is not installed",
            todo="pip install 'stepscope[delta]', or export Parquet: a FILE that ends in /",
        ) from None
    out.mkdir()
    rows = {}
    for name in (table,) if table else (*trace.schema.names, "step"):
        place = str(out / name)
        write_deltalake(place, trace.stream(rows_of(trace, name)), name=name)
        rows[name] = sum(DeltaTable(place).get_add_actions().column("num_records").to_pylist())
    return Written(str(out), rows)
