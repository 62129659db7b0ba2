"""Apache Iceberg: a folder with one Iceberg table for each table of the schema, or for one.

The metadata of an Iceberg table names its files by their whole paths, so the folder is written where it will
stay. A catalog takes a table in by its newest file metadata/*.metadata.json.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.errors import UsageError
from stepscope.exporters import Written
from stepscope.exporters.lines import rows_of

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".iceberg",)
TEXT = False
DEFAULT = None
IN_PLACE = True
_ROWS_AT_ONCE = 2_000_000
"""Rows that are held in memory and become a file."""


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes a new folder. UsageError when the package pyiceberg is not installed."""
    try:
        import pyarrow
        from pyiceberg.catalog.memory import InMemoryCatalog
    except ImportError as error:
        raise UsageError(
            "What writes Iceberg tables is not installed.",
            seen=str(error),
            todo="pip install 'stepscope[iceberg]', or export Parquet: a FILE that ends in /",
        ) from None
    out.mkdir()
    place = out.absolute()
    catalog = InMemoryCatalog("stepscope", warehouse=place.as_uri())
    catalog.create_namespace("stepscope")
    rows = {}
    for name in (table,) if table else (*trace.schema.names, "step"):
        reader = pyarrow.RecordBatchReader.from_stream(trace.stream(rows_of(trace, name)))
        made = catalog.create_table(
            f"stepscope.{name}", schema=reader.schema, location=(place / name).as_uri()
        )
        rows[name] = 0
        with made.transaction() as all_at_once:
            for part in _parts(reader, pyarrow):
                all_at_once.append(part)
                rows[name] += part.num_rows
    catalog.close()
    note = "each table's newest metadata/*.metadata.json is what catalogs and readers take"
    return Written(str(out), rows, (note,))


def _parts(reader: Any, pyarrow: Any) -> Iterator[Any]:
    """The rows of a stream as Arrow tables of a bearable size."""
    held: list[Any] = []
    for batch in reader:
        held.append(batch)
        if sum(batch.num_rows for batch in held) >= _ROWS_AT_ONCE:
            yield pyarrow.Table.from_batches(held, reader.schema)
            held = []
    if any(batch.num_rows for batch in held):
        yield pyarrow.Table.from_batches(held, reader.schema)
