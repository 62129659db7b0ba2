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
from stepscope.engines.duckdb.catalog import EngineCatalog
from stepscope.engines.duckdb.copying import copy_statement, raise_of_copy
from stepscope.engines.duckdb.native import duckdb
from stepscope.engines.duckdb.one_select import check_select
from stepscope.engines.duckdb.refusal import SPILL, refusal
from stepscope.engines.duckdb.rows import ArrowRows, LazyRows, NoRows
from stepscope.engines.duckdb.signals import interruptible, raised_again
from stepscope.errors import QueryError, StepscopeError

if TYPE_CHECKING:
    from stepscope.engines.duckdb.several import SeveralStatements

T = TypeVar("T")

_PATIENCE_SECONDS = 2.0
"""How long an interrupted query may take to stop; some of DuckDB's functions never check."""

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
        self._catalog = EngineCatalog(self, self._con)
        self._several: SeveralStatements | None = None
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
        self._catalog.tables.relations[relation.name] = relation

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
        self._catalog.define(views)

    @interruptible
    def query(self, asked: Statement | str, params: Params = ()) -> LazyRows | NoRows:
        """Runs one SELECT (or DESCRIBE, SHOW, EXPLAIN of one). QueryError when it is refused."""
        asked = statement(asked)
        run = functools.partial(self._prepared_and_run, asked, params)
        return run() if self._catalog.answerable([asked])[0] else NoRows(run)

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
        from stepscope.engines.duckdb.several import SeveralStatements

        statements = [statement(select) for select in asked]
        self._free()
        for select in statements:
            self._check(select)
        if self._several is None:
            self._several = SeveralStatements(self, self._con, self._catalog, _PATIENCE_SECONDS)
        try:
            return self._several.answers(statements, keep, progress)
        finally:
            self._stuck = self._stuck or self._several.stuck

    @interruptible
    def copy(self, asked: Statement | str, path: str, form: Form) -> int:
        """Writes the rows of one SELECT with COPY; returns their number. Only before seal().

        OutputError when the file cannot be written.
        """
        asked = statement(asked)
        self._prepare(asked)
        # With several threads, each holds its rows until those before them are written, and memory grows with
        # the table.
        self._con.execute("SET threads = 1")
        try:
            return int(self._run(copy_statement(asked.sql, path, form), ()).rows()[0][0])
        except QueryError as error:
            raise_of_copy(error, path)
        finally:
            if not self._stuck:
                self._con.execute(f"SET threads = {config.threads()}")

    @interruptible
    def keep(self, views: Sequence[str]) -> None:
        """Computes views once, because several queries will read them."""
        self._free()
        if views and self._several is not None:
            self._several.wait_for_views(None, self.refused)
        known = self._catalog.views
        for name in views:
            self._catalog.attach(known.statements[name])
            with known.unmade_when_it_fails():
                try:
                    known.store(name, lambda sql: self.patiently(functools.partial(self._con.execute, sql)))
                except duckdb.Error as error:
                    raise self.refused(error) from error

    def reads(self, *statements: Statement) -> Reads | None:
        """What SELECTs read, views followed to their tables; None when the parser cannot tell."""
        return self._catalog.views.reads(*statements)

    def interrupt(self) -> None:
        """Stops the query that runs, from another thread."""
        self._con.interrupt()
        if self._several is not None:
            self._several.interrupt()

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
        if self._several is not None:
            self._several.close()
        self._catalog.tables.close()
        self._con.close()

    def _check(self, asked: Statement) -> None:
        """Refuses anything but one SELECT. A statement that declares what it reads is trusted."""
        if asked.reads is None:
            check_select(self._con, asked.sql, self._catalog.views.parsed, self.refused)

    def _prepare(self, asked: Statement) -> None:
        """Checks a statement, and attaches the tables and makes the views it reads."""
        self._free()
        self._check(asked)
        self._catalog.attach(asked)
        if self._several is not None:
            self._several.wait_for_views(self.reads(asked), self.refused)
        self._catalog.make_views(asked, self.refused)

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
        problem = refusal(error, self._catalog.columns())
        return self._doubt(problem) if isinstance(error, _WHILE_READING) else problem

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
