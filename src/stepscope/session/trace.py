"""A Trace: everything found under some paths, answering SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from stepscope import config
from stepscope.errors import UsageError
from stepscope.session.tables import Damaged, DecodedTables, Progress, Tables

if TYPE_CHECKING:
    from stepscope import library
    from stepscope.engines import Params, Result
    from stepscope.engines.duckdb import DuckDB
    from stepscope.lake.cache import Cache
    from stepscope.lake.rows import SourceRow
    from stepscope.lake.schema import Schema
    from stepscope.sources.find import Found
    from stepscope.sources.source import Skipped, Source

T = TypeVar("T")


class Trace:
    """Sources opened together, as the tables of the schema. A context manager; close() is idempotent."""

    def __init__(self, tables: Tables, given: Sequence[str] = ()) -> None:
        self._tables = tables
        self._given = tuple(given)
        self._views: dict[str, str] = {}
        self._engines: dict[bool, DuckDB] = {}
        self._closed = False

    @property
    def sources(self) -> tuple[Source | SourceRow, ...]:
        """What is read, in the order of source_id."""
        return self._tables.sources

    @property
    def given(self) -> tuple[str, ...]:
        """The paths, or the lake, that open() was given."""
        return self._given

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What was found but not read, and why."""
        return self._tables.skipped

    @property
    def schema(self) -> Schema:
        """The tables and columns that query() knows."""
        from stepscope.lake.schema import schema

        return schema()

    def begin(self) -> None:
        """Begins with what every query needs, while the caller does something else. The first query does so,
        too."""
        self._tables.begin()

    def query(self, sql: str, params: Params = ()) -> Result:
        """Runs one SELECT.

        QueryError when it is refused; UnreadableSource when nothing can be decoded; LakeError when a file
        of a lake is damaged. The base views of the library can be used by name.
        """
        return self._ask((sql,), lambda engine: engine.query(sql, params), locked=True)

    def answer(self, entry: library.Entry) -> Result:
        """Runs an analysis or a finding of the library; errors as those of query()."""
        from stepscope.engines.reads import tell

        tell(entry.sql, entry.reads)
        return self.query(entry.sql)

    def answers(
        self, entries: Sequence[library.Entry], keep: Sequence[str] = ()
    ) -> list[list[tuple[Any, ...]]]:
        """Runs several analyses and findings of the library side by side: the rows of each.

        keep: base views to compute once, because several of them read them; each after those it builds on.
        Errors are those of query().
        """
        from stepscope.engines.reads import tell

        for entry in entries:
            tell(entry.sql, entry.reads)
        every = [entry.sql for entry in entries]
        return self._ask(every, lambda engine: engine.answers(every, keep), locked=True)

    def define(self, views: Mapping[str, str]) -> None:
        """Makes SELECT statements usable by name in query()."""
        self._views.update(views)
        for engine in self._engines.values():
            engine.define(views)

    def keep(self, names: Sequence[str]) -> None:
        """Computes defined views once, because several queries will read them."""
        every = [f"SELECT count(*) FROM {name}" for name in names]
        self._ask(every, lambda engine: engine.keep(names), locked=True)

    def copy(self, sql: str, path: str, options: str) -> int:
        """Writes a query's rows with DuckDB's COPY (options as in `FORMAT parquet`); returns their number.

        OutputError when the file cannot be written.
        """
        return self._ask((sql,), lambda engine: engine.copy(sql, path, options), locked=False)

    def interrupt(self) -> None:
        """Stops the query that runs, from another thread."""
        for engine in list(self._engines.values()):
            engine.interrupt()

    def close(self) -> None:
        """Lets go of files, memory and the engine."""
        self._closed = True
        self._drop_engines()
        self._tables.close()

    def leave(self) -> None:
        """close() for a process that ends: memory that goes as a whole anyway is not taken apart."""
        self._closed = True
        for engine in self._engines.values():
            engine.leave()
        self._tables.close()

    def __enter__(self) -> Trace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _ask(self, statements: Sequence[str], work: Callable[[DuckDB], T], *, locked: bool) -> T:
        if self._closed:
            raise UsageError(
                "The trace is closed.", seen="a query after close()", todo="ask within the `with` block"
            )
        self._tables.begin()
        engine = self._engine(locked)
        if not self._tables.ready(engine.reads(*statements)):
            self._drop_engines()
            engine = self._engine(locked)
        try:
            return work(engine)
        except Damaged:
            self._drop_engines()
            self._tables.mend()
            return work(self._engine(locked))

    def _engine(self, locked: bool) -> DuckDB:
        """The engine that answers queries (locked), or the one that writes files."""
        engine = self._engines.get(locked)
        if engine is None:
            from stepscope import library
            from stepscope.engines import ahead
            from stepscope.engines.reads import tell

            engine = ahead.engine()
            self._engines[locked] = engine
            engine.doubt = self._tables.doubt
            engine.writes = not locked
            self._tables.attach(engine)
            views = library.views()
            for view in views:
                tell(view.sql, view.reads)
            engine.define({**{view.name: view.sql for view in views}, **self._views})
            if locked:
                engine.lock(self._tables.paths)
        return engine

    def _drop_engines(self) -> None:
        engines, self._engines = list(self._engines.values()), {}
        for engine in engines:
            engine.close()


def open(
    *paths: str | PathLike[str],
    cache: bool = True,
    lake: str | PathLike[str] | None = None,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
) -> Trace:
    """Opens files, folders, archives, "-" or a lake as one Trace.

    cache: keep what is decoded in the user's cache folder, keyed by content; False answers from memory
    and keeps nothing. lake: a lake to read instead of paths. run, host: names to use instead of those
    found. Decoding happens at the first query. NothingFound when there is no recording under the paths.
    """
    names = [fspath(path) for path in paths]
    if lake is not None:
        if names:
            raise UsageError(
                "Paths and a lake cannot be read together.",
                seen=f"{len(names)} paths and the lake {fspath(lake)}",
                todo="ingest the paths into the lake, or leave one of them out",
            )
        return _of_lake(fspath(lake), cache)
    from stepscope.sources.find import find, is_lake, look_up

    look_up(names)
    lakes = [name for name in names if is_lake(Path(name))]
    if lakes:
        if len(names) > 1:
            raise UsageError(
                "A lake is read alone.",
                seen=f"{lakes[0]} and {len(names) - 1} more paths",
                todo="ingest the other paths into the lake, or leave it out",
                path=lakes[0],
            )
        return _of_lake(lakes[0], cache)
    if any(Path(name).is_dir() for name in names):
        # Making the engine takes longer than looking at most folders. Files are looked at sooner than that,
        # and then they are decoded meanwhile.
        from stepscope.engines import ahead

        ahead.begin()
    from stepscope import formats
    from stepscope.sources.spool import Spool

    memory = _cache() if cache else None
    spool = Spool()
    try:
        found = find(names, formats.recognise, spool, memory=memory, run=run, host=host)
        return Trace(DecodedTables(found, spool, memory, progress, names), names)
    except BaseException:
        spool.close()
        raise


def ingest(
    paths: Sequence[str | PathLike[str]],
    lake: str | PathLike[str],
    *,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
    looked: Callable[[Found], None] | None = None,
) -> list[SourceRow]:
    """Adds what is found under the paths to a lake, which is made when there is none.

    looked: told what was found, before anything is read: the sources, and the files that are left out.

    Returns the row of each source, in the order of the sources; one that cannot be read has an error.
    Sources that the lake has already are not read again. NothingFound when there is no recording;
    LakeError when the lake cannot be written: what is in it stays whole.
    """
    from stepscope.session.ingest import ingest_all

    return ingest_all([fspath(path) for path in paths], Path(fspath(lake)), run, host, progress, looked)


def _of_lake(folder: str, cache: bool) -> Trace:
    from stepscope.session.lake_tables import LakeTables

    return Trace(LakeTables(Path(folder), config.cache_dir() if cache else None), [folder])


def _cache() -> Cache | None:
    """The user's cache; None when its folder cannot be used, which is no reason not to answer."""
    from stepscope import _core
    from stepscope.lake.cache import Cache

    try:
        return Cache(config.cache_dir(), config.cache_bytes(), _core.DECODER_VERSION)
    except OSError:
        return None
