"""The rows of a DuckDB query, fetched on demand."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from stepscope.background import go_on
from stepscope.engines.duckdb import native
from stepscope.engines.duckdb.native import duckdb

if TYPE_CHECKING:
    from stepscope.engines.duckdb import DuckDB


class LazyRows:
    """The rows of a query, fetched on demand. Running another query keeps what is left."""

    def __init__(self, engine: DuckDB, con: duckdb.DuckDBPyConnection) -> None:
        self._engine: DuckDB | None = engine
        self._con = con
        described = con.description or []
        self.columns: tuple[str, ...] = tuple(column[0] for column in described)
        self.types: tuple[str, ...] = tuple(str(column[1]) for column in described)
        self._left: list[tuple[Any, ...]] = []

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        left, self._left = self._left, []
        return left + self._fetch(None)

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        """The remaining rows in lists of at most `size`. Stops between two lists when the query is no longer
        wanted (see stepscope.background)."""
        while True:
            go_on()
            if self._left:
                batch, self._left = self._left[:size], self._left[size:]
            else:
                batch = self._fetch(size)
            if not batch:
                return
            yield batch

    def detach(self) -> None:
        """Fetches what is left, because another query needs the connection."""
        self._left += self._fetch(None)
        self._engine = None

    def forget(self) -> None:
        """Drops what is left, because the connection is being closed."""
        self._engine = None

    def _fetch(self, size: int | None) -> list[tuple[Any, ...]]:
        engine = self._engine
        if engine is None:
            return []
        try:
            if size is None:
                rows = engine.patiently(self._con.fetchall)
                self._engine = None
            else:
                rows = engine.patiently(lambda: self._con.fetchmany(size))
        except duckdb.Error as error:
            self._engine = None  # nothing is left that the next query would have to fetch
            raise engine.refused(error) from error
        return rows


class NoRows:
    """The rows of a query that is known to have none. It runs where its columns are asked for."""

    def __init__(self, run: Callable[[], LazyRows]) -> None:
        self._run = run

    @functools.cached_property
    def _asked(self) -> LazyRows:
        return self._run()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return self._asked.columns

    @property
    def types(self) -> tuple[str, ...]:
        """SQL types of the columns."""
        return self._asked.types

    def rows(self) -> list[tuple[Any, ...]]:
        """None."""
        return []

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        """None."""
        return iter(())


class ArrowRows:
    """The rows of a query as an Arrow stream."""

    def __init__(self, engine: DuckDB, con: duckdb.DuckDBPyConnection, sql: str) -> None:
        self._engine, self._con, self._sql = engine, con, sql

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Runs the query."""
        try:
            return native.stream(self._con, self._sql)
        except duckdb.Error as error:
            raise self._engine.refused(error) from error
