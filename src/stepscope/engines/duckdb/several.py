"""The answers to several statements, which run side by side while what others read is still being made."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import config
from stepscope.engines import Reads, Statement, Told
from stepscope.engines.duckdb.catalog import EngineCatalog
from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.statement_threads import Connection, Refused, Run, StatementThreads

if TYPE_CHECKING:
    from stepscope.engines.duckdb import DuckDB

_MOST_BESIDE = 4
"""Statements that run at the same time. Each may use all cores."""


class SeveralStatements:
    """Runs statements on connections beside an engine's own."""

    def __init__(
        self, engine: DuckDB, con: duckdb.DuckDBPyConnection, catalog: EngineCatalog, patience_s: float
    ) -> None:
        """patience_s: how long interrupted statements may take to end."""
        self.stuck = False
        """True when one of them did not end: its connection can be neither used nor closed."""
        self._engine = engine
        self._con = con
        self._catalog = catalog
        self._patience_s = patience_s
        self._connections: list[Connection] = []
        self._threads: StatementThreads | None = None

    def answers(
        self, statements: Sequence[Statement], keep: Sequence[str], progress: Told | None
    ) -> list[list[tuple[Any, ...]]]:
        """All rows of each statement. keep: views to store where a statement reads them, each after those it
        builds on. progress: called as statements are answered."""
        self._open_connections()
        catalog = self._catalog
        reads = catalog.views.reads(*statements)
        keep = [name for name in keep if reads is None or name in reads.tables]
        # Tables that are made by queries take some time, in which statements that read no such are answered.
        waiting = set(filter(catalog.reads_made_tables, statements))
        views_waiting = {name for name in keep if catalog.reads_made_tables(catalog.views.statements[name])}
        streams = catalog.tables.streams
        threads = self._threads = StatementThreads(self._connections, streams, self._patience_s)
        try:
            with catalog.views.unmade_when_it_fails(), threads:
                first, empty = catalog.answerable([each for each in statements if each not in waiting])
                self._put_first(threads, first, [name for name in keep if name not in views_waiting])
                then, also_empty = catalog.answerable([each for each in statements if each in waiting])
                self._put_waiting(threads, then, [name for name in keep if name in views_waiting])
                order, empty = [*first, *then], [*empty, *also_empty]
                tell = _telling(statements, [*order, *empty], progress)
                found = dict(zip(order, threads.rows(self._engine.refused, tell), strict=True))
                for number, select in enumerate(empty, len(order)):
                    tell(number, number + 1)
                    found[select] = []
        finally:
            self._threads = None
            self.stuck = self.stuck or threads.stuck
        return [found[select] for select in statements]

    def wait_for_views(self, reads: Reads | None, refused: Refused) -> None:
        """Waits where a statement on the engine's own connection may read views that are being made. reads:
        what it reads; None where that is not known."""
        if self._threads is not None and (reads is None or reads.tables & self._threads.coming):
            self._threads.begun(refused)

    def interrupt(self) -> None:
        """Stops the statements that run, from another thread."""
        for connection in self._connections:
            connection.interrupt()

    def close(self) -> None:
        """Closes the connections."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()

    def _open_connections(self) -> None:
        if not self._connections:
            count = min(config.threads(), _MOST_BESIDE)
            self._connections = [Connection(self._con) for _ in range(count)]

    def _put_first(self, threads: StatementThreads, statements: list[Statement], keep: list[str]) -> None:
        """Queues statements, behind the work that stores and makes the views they read."""
        catalog = self._catalog
        reading = [*statements, *(catalog.views.statements[name] for name in keep)]
        # All at once: a table attached again with more columns would be read again.
        catalog.attach(*reading)
        coming = frozenset(keep).union(*map(catalog.views.unmade, reading))
        look = catalog.needs.looking(statements, keep)
        threads.begin(functools.partial(self._make_views, keep, look, statements), coming)
        for select in statements:
            threads.put(select.sql, functools.partial(catalog.needs.is_empty, select))

    def _make_views(
        self, keep: Sequence[str], look: Callable[[Run], None], statements: Sequence[Statement], run: Run
    ) -> None:
        """Stores views, looks for the rows that statements need, and makes the views of those that may have
        rows: DuckDB plans a view when it is made."""
        views, needs = self._catalog.views, self._catalog.needs
        for name in keep:
            views.store(name, run)
        look(run)
        for select in statements:
            if not needs.is_empty(select):
                views.make(views.unmade(select), run)

    def _put_waiting(self, threads: StatementThreads, statements: list[Statement], keep: list[str]) -> None:
        """Queues statements that read tables made by queries; the engine's own connection makes these."""
        catalog = self._catalog
        catalog.attach(*statements)
        self._engine.keep(keep)
        threads.begun(self._engine.refused)
        catalog.needs.looking(statements)(lambda sql: self._con.execute(sql).fetchall())
        for select in statements:
            if not catalog.needs.is_empty(select):
                catalog.make_views(select, self._engine.refused)
            threads.put(select.sql, functools.partial(catalog.needs.is_empty, select))


def _telling(
    statements: Sequence[Statement], order: Sequence[Statement], progress: Told | None
) -> Callable[[int, int], None]:
    """Tells progress, by its number among all, that the statement of a number in `order` is answered."""

    def tell(number: int, done: int) -> None:
        if progress is not None:
            progress(statements.index(order[number]), done)

    return tell
