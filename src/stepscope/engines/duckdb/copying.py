"""Files that DuckDB writes: the rows of a SELECT with COPY."""

from typing import NoReturn

from stepscope.engines import Form
from stepscope.engines.duckdb.native import duckdb
from stepscope.errors import OutputError, QueryError

COPY: dict[Form, str] = {
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    # Row groups of 16 MiB and more, as warehouses want them: a slice takes 6 bytes and up. Version 2 stores
    # whole numbers as differences: slices take 43 % less. Its pages are still those of version 1. It splits
    # the bytes of doubles as well, which no other file of a lake does.
    "packed": "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2949120, PARQUET_VERSION v2",
    "packed_plain": "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2949120",
    "csv": "FORMAT csv, HEADER true, USE_TMP_FILE false",
    "ndjson": "FORMAT json, ARRAY false, USE_TMP_FILE false",
    # A column of one text, written as it is: the delimiter is a character that JSON cannot hold unescaped.
    "text": "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01', USE_TMP_FILE false",
}


def copy_statement(select: str, path: str, form: Form) -> str:
    """The COPY that writes the rows of a SELECT to a file."""
    target = path.replace("'", "''")
    return f"COPY ({select.rstrip().rstrip(';')}) TO '{target}' ({COPY[form]})"


def raise_of_copy(error: QueryError, path: str) -> NoReturn:
    """Raises OutputError where the file could not be written, else the error of the SELECT."""
    if not isinstance(error.__cause__, duckdb.IOException):
        raise error
    raise OutputError(
        "A file could not be written.",
        seen=error.seen,
        todo="check that its disk has space and that you may write there",
        path=path,
    ) from error.__cause__
