"""A Trace over rows that a test drew, with the parts of the interface that exporters use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from stepscope.lake.schema import Schema, schema
from tests.draw import Tables


class DrawnResult:
    """Rows of a query that are all there already."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        self.columns = tuple(column[0] for column in cursor.description or ())
        self.types = tuple(str(column[1]) for column in cursor.description or ())
        self._rows = cursor.fetchall()

    def rows(self) -> list[tuple[Any, ...]]:
        return self._rows

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        for start in range(0, len(self._rows), size):
            yield self._rows[start : start + size]


class DrawnTrace:
    """Answers from tables in memory."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.connection = tables.connect()
        self.sources = ()
        self.skipped = ()

    @property
    def schema(self) -> Schema:
        return schema()

    def query(self, sql: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> DrawnResult:
        return DrawnResult(self.connection.execute(sql, params))

    def copy(self, sql: str, path: str, options: str) -> int:
        target = path.replace("'", "''")
        rows = self.connection.execute(f"COPY ({sql}) TO '{target}' ({options})").fetchone()
        return int(rows[0]) if rows else 0

    def close(self) -> None:
        self.connection.close()
