"""A DuckDB database: all tables of the schema with their comments, and the whole library as views.

It needs no stepscope to be read: `duckdb trace.duckdb "FROM ops"` answers as `stepscope query` does.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import library
from stepscope.exporters import Written
from stepscope.exporters.fields import quote
from stepscope.exporters.parquet import write_folder
from stepscope.exporters.staging import remove

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".duckdb",)
TEXT = False
DEFAULT = None


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes the database by way of Parquet files beside it, which are removed again. OSError when the system
    refuses; DuckDB's log of the unfinished write is removed, too."""
    import duckdb

    refused = (duckdb.IOException, duckdb.FatalException, duckdb.TransactionException)
    try:
        return _write(trace, out, table)
    except refused as error:
        raise OSError(str(error).splitlines()[0]) from error  # staged() knows under which name to report it
    finally:
        remove(Path(f"{out}.wal"))


def _write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    import duckdb

    tables = (table,) if table else trace.schema.names
    folder = Path(tempfile.mkdtemp(prefix=".part-", dir=out.parent))
    try:
        parts = folder / "tables"
        rows = write_folder(trace, parts, tables)
        with duckdb.connect(str(out)) as database:
            database.begin()
            for name in tables:
                _fill(database, trace, name, parts / f"{name}.parquet")
            if table is None:
                _views(database)
            database.commit()
            # Closing would do it as well, but not say when it fails.
            database.execute("CHECKPOINT")
    finally:
        remove(folder)
    return Written(str(out), rows)


def _fill(database: DuckDBPyConnection, trace: OpenTrace, name: str, part: Path) -> None:
    source = f"SELECT * FROM read_parquet({quote(str(part))})"
    known = next((table for table in trace.schema.tables if table.name == name), None)
    if known is None:  # the flat events, whose types follow from their SELECT
        from stepscope.exporters.events import COLUMNS

        database.execute(f"CREATE TABLE {name} AS {source}")
        abouts = COLUMNS
    else:
        columns = ", ".join(
            f"{column.name} {column.type}{'' if column.nullable else ' NOT NULL'}" for column in known.columns
        )
        database.execute(f"CREATE TABLE {name} ({columns})")
        database.execute(f"INSERT INTO {name} BY NAME {source}")
        database.execute(f"COMMENT ON TABLE {name} IS {quote(known.about)}")
        abouts = {column.name: column.about for column in known.columns}
    for column, about in abouts.items():
        database.execute(f"COMMENT ON COLUMN {name}.{column} IS {quote(about)}")


def _views(database: DuckDBPyConnection) -> None:
    for entry in (*library.views(), *library.entries("analysis"), *library.entries("finding")):
        database.execute(f"CREATE VIEW {entry.name} AS {entry.sql}")
        database.execute(f"COMMENT ON VIEW {entry.name} IS {quote(entry.question)}")
        for field in entry.columns:
            database.execute(f"COMMENT ON COLUMN {entry.name}.{field.name} IS {quote(field.about)}")
