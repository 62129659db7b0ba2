"""The one stand-in for a Trace: DuckDB over the rows that a test gives it; no decoding, cache or lake."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb

from stepscope import library
from stepscope.engines import Arrow, Form, NeededRows, Params, Statement, are_unmet, statement
from stepscope.engines.duckdb.copying import COPY
from stepscope.errors import QueryError
from stepscope.lake.schema import Schema, schema
from stepscope.session.schedule import Asking, Progress
from tests.draw import Tables


class FakeResult:
    """Rows that are all there already."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection) -> None:
        described = cursor.description or ()
        self.columns = tuple(str(column[0]) for column in described)
        self.types = tuple(str(column[1]) for column in described)
        self._left: list[tuple[Any, ...]] = cursor.fetchall()

    def rows(self) -> list[tuple[Any, ...]]:
        left, self._left = self._left, []
        return left

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        while self._left:
            batch, self._left = self._left[:size], self._left[size:]
            yield batch


class FakeTrace:
    """All of stepscope.session.trace.OpenTrace over a connection that has the tables and views."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        *given: str,
        sources: Sequence[Any] = (),
        keeps: bool = False,
        empty: frozenset[str] = frozenset(),
    ) -> None:
        """keeps: nobody else has the connection, in which rows of views that are to be kept become tables.
        empty: tables without rows; as in an engine, what has no rows without theirs is not asked."""
        self.connection = connection
        self._keeps, self._empty = keeps, empty
        self.given = given
        self.sources = tuple(sources)
        self.skipped: tuple[Any, ...] = ()
        self.interrupted = False
        self.kept: list[str] = []
        """Views that were to be computed once."""

    @property
    def schema(self) -> Schema:
        return schema()

    def begin(self) -> None:
        """Nothing has to be decoded."""

    def query(self, sql: str | Statement, params: Params = ()) -> FakeResult:
        try:
            return FakeResult(self.connection.cursor().execute(statement(sql).sql, params or None))
        except duckdb.Error as error:
            raise QueryError("The engine refused the SQL", seen=str(error), todo="look at the SQL") from error

    def stream(self, sql: str | Statement) -> Arrow:
        return self.connection.cursor().sql(statement(sql).sql)

    def lanes(self) -> None:
        """Slices have to be asked for."""

    def ask(self, entry: library.Entry) -> FakeResult:
        return self.query(entry.statement)

    def answers(
        self, entries: Sequence[library.Entry], keep: Sequence[str] = ()
    ) -> list[list[tuple[Any, ...]]]:
        self.keep(keep)
        return [[] if are_unmet(entry.needs, self._lacks) else self.ask(entry).rows() for entry in entries]

    def _lacks(self, need: NeededRows) -> bool:
        return need.table in self._empty

    def define(self, views: Mapping[str, str | Statement]) -> None:
        for name, view in views.items():
            self.connection.execute(f"CREATE OR REPLACE VIEW {name} AS {statement(view).sql}")

    def keep(self, names: Sequence[str]) -> None:
        for name in names:
            if not self._keeps:
                assert self.connection.execute(f"SELECT count(*) FROM {name}").fetchone()
            elif name not in self.kept:
                self.connection.execute(f'CREATE TABLE "kept {name}" AS SELECT * FROM {name}')
                self.connection.execute(f'CREATE OR REPLACE VIEW {name} AS SELECT * FROM "kept {name}"')
        self.kept += names

    def copy(self, sql: str | Statement, path: str, form: Form) -> int:
        target = path.replace("'", "''")
        copied = self.connection.execute(f"COPY ({statement(sql).sql}) TO '{target}' ({COPY[form]})")
        rows = copied.fetchone()
        return int(rows[0]) if rows else 0

    def watch(self, reading: Progress | None, asking: Asking | None) -> None:
        """Everything is there, and asked at once."""

    def interrupt(self) -> None:
        self.interrupted = True

    def close(self) -> None:
        self.connection.close()

    def leave(self) -> None:
        self.close()

    def __enter__(self) -> FakeTrace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def drawn_trace(tables: Tables, *given: str) -> FakeTrace:
    """A trace over drawn rows, with the base views of the library."""
    return FakeTrace(tables.connect(), *given, keeps=True, empty=tables.empty())
