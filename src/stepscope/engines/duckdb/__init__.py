"""DuckDB as the engine: an in-memory database of views, sealed before any SQL of a user runs."""

from __future__ import annotations

import contextlib
import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from stepscope import background, config
from stepscope.engines import Arrow, Form, Params, Reads, Relation, Statement, Told, Work, statement
from stepscope.engines.duckdb import native
from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.needs import KnownNeeds
from stepscope.engines.duckdb.one_select import check_select
from stepscope.engines.duckdb.refusal import SPILL, refusal
from stepscope.engines.duckdb.rows import ArrowRows, LazyRows, NoRows
from stepscope.engines.duckdb.signals import interruptible, raised_again
from stepscope.engines.duckdb.tables import EngineTables, quote
from stepscope.engines.duckdb.views import EngineViews
from stepscope.errors import OutputError, QueryError, StepscopeError

if TYPE_CHECKING:
    from stepscope.engines.duckdb.statement_threads import Connection, Run, StatementThreads

T = TypeVar("T")

_PATIENCE_SECONDS = 2.0
"""How long an interrupted query may take to stop; some of DuckDB's functions never check."""

_MOST_BESIDE = 4
"""Statements that run at the same time. Each may use all cores."""

COPY: dict[Form, str] = {
    "parquet": "FORMAT parquet, COMPRESSION zstd",
    # Row groups of 16 MiB and more, as warehouses want them: a slice takes 6 bytes and up. Version 2 stores
    # whole numbers as differences: slices take 43 % less. Its pages are still those of version 1. It splits
    # the bytes of doubles as well, which no other file of a lake does.
    "packed": "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2949120, PARQUET_VERSION v2",
    "packed_plain": "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2949120",
    "csv": "FORMAT csv, HEADER true, USE_TMP_FILE false",
    "ndjson": "FORMAT json, ARRAY false, USE_TMP_FILE false",
    # A column of one text, written as it is: the delimiter is a character that JSON cannot hold unescaped.
    "text": "FORMAT csv, HEADER false, QUOTE '', ESCAPE '', DELIMITER '\x01', USE_TMP_FILE false",
}

_WHILE_READING = (
    duckdb.IOException,
    duckdb.InvalidInputException,
    duckdb.SerializationException,
    duckdb.InternalException,
    duckdb.ConversionException,
)


class DuckDB:
    """An in-memory database. Only interrupt() may be called from another thread."""

    def __init__(self) -> None:
        self._spill = Path(config.temporary_folder(), f"{SPILL}{os.urandom(16).hex()}")
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "python_enable_replacements": False,
            "temp_directory": str(self._spill),
            "threads": config.threads(),
        }
        if (most := config.memory_bytes()) is not None:
            settings["memory_limit"] = f"{most}B"
        native.prepare()
        self._con = duckdb.connect(":memory:", config=settings)
        # In Jupyter without ipywidgets DuckDB can draw no bar, and refuses to be told so.
        with contextlib.suppress(duckdb.InvalidInputException):
            self._con.execute("SET enable_progress_bar = false")
        self._tables = EngineTables(self, self._con)
        self._side: list[Connection] = []
        self._beside: StatementThreads | None = None
        self._names: dict[str, tuple[str, ...]] = {}
        """Columns of views, for advice."""
        self._views = EngineViews(self._con)
        self._needs = KnownNeeds(self._tables, self._views)
        self._open: LazyRows | None = None
        self._stuck = False
        self.writes = False
        self.whole_runs = False
        self.little = False
        self._doubt: Callable[[StepscopeError], StepscopeError] = lambda error: error

    def prepare(self, work: Work) -> None:
        """Says what it is made for. Before attach()."""
        self.writes, self.little, self._doubt = work.writes, work.little, work.doubt
        if work.memory_bytes is not None:
            self._con.execute(f"SET memory_limit = '{work.memory_bytes}B'")

    def attach(self, relation: Relation) -> None:
        """Makes a table known; its parts are asked for when a query first reads it."""
        self._tables.relations[relation.name] = relation

    @interruptible
    def seal(self, paths: Sequence[str] = ()) -> None:
        """Shuts files, network, extensions and settings for good; only `paths` may still be read."""
        if self.little:
            # Each thread that finds nothing to do is woken all the same: a summary of a small recording takes
            # a seventh more of the processor with two threads than with one.
            self._con.execute("SET threads = 1")
        if paths:
            self._con.execute("SET allowed_paths = $1", [list(paths)])
        self._con.execute("SET enable_external_access = false")
        self._con.execute("SET lock_configuration = true")

    def define(self, views: Mapping[str, Statement | str]) -> None:
        """Makes SELECT statements usable by name. A view is made when a query first names it."""
        self._views.define(views)
        self._needs.forget(views.keys())

    @interruptible
    def query(self, asked: Statement | str, params: Params = ()) -> LazyRows | NoRows:
        """Runs one SELECT (or DESCRIBE, SHOW, EXPLAIN of one). QueryError when it is refused."""
        asked = statement(asked)
        run = functools.partial(self._prepared_and_run, asked, params)
        return run() if self._answerable([asked])[0] else NoRows(run)

    @interruptible
    def _prepared_and_run(self, asked: Statement, params: Params) -> LazyRows:
        self._prepare(asked)
        return self._run(asked.sql, params)

    @interruptible
    def stream(self, asked: Statement | str) -> Arrow:
        """The rows of one SELECT as Arrow; it runs when the stream is exported. QueryError when it is
        refused."""
        asked = statement(asked)
        self._prepare(asked)
        return ArrowRows(self, self._con, asked.sql)

    def answers(
        self, asked: Sequence[Statement | str], keep: Sequence[str] = (), progress: Told | None = None
    ) -> list[list[tuple[Any, ...]]]:
        """All rows of each of several SELECTs, run side by side. QueryError when one is refused.

        keep: views to compute once beforehand where a statement reads them, each after those it builds on.
        progress: called as they are answered.
        """
        from stepscope.engines.duckdb.statement_threads import StatementThreads

        statements = [statement(select) for select in asked]
        self._free()
        for select in statements:
            self._check(select)
        self._open_side()
        # Tables that run queries themselves are computed while the other statements are answered.
        late = [select for select in statements if self._asks(select)]
        early = [select for select in statements if select not in late]
        reads = self.reads(*statements)
        keep = [name for name in keep if reads is None or name in reads.tables]
        keep_late = [name for name in keep if self._asks(self._views.statements[name])]
        keep = [name for name in keep if name not in keep_late]
        beside = self._beside = StatementThreads(self._side, self._tables.streams, _PATIENCE_SECONDS)
        try:
            with self._views.unmade_when_it_fails(), beside:
                early, none = self._answerable(early)
                reading = [*early, *(self._views.statements[name] for name in keep)]
                # All at once: a table attached again with more columns would be read again.
                self._bring(*reading)
                coming = frozenset(keep).union(*map(self._views.unmade, reading))
                looking = self._needs.looking(early, keep)
                beside.begin(functools.partial(self._begin, keep, looking, early), coming)
                for select in early:
                    beside.put(select.sql, functools.partial(self._needs.is_empty, select))
                late, more = self._answerable(late)
                self._bring(*late)
                self.keep(keep_late)
                beside.begun(self.refused)
                self._needs.looking(late)(lambda sql: self._con.execute(sql).fetchall())
                for select in late:
                    if not self._needs.is_empty(select):
                        self._make_views(select)
                    beside.put(select.sql, functools.partial(self._needs.is_empty, select))
                order, none = [*early, *late], [*none, *more]

                def answered(number: int, done: int) -> None:
                    if progress is not None:
                        progress(statements.index([*order, *none][number]), done)

                found = dict(zip(order, beside.rows(self.refused, answered), strict=True))
                for number, select in enumerate(none, len(order)):
                    answered(number, number + 1)
                    found[select] = []
        finally:
            self._beside = None
            self._stuck = self._stuck or beside.stuck
        return [found[select] for select in statements]

    def _begin(
        self, keep: Sequence[str], looking: Callable[[Run], None], asked: Sequence[Statement], run: Run
    ) -> None:
        """Stores views, looks for the rows that statements need, and makes the views of those that may have
        rows: DuckDB plans a view when it is made."""
        for name in keep:
            self._views.store(name, run)
        looking(run)
        for select in asked:
            if not self._needs.is_empty(select):
                self._views.make(self._views.unmade(select), run)

    def _open_side(self) -> None:
        """The connections on which statements run side by side."""
        from stepscope.engines.duckdb.statement_threads import Connection

        if not self._side:
            count = min(config.threads(), _MOST_BESIDE)
            self._side = [Connection(self._con) for _ in range(count)]

    def _answerable(self, statements: Sequence[Statement]) -> tuple[list[Statement], list[Statement]]:
        """Those to ask, and those without rows."""
        reads = self.reads(*(select for select in statements if select.needs))
        if reads is not None:
            self._tables.find_parts(sorted(reads.tables & self._tables.relations.keys()))
        none = [select for select in statements if self._needs.is_empty(select)]
        return [select for select in statements if select not in none], none

    def _asks(self, asked: Statement) -> bool:
        """Whether a statement reads a table that is made by queries over other tables."""
        reads, relations = self.reads(asked), self._tables.relations
        tables = relations if reads is None else reads.tables & relations.keys()
        return any(relations[name].asks for name in tables)

    @interruptible
    def copy(self, asked: Statement | str, path: str, form: Form) -> int:
        """Writes the rows of one SELECT with COPY; returns their number. Only before seal().

        OutputError when the file cannot be written.
        """
        asked = statement(asked)
        self._prepare(asked)
        target = path.replace("'", "''")
        copying = f"COPY ({asked.sql.rstrip().rstrip(';')}) TO '{target}' ({COPY[form]})"
        # With several threads, each holds its rows until those before them are written, and memory grows with
        # the table.
        self._con.execute("SET threads = 1")
        try:
            return int(self._run(copying, ()).rows()[0][0])
        except QueryError as error:
            if not isinstance(error.__cause__, duckdb.IOException):
                raise
            raise OutputError(
                "A file could not be written.",
                seen=error.seen,
                todo="check that its disk has space and that you may write there",
                path=path,
            ) from error.__cause__
        finally:
            if not self._stuck:
                self._con.execute(f"SET threads = {config.threads()}")

    @interruptible
    def keep(self, views: Sequence[str]) -> None:
        """Computes views once, because several queries will read them."""
        self._free()
        if views and self._beside is not None:
            self._beside.begun(self.refused)
        for name in views:
            self._bring(self._views.statements[name])
            with self._views.unmade_when_it_fails():
                try:
                    self._views.store(
                        name, lambda sql: self.patiently(functools.partial(self._con.execute, sql))
                    )
                except duckdb.Error as error:
                    raise self.refused(error) from error

    def reads(self, *statements: Statement) -> Reads | None:
        """What SELECTs read, views followed to their tables; None when the parser cannot tell."""
        return self._views.reads(*statements)

    def interrupt(self) -> None:
        """Stops the query that runs, from another thread."""
        self._con.interrupt()
        for connection in self._side:
            connection.interrupt()

    def leave(self) -> None:
        """close() when there are files to remove; everything else ends with the process."""
        if self._spill.exists():
            self.close()

    def close(self) -> None:
        """Releases streams and memory. Idempotent."""
        if self._open is not None:
            self._open.forget()
            self._open = None
        if self._stuck:
            return  # a function that cannot be interrupted holds the connection until the process ends
        for connection in self._side:
            connection.close()
        self._side.clear()
        self._tables.close()
        self._con.close()

    def _check(self, asked: Statement) -> None:
        """Refuses anything but one SELECT. A statement that declares what it reads is trusted."""
        if asked.reads is None:
            check_select(self._con, asked.sql, self._views.parsed, self.refused)

    def _prepare(self, asked: Statement) -> None:
        """Checks a statement, and attaches the tables and makes the views it reads."""
        self._free()
        self._check(asked)
        self._bring(asked)
        self._make_views(asked)

    def _bring(self, *statements: Statement) -> None:
        """Attaches the tables that statements read."""
        found, relations = self.reads(*statements), self._tables.relations
        if found is None:
            text = "\n".join(select.sql for select in statements).lower()
            likely = [name for name, relation in relations.items() if not relation.costly or name in text]
            self._tables.attach(likely, None)
        else:
            self._tables.attach(
                sorted(found.tables & relations.keys()), None if found.star else found.columns
            )

    def _make_views(self, asked: Statement) -> None:
        """Creates the views that a statement needs, each after those it builds on. Where it is not known what
        it reads: those whose tables are attached."""
        if self._beside is not None:
            reads = self.reads(asked)
            if reads is None or reads.tables & self._beside.coming:
                self._beside.begun(self.refused)
        known = self.reads(asked) is not None
        for name in self._views.needed(asked):
            if not known and self._waits(name):
                continue
            with self._views.unmade_when_it_fails():
                try:
                    under = self._views.unmade(self._views.statements[name])
                    self._views.make([*under, name], self._con.execute)
                except duckdb.Error as error:
                    raise self.refused(error) from error

    def _waits(self, view: str) -> bool:
        """Whether a view reads a table that is not attached."""
        reads = self.reads(self._views.statements[view])
        return reads is not None and self._tables.waiting(reads.tables)

    def _free(self) -> None:
        """Fetches what is left of the previous query: until then its connection is busy."""
        before, self._open = self._open, None
        if before is not None:
            before.detach()

    def _run(self, sql: str, params: Params) -> LazyRows:
        self._free()
        try:
            self.patiently(lambda: self._con.execute(sql, params or None))
        except duckdb.Error as error:
            raise self.refused(error) from error
        self._open = LazyRows(self, self._con)
        return self._open

    def refused(self, error: duckdb.Error) -> StepscopeError:
        """The error to raise for one of DuckDB's. Raises KeyboardInterrupt where Ctrl-C is behind it."""
        raised_again(error)
        problem = refusal(error, self._columns_by_table())
        return self._doubt(problem) if isinstance(error, _WHILE_READING) else problem

    def _columns_by_table(self) -> dict[str, tuple[str, ...]]:
        """Tables and views with their columns, for advice."""
        for name in self._views.made - self._names.keys():
            with contextlib.suppress(duckdb.Error):  # a view that does not work has nothing to advise
                described = self._con.execute(f"DESCRIBE {quote(name)}").fetchall()
                self._names[name] = tuple(row[0] for row in described)
        return {**dict.fromkeys(self._views.statements, ()), **self._names, **self._tables.names()}

    def patiently(self, work: Callable[[], T]) -> T:
        """Runs `work` so that Ctrl-C stops it: DuckDB does not check for signals while it computes."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        running = background.Background("stepscope-query", work, daemon=True)
        try:
            running.start().over.wait()
        except KeyboardInterrupt:
            self._open = None
            self._stuck = not background.end(running.over.wait, self._con.interrupt, _PATIENCE_SECONDS)
            raise
        return running.result()
