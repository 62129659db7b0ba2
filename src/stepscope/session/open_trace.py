"""A Trace over tables: which engine answers, what it is given, and what happens when a file is damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from stepscope import library
from stepscope.background import go_on
from stepscope.engines import Statement, Work, early_start, rows_of, statement
from stepscope.errors import UsageError
from stepscope.lake.schema import schema
from stepscope.session.store_parts import DamagedStore
from stepscope.sources.source import Source

if TYPE_CHECKING:
    from stepscope.engines import Arrow, Engine, Form, Params, QueryResult
    from stepscope.lake.decoded_source import Lanes
    from stepscope.lake.rows import SourceRow
    from stepscope.lake.schema import Schema
    from stepscope.session.lake_tables import LakeTables
    from stepscope.session.schedule import Asking, Progress
    from stepscope.session.tables import DecodedTables
    from stepscope.sources.source import Skipped

T = TypeVar("T")
TraceTables: TypeAlias = "DecodedTables | LakeTables"

_MOST_MENDINGS = 2
"""How often what the cache lost is decoded again for one question; the second time it is kept in memory."""

_LITTLE_BYTES = 1 << 20
"""Packed, these are some 100,000 events."""


class OpenTrace:
    """Sources opened together, as the tables of the schema. A context manager; close() is idempotent.

    Reports, exporters and commands ask it; the object that stepscope.open() gives to users has one.
    """

    def __init__(
        self,
        tables: TraceTables,
        given: Sequence[str] = (),
        engine: Callable[[], Engine] | None = None,
        memory_bytes: int | None = None,
    ) -> None:
        """given: the paths that were opened. engine: makes the engine, once for queries and once more where
        whole tables are written; None is DuckDB. memory_bytes: the most for SQL; None is what the user set,
        else as much as the engine takes."""
        self._tables = tables
        self._given = tuple(given)
        self._make = engine or early_start.engine
        self._memory_bytes = memory_bytes
        self._views: dict[str, Statement] = {}
        self._engines: dict[bool, Engine] = {}
        self._closed = False
        self._asking: Asking | None = None

    @property
    def is_open(self) -> bool:
        """False after close()."""
        return not self._closed

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
        return schema()

    def begin(self) -> None:
        """Begins with what every query needs, while the caller does something else. The first query does so,
        too."""
        self._tables.begin()

    def query(self, sql: str | Statement, params: Params = ()) -> QueryResult:
        """Runs one SELECT.

        QueryError when it is refused; UnreadableSource when nothing can be decoded; LakeError when a file
        of a lake is damaged. The base views of the library can be used by name.
        """
        asked = statement(sql)
        self._tell(asked.name)
        return self._ask([asked], lambda engine: engine.query(asked, params))

    def stream(self, sql: str | Statement) -> Arrow:
        """The rows of one SELECT as Arrow: it runs when the stream is exported, which must be read to its end
        before the next query. Errors as those of query()."""
        asked = statement(sql)
        self._tell(asked.name)
        return self._ask([asked], lambda engine: engine.stream(asked))

    def lanes(self) -> dict[int, Lanes] | None:
        """Slices of each source in the form that the page's timeline draws from, by source_id; None where
        they have to be asked for with SQL. Errors as those of query()."""
        self._check_open()
        self._tables.begin()
        self._tables.ready(None)
        return self._tables.lanes()

    def ask(self, entry: library.Entry) -> QueryResult:
        """Runs an analysis or a finding of the library; errors as those of query()."""
        return self.query(entry.statement)

    def answers(
        self, entries: Sequence[library.Entry], keep: Sequence[str] = ()
    ) -> list[list[tuple[Any, ...]]]:
        """Runs several analyses and findings of the library side by side: the rows of each.

        keep: base views to compute once, because several of them read them; each after those it builds on.
        Errors are those of query().
        """
        every = [entry.statement for entry in entries]
        self._tell(keep[0] if keep else entries[0].name if entries else "", 0, len(entries))

        def finished(number: int, done: int) -> None:
            self._tell(entries[number].name, done, len(entries))

        return self._ask(every, lambda engine: engine.answers(every, keep, finished))

    def define(self, views: Mapping[str, str | Statement]) -> None:
        """Makes SELECT statements usable by name in query()."""
        made = {name: statement(view) for name, view in views.items()}
        self._views.update(made)
        for engine in self._engines.values():
            engine.define(made)

    def keep(self, names: Sequence[str]) -> None:
        """Computes defined views once, because several queries will read them."""
        every = [rows_of(name) for name in names]
        self._tell(" ".join(names))
        self._ask(every, lambda engine: engine.keep(names))

    def copy(self, sql: str | Statement, path: str, form: Form) -> int:
        """Writes a query's rows to a file; returns their number. form: "parquet", "csv", "ndjson", or "text"
        for one column of text, written as it is.

        OutputError when the file cannot be written.
        """
        asked = statement(sql)
        self._tell(asked.name)
        return self._ask([asked], lambda engine: engine.copy(asked, path, form), writes=True)

    def watch(self, reading: Progress | None, asking: Asking | None) -> None:
        """Says from now on what is being read and asked, and how far that is, in whichever thread reads or
        asks; what they raise stops it."""
        self._asking = asking
        self._tables.watch(reading)

    def interrupt(self) -> None:
        """Stops what runs, from another thread: a query ends with QueryError, decoding with
        KeyboardInterrupt. The next query begins anew."""
        self._tables.interrupt()
        for engine in list(self._engines.values()):
            engine.interrupt()

    def close(self) -> None:
        """Releases files, memory and the engine."""
        self._closed = True
        self._drop_engines()
        self._tables.close()

    def leave(self) -> None:
        """close() for a process that ends: memory that goes as a whole anyway is not taken apart."""
        self._closed = True
        for engine in self._engines.values():
            engine.leave()
        self._tables.close()

    def __enter__(self) -> OpenTrace:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _ask(
        self, statements: Sequence[Statement], work: Callable[[Engine], T], *, writes: bool = False
    ) -> T:
        self._check_open()
        self._tables.begin()
        engine = self._engine(writes)
        if not self._tables.ready(engine.reads(*statements)):
            self._drop_engines()
            engine = self._engine(writes)
        for _ in range(_MOST_MENDINGS):
            try:
                return work(engine)
            except DamagedStore:
                self._drop_engines()
                self._tables.repair()
                engine = self._engine(writes)
        return work(engine)

    def _tell(self, name: str, done: int = 0, total: int = 0) -> None:
        """Reports what is asked, and raises here when the answer is no longer wanted."""
        go_on()
        if self._asking is not None:
            self._asking(name, done, total)

    def _check_open(self) -> None:
        if self._closed:
            raise UsageError(
                "The trace is closed.", seen="a query after close()", todo="ask within the `with` block"
            )

    def _engine(self, writes: bool) -> Engine:
        """The engine that answers queries, or the one that writes files."""
        engine = self._engines.get(writes)
        if engine is None:
            engine = self._make()
            try:
                little = _are_little(self._tables.sources)
                engine.prepare(Work(writes, self._tables.doubt, little, self._memory_bytes))
                self._tables.attach(engine)
                engine.define({view.name: view.statement for view in library.views()})
                engine.define(self._views)
                if not writes:
                    engine.seal(self._tables.paths)
            except BaseException:
                engine.close()  # half made, it might not be sealed
                raise
            self._engines[writes] = engine
        return engine

    def _drop_engines(self) -> None:
        engines, self._engines = list(self._engines.values()), {}
        for engine in engines:
            engine.close()


def _are_little(sources: Sequence[Source | SourceRow]) -> bool:
    """Whether sources have hardly more rows than one thread of an engine takes at once. A lake's rows are in
    files, whose number counts."""
    return (
        sum(source.size if isinstance(source, Source) else _LITTLE_BYTES for source in sources)
        < _LITTLE_BYTES
    )
