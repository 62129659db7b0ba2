"""A Trace over tables: which engine answers, what it is given, and what happens when a file is damaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from stepscope import library
from stepscope.background import go_on
from stepscope.engines import Statement, ahead, rows_of, statement
from stepscope.errors import UsageError
from stepscope.lake.schema import schema
from stepscope.session.tables import Damaged, Tables
from stepscope.sources.source import Source

if TYPE_CHECKING:
    from stepscope.engines import Arrow, Engine, Form, Params, Result
    from stepscope.lake.decoded import Lanes
    from stepscope.lake.rows import SourceRow
    from stepscope.lake.schema import Schema
    from stepscope.session.schedule import Asking, Progress
    from stepscope.sources.source import Skipped

T = TypeVar("T")

_MOST_MENDINGS = 2
"""How often what the cache lost is decoded again for one question; the second time it is kept in memory."""

_LITTLE_BYTES = 1 << 20
"""Packed, these are some 100,000 events."""


class OpenTrace:
    """What stepscope.open() gives; its methods are those of stepscope.session.trace.Trace."""

    def __init__(
        self, tables: Tables, given: Sequence[str] = (), engine: Callable[[], Engine] | None = None
    ) -> None:
        """given: the paths that were opened. engine: makes the engine, once for queries and once more where
        whole tables are written; None is DuckDB."""
        self._tables = tables
        self._given = tuple(given)
        self._make = engine or ahead.engine
        self._views: dict[str, Statement] = {}
        self._engines: dict[bool, Engine] = {}
        self._closed = False
        self._asking: Asking | None = None

    @property
    def sources(self) -> tuple[Source | SourceRow, ...]:
        return self._tables.sources

    @property
    def given(self) -> tuple[str, ...]:
        return self._given

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        return self._tables.skipped

    @property
    def schema(self) -> Schema:
        return schema()

    def begin(self) -> None:
        self._tables.begin()

    def query(self, sql: str | Statement, params: Params = ()) -> Result:
        asked = statement(sql)
        self._tell(asked.name)
        return self._ask([asked], lambda engine: engine.query(asked, params))

    def stream(self, sql: str | Statement) -> Arrow:
        asked = statement(sql)
        self._tell(asked.name)
        return self._ask([asked], lambda engine: engine.stream(asked))

    def lanes(self) -> dict[int, Lanes] | None:
        """Slices of each source as the page's timeline draws them; None where SQL has to be asked."""
        self._check_open()
        self._tables.begin()
        self._tables.ready(None)
        return self._tables.lanes()

    def ask(self, entry: library.Entry) -> Result:
        return self.query(entry.statement)

    def answers(
        self, entries: Sequence[library.Entry], keep: Sequence[str] = ()
    ) -> list[list[tuple[Any, ...]]]:
        every = [entry.statement for entry in entries]
        self._tell(keep[0] if keep else entries[0].name if entries else "", 0, len(entries))

        def told(number: int, done: int) -> None:
            self._tell(entries[number].name, done, len(entries))

        return self._ask(every, lambda engine: engine.answers(every, keep, told))

    def define(self, views: Mapping[str, str | Statement]) -> None:
        made = {name: statement(view) for name, view in views.items()}
        self._views.update(made)
        for engine in self._engines.values():
            engine.define(made)

    def keep(self, names: Sequence[str]) -> None:
        every = [rows_of(name) for name in names]
        self._tell(" ".join(names))
        self._ask(every, lambda engine: engine.keep(names))

    def copy(self, sql: str | Statement, path: str, form: Form) -> int:
        asked = statement(sql)
        self._tell(asked.name)
        return self._ask([asked], lambda engine: engine.copy(asked, path, form), writes=True)

    def watch(self, reading: Progress | None, asking: Asking | None) -> None:
        self._asking = asking
        self._tables.watch(reading)

    def interrupt(self) -> None:
        self._tables.interrupt()
        for engine in list(self._engines.values()):
            engine.interrupt()

    def close(self) -> None:
        self._closed = True
        self._drop_engines()
        self._tables.close()

    def leave(self) -> None:
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
            except Damaged:
                self._drop_engines()
                self._tables.mend()
                engine = self._engine(writes)
        return work(engine)

    def _tell(self, name: str, done: int = 0, total: int = 0) -> None:
        """Says what is asked, and ends here when nobody wants to know any more."""
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
                engine.doubt = self._tables.doubt
                engine.writes = writes
                engine.little = _are_little(self._tables.sources)
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
    return sum(one.size if isinstance(one, Source) else _LITTLE_BYTES for one in sources) < _LITTLE_BYTES
