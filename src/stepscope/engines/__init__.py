"""Engines run SQL over the tables. All of them stand behind one small protocol."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

Params = Sequence[Any] | Mapping[str, Any]


class Result(Protocol):
    """Rows of a query, fetched as they are asked for."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns, in order."""

    @property
    def types(self) -> tuple[str, ...]:
        """SQL types of the columns."""

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""

    def batches(self, size: int = 10_000) -> Iterator[list[tuple[Any, ...]]]:
        """The rows that are left, in lists of at most `size`."""


class Engine(Protocol):
    """Something that answers SQL."""

    def query(self, sql: str, params: Params = ()) -> Result:
        """Runs one SELECT. QueryError when the engine refuses it."""

    def answers(self, statements: Sequence[str], keep: Sequence[str] = ()) -> list[list[tuple[Any, ...]]]:
        """All rows of each of several SELECTs. keep: views that several of them read."""

    def define(self, views: Mapping[str, str]) -> None:
        """Makes SELECT statements usable by name. They may build on one another, in any order."""

    def keep(self, views: Sequence[str]) -> None:
        """Computes defined views once and keeps their rows for the queries that follow."""

    def interrupt(self) -> None:
        """Stops the query that runs, from another thread."""

    def close(self) -> None:
        """Lets go of everything."""
