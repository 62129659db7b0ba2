"""A Trace without files: DuckDB over a few rows, for tests of the command line alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import duckdb
import pytest

from stepscope import report
from stepscope.errors import QueryError
from stepscope.lake.schema import schema
from stepscope.session import trace
from tests.presenters.example import REPORT


class FakeResult:
    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.columns = tuple(column[0] for column in answer.description)
        self.types = tuple(str(column[1]) for column in answer.description)

    def rows(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self._answer.fetchall()
        return found

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        while batch := self._answer.fetchmany(size):
            yield batch


class FakeTrace:
    """Remembers how it was opened; answers SQL over slice(name, dur_ps)."""

    def __init__(self, *paths: Any, **options: Any) -> None:
        self.paths, self.options = paths, options
        self.given = tuple(str(path) for path in paths)
        self.sources = tuple(SimpleNamespace(path=str(path)) for path in paths)
        self.skipped: tuple[Any, ...] = ()
        self.schema = schema()
        self.interrupted = False
        self._connection = duckdb.connect()
        self._connection.execute(
            "CREATE TABLE slice AS SELECT 'op' || (i % 3) AS name, i AS dur_ps FROM range(9) t(i)"
        )

    def query(self, sql: str, params: Any = ()) -> FakeResult:
        try:
            return FakeResult(self._connection.cursor().execute(sql))
        except duckdb.Error as error:
            raise QueryError("The engine refused the SQL", seen=str(error), todo="look at the SQL") from error

    def answer(self, entry: Any) -> FakeResult:
        return self.query(entry.sql)

    def define(self, views: Mapping[str, str]) -> None:
        pass

    def interrupt(self) -> None:
        self.interrupted = True

    def close(self) -> None:
        self._connection.close()

    def begin(self) -> None:
        """Nothing has to be decoded."""

    def leave(self) -> None:
        self.close()

    def __enter__(self) -> FakeTrace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


@contextlib.contextmanager
def fake_trace(monkeypatch: pytest.MonkeyPatch, skipped: tuple[Any, ...] = ()) -> Iterator[list[FakeTrace]]:
    """Lets trace.open and report.build give made-up answers; yields the traces that were opened."""
    opened: list[FakeTrace] = []

    def open_fake(*paths: Any, **options: Any) -> FakeTrace:
        opened.append(FakeTrace(*paths, **options))
        opened[-1].skipped = skipped
        return opened[-1]

    with monkeypatch.context() as patch:
        patch.setattr(trace, "open", open_fake)
        patch.setattr(report, "build", lambda trace, all=False: REPORT, raising=False)
        yield opened
