"""All rows of one small Parquet file, without an engine around it."""

import functools
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope.engines.duckdb import native
from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.tables import quote


class Odd(ValueError):
    """A file that is not Parquet, or has other columns; the message says what was seen."""


def rows_of_file(path: Path, columns: Sequence[tuple[str, str]]) -> list[tuple[Any, ...]]:
    """The rows of a file that has exactly these columns, by name and SQL type. Odd when it has others, or
    cannot be read; no character of the path may stand for a pattern."""
    connection = _database(os.getpid()).cursor()
    try:
        picked = ", ".join(quote(name) for name, _ in columns)
        read = "read_parquet($1, hive_partitioning = false)"
        described = connection.execute(f"DESCRIBE SELECT * FROM {read}", [str(path)]).fetchall()
        found = [(str(name), str(kind)) for name, kind, *_ in described]
        if found != list(columns):
            raise Odd(f"columns {', '.join(f'{name} {kind}' for name, kind in found)}")
        return connection.execute(f"SELECT {picked} FROM {read}", [str(path)]).fetchall()
    except duckdb.Error as error:
        _database.cache_clear()  # some errors end the whole database
        raise Odd(str(error).splitlines()[0]) from None
    finally:
        connection.close()


@functools.cache
def _database(process_id: int) -> duckdb.DuckDBPyConnection:
    """One that knows nothing, for all files that a process reads: to make it takes ten times as long as to
    read a file. A forked process has its own: it may have been forked while another thread used this one."""
    native.prepare()
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "python_enable_replacements": False,
        "threads": 1,
    }
    return duckdb.connect(":memory:", config=settings)
