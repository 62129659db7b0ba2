"""What the routes run, each as a process of its own: `python benchmarks/work.py NAME FILE [ARGUMENTS]`."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

COLUMNS = "{'ph': 'VARCHAR', 'name': 'VARCHAR', 'dur': 'BIGINT'}"
EVERY_COLUMN = (
    "{'ph': 'VARCHAR', 'cat': 'VARCHAR', 'name': 'VARCHAR', 'pid': 'BIGINT', 'tid': 'BIGINT', 'ts': 'BIGINT',"
    " 'dur': 'BIGINT', 'id': 'BIGINT', 'args': 'JSON'}"
)
TOP_OPS = "SELECT name, sum(dur) AS total FROM {} WHERE ph = 'X' GROUP BY name ORDER BY total DESC LIMIT 20"


def json_loads(file: str) -> None:
    """Python's json, the file alone."""
    json.loads(Path(file).read_bytes())


def duckdb_guess(file: str) -> None:
    """DuckDB's read_json as one writes it: types found by looking."""
    import duckdb

    duckdb.sql(TOP_OPS.format(f"read_json('{file}', format = 'array')")).fetchall()


def duckdb_unnest(file: str) -> None:
    """The same where the events are within an object, as in nearly all files."""
    import duckdb

    size = Path(file).stat().st_size + 1
    events = f"(SELECT unnest(traceEvents) AS e FROM read_json('{file}', maximum_object_size = {size}))"
    duckdb.sql(
        f"SELECT e.name, sum(e.dur) AS total FROM {events} WHERE e.ph = 'X'"
        " GROUP BY e.name ORDER BY total DESC LIMIT 20"
    ).fetchall()


def duckdb_columns(file: str) -> None:
    """DuckDB's read_json at its best: only the columns of the question, types given."""
    import duckdb

    duckdb.sql(TOP_OPS.format(f"read_json('{file}', format = 'array', columns = {COLUMNS})")).fetchall()


def duckdb_parquet(file: str, out: str) -> None:
    """DuckDB's read_json of a bare array, all columns with their types given, copied to Parquet."""
    import duckdb

    source = f"FROM read_json('{file}', format = 'array', columns = {EVERY_COLUMN})"
    duckdb.sql(f"COPY ({source}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")


def duckdb_unnest_parquet(file: str, out: str) -> None:
    """DuckDB's read_json of an object with events, all columns, copied to Parquet."""
    import duckdb

    size = Path(file).stat().st_size + 1
    fields = EVERY_COLUMN.strip("{}").replace("'", "").replace(":", "")
    events = (
        "SELECT unnest(traceEvents, recursive := true)"
        f" FROM read_json('{file}', maximum_object_size = {size},"
        f" columns = {{'traceEvents': 'STRUCT({fields})[]'}})"
    )
    duckdb.sql(f"COPY ({events}) TO '{out}' (FORMAT parquet, COMPRESSION zstd)")


def decode(file: str, format_: str, threads: str, needs: str, kept: str) -> None:
    """Our decoder alone: columns are `kept` in memory, or filled again when they are full (`streamed`).

    Prints seconds, bytes and events.
    """
    from stepscope import _core

    source = _core.Input.file(file, codec="gzip" if file.endswith(".gz") else "plain")
    start = time.perf_counter()
    asked = [need for need in needs.split(",") if need != "none"]
    keep = kept == "kept"
    store = _core.decode(format_, source, threads=int(threads), needs=asked, keep=keep)
    seconds = time.perf_counter() - start
    facts = store.facts
    print(json.dumps({"seconds": seconds, "bytes": facts["bytes_in"], "events": facts["events_seen"]}))


def value(prefix: str, name: str) -> None:
    """One tensor of a checkpoint."""
    from stepscope import _core

    _core.Checkpoint(prefix).read(name)


def scan(file: str) -> None:
    """Every byte read once into one buffer and looked at (a line count); prints seconds and bytes."""
    buffer = bytearray(1 << 20)
    start = time.perf_counter()
    total = lines = 0
    with Path(file).open("rb", buffering=0) as source:
        while size := source.readinto(buffer):
            total += size
            lines += buffer.count(b"\n")
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": total}))


WORK: dict[str, Callable[..., None]] = {
    work.__name__: work
    for work in (
        json_loads,
        duckdb_guess,
        duckdb_unnest,
        duckdb_columns,
        duckdb_parquet,
        duckdb_unnest_parquet,
        decode,
        value,
        scan,
    )
}

if __name__ == "__main__":
    WORK[sys.argv[1]](*sys.argv[2:])
