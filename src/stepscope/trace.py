"""A Trace: everything found under some paths, answering SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stepscope.engines import Params, Result
    from stepscope.lake.schema import Schema
    from stepscope.sources.source import Skipped, Source

Progress = Callable[[str, int, int], None]
"""Called with what is being read, packed bytes done and packed bytes in all."""


class Trace:
    """Sources opened together, as the tables of the schema. A context manager; close() is idempotent."""

    @property
    def sources(self) -> tuple[Source, ...]:
        """What is read, in the order of source_id."""
        raise NotImplementedError

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was found but not read, and why."""
        raise NotImplementedError

    @property
    def schema(self) -> Schema:
        """The tables and columns that query() knows."""
        raise NotImplementedError

    def query(self, sql: str, params: Params = ()) -> Result:
        """Runs one SELECT. QueryError when it is refused; UnreadableSource when nothing can be decoded."""
        raise NotImplementedError

    def define(self, views: Mapping[str, str]) -> None:
        """Makes SELECT statements usable by name in query()."""
        raise NotImplementedError

    def keep(self, views: Sequence[str]) -> None:
        """Computes defined views once and keeps their rows for the queries that follow."""
        raise NotImplementedError

    def copy(self, sql: str, path: str, options: str) -> int:
        """Writes a query's rows with DuckDB's COPY (options as in `FORMAT parquet`); returns their number."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """Stops the query that runs, from another thread."""
        raise NotImplementedError

    def close(self) -> None:
        """Lets go of files, memory and the engine."""
        raise NotImplementedError

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def open(
    *paths: str | PathLike[str],
    cache: bool = True,
    lake: str | PathLike[str] | None = None,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Opens files, folders, archives, "-" or lakes as one Trace.

    cache: keep what is decoded in the user's cache folder, keyed by content; False answers from memory
    and keeps nothing. lake: a lake to read instead of paths. run, host: names to use instead of those
    found. Decoding happens at the first query. NothingFound when there is no trace under the paths.
    """
    raise NotImplementedError


def ingest(
    paths: Sequence[str | PathLike[str]],
    lake: str | PathLike[str],
    *,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """Adds what is found under the paths to a lake; returns one manifest row a source."""
    raise NotImplementedError
