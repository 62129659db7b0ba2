"""DuckDB as the engine: an in-memory database of views, closed to the outside before any user's SQL runs.

Past 400 lines because it is the one place that speaks to DuckDB: views, streams, limits and interruption.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from stepscope import config
from stepscope.engines import Params, native
from stepscope.engines.native import duckdb
from stepscope.engines.reads import Reads, parse, told
from stepscope.engines.refusal import refusal
from stepscope.engines.rows import Rows
from stepscope.errors import OutputError, QueryError, StepscopeError, UsageError

if TYPE_CHECKING:
    from stepscope.engines.beside import Beside, Connection

T = TypeVar("T")
Columns = Sequence[tuple[str, str]]
"""Names and SQL types."""
Selects = Callable[[frozenset[str] | None], list[str]]
"""Gives the statements that make up a table, for the columns wanted; None wants all."""

_PATIENCE_SECONDS = 2.0
"""How long an interrupted query may take to stop; some functions of DuckDB never look."""

_MOST_BESIDE = 4
"""Statements that run at the same time; each may use all cores itself."""

_MOST_READS = 500
"""Statements of which it is remembered what they read."""

_WHILE_READING = (
    duckdb.IOException,
    duckdb.InvalidInputException,
    duckdb.SerializationException,
    duckdb.InternalException,
    duckdb.ConversionException,
)


class _Lazy(NamedTuple):
    columns: tuple[tuple[str, str], ...]
    selects: Selects
    whole: bool
    costly: bool
    asks: bool


class DuckDB:
    """An in-memory database. Not for use by several threads at once, except interrupt()."""

    def __init__(self) -> None:
        self._spill = Path(config.temporary_folder(), f"stepscope-spill-{os.urandom(16).hex()}")
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
        self._con.execute("SET enable_progress_bar = false")
        self._streams: dict[str, object] = {}
        self._side: list[Connection] = []
        self._beside: Beside | None = None
        self._sources: dict[str, _Lazy] = {}
        self._loaded: dict[str, frozenset[str]] = {}
        """The columns with which sources are attached."""
        self._names: dict[str, tuple[str, ...]] = {}
        self._views: dict[str, str] = {}
        self._made: set[str] = set()
        self._reads: dict[tuple[str, ...], Reads] = {}
        self._open: Rows | None = None
        self._stuck = False
        self.writes = False
        """Set for an engine that copies whole tables: what it reads need not stay in memory."""
        self.doubt: Callable[[StepscopeError], StepscopeError] = lambda error: error
        """Asked for the error to raise when a query fails while it reads."""

    def stream(self, alias: str, arrow: object) -> str:
        """Makes an object with __arrow_c_stream__ readable by the name that is returned: `alias`, with a
        number behind it when there is one of that name. Kept until close()."""
        name = alias if alias not in self._streams else f"{alias}_{len(self._streams)}"
        try:
            self._con.register(name, arrow)
        except duckdb.Error as error:
            raise self.refused(error, alias) from error
        self._streams[name] = arrow
        return name

    def readable(self, alias: str) -> bool:
        """Reads a stream to its end; False when it fails."""
        try:
            self.patiently(lambda: self._con.execute(f"SELECT count(*) FROM {quote(alias)}").fetchall())
        except duckdb.Error:
            return False
        return True

    def values(self, name: str, columns: Columns, rows: Sequence[Sequence[Any]]) -> list[str]:
        """SELECTs that are Python values as rows of the table `name`: one, or none where there are no rows.

        They go through a store of the core: binding them to an INSERT takes DuckDB twenty times as long.
        """
        if not rows:
            return []
        from stepscope import _core

        store = _core.build()
        names = [column for column, _ in columns]
        store.replace(name, dict(zip(names, zip(*rows, strict=True), strict=True)))
        alias = self.stream(f"rows_{name}", store.stream(name))
        picks = ", ".join(f"CAST({quote(c)} AS {t}) AS {quote(c)}" for c, t in columns)
        return [f"SELECT {picks} FROM {quote(alias)}"]

    def source(
        self,
        name: str,
        columns: Columns,
        selects: Selects,
        *,
        whole: bool = False,
        costly: bool = False,
        asks: bool = False,
    ) -> None:
        """A table that is attached when a query first reads it, with no more columns than are read.

        `selects` is asked for SELECT statements with exactly `columns`, whose rows together are the table;
        it may put NULLs of the right type for all columns but the wanted ones (None wants all). Without
        any statement the table is empty. whole: it gives all columns whatever is wanted. costly: where it
        cannot be told what a statement reads, only one that has the table's name in it reads this. asks:
        `selects` runs queries itself.
        """
        self._sources[name] = _Lazy(tuple(columns), selects, whole, costly, asks)
        self._names[name] = tuple(column for column, _ in columns)

    def _attach(self, tables: Iterable[str], wanted: frozenset[str] | None) -> None:
        for name in tables:
            lazy = self._sources.get(name)
            if lazy is None:
                continue
            every = frozenset(column for column, _ in lazy.columns)
            before = self._loaded.get(name)
            loaded = (every if wanted is None or lazy.whole else every & wanted) | (before or frozenset())
            if loaded == before:
                continue
            selects = lazy.selects(None if loaded == every else loaded)
            if not selects:
                nothing = ", ".join(f"CAST(NULL AS {t}) AS {quote(c)}" for c, t in lazy.columns)
                selects = [f"SELECT {nothing} WHERE false"]
            statement = f"CREATE OR REPLACE VIEW {quote(name)} AS " + " UNION ALL ".join(selects)
            try:
                self._con.execute(statement)
            except duckdb.Error as error:
                raise self.refused(error, statement) from error
            self._loaded[name] = loaded

    def lock(self, paths: Sequence[str] = ()) -> None:
        """Shuts files, network, extensions and settings for good; only `paths` may still be read."""
        if paths:
            self._con.execute("SET allowed_paths = $1", [list(paths)])
        self._con.execute("SET enable_external_access = false")
        self._con.execute("SET lock_configuration = true")

    def define(self, views: Mapping[str, str]) -> None:
        """Makes SELECT statements usable by name. A view is made when a query first names it."""
        self._views.update(views)
        self._made -= views.keys()
        self._reads.clear()

    def query(self, sql: str, params: Params = ()) -> Rows:
        """Runs one SELECT (or DESCRIBE, SHOW, EXPLAIN of one). QueryError when it is refused."""
        self._prepare(sql)
        return self._run(sql, params)

    def answers(self, statements: Sequence[str], keep: Sequence[str] = ()) -> list[list[tuple[Any, ...]]]:
        """All rows of each of several SELECTs, which run side by side. QueryError when one is refused.

        keep: views that are computed once before, each after those it builds on.
        """
        from stepscope.engines.beside import Beside, Connection

        self._free()
        for sql in statements:
            self._check(sql)
        if not self._side:
            count = min(config.threads(), _MOST_BESIDE)
            self._side = [Connection(self._con) for _ in range(count)]
        # What asks questions itself is computed while the others are answered.
        late = [sql for sql in statements if self._asks(sql)]
        early = [sql for sql in statements if sql not in late]
        before = frozenset(self._made)
        beside = self._beside = Beside(self._side, self._streams, _PATIENCE_SECONDS)
        try:
            with beside:
                # All at once: a table that is attached again with more columns is read again.
                self._bring(*early, *(self._views[name] for name in keep))
                views = [sql for name in keep for sql in self._keeping(name)]
                views += [made for sql in early for name in self._needed(sql) for made in self._making(name)]
                beside.begin(views, frozenset(self._made) - before)
                for sql in early:
                    beside.put(sql)
                self._bring(*late)
                for sql in late:
                    self._make_views(sql)
                    beside.put(sql)
                found = dict(zip([*early, *late], beside.rows(self.refused), strict=True))
        except BaseException:
            self._made = set(before)  # some may be there: they are made anew
            raise
        finally:
            self._beside = None
            self._stuck = self._stuck or beside.stuck
        return [found[sql] for sql in statements]

    def _asks(self, sql: str) -> bool:
        """Whether a statement reads a table that is made by asking others."""
        reads = self.reads(sql)
        tables = self._sources if reads is None else reads.tables & self._sources.keys()
        return any(self._sources[name].asks for name in tables)

    def copy(self, sql: str, path: str, options: str) -> int:
        """Writes the rows of one SELECT with COPY; returns their number. Only before lock().

        OutputError when the file cannot be written.
        """
        self._prepare(sql)
        target = path.replace("'", "''")
        statement = f"COPY ({sql.rstrip().rstrip(';')}) TO '{target}' ({options})"
        # Several threads would each hold rows back until those before them are written: memory would grow
        # with the table.
        self._con.execute("SET threads = 1")
        try:
            return int(self._run(statement, ()).rows()[0][0])
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

    def keep(self, names: Sequence[str]) -> None:
        """Computes views once, because several queries will read them."""
        self._free()
        for name in names:
            self._bring(self._views[name])
            try:
                for statement in self._keeping(name):
                    self._con.execute(statement)
            except duckdb.Error as error:
                raise self.refused(error, name) from error

    def _keeping(self, name: str) -> list[str]:
        """Statements after which a view has its rows from a table, and is made. What it reads is attached."""
        inner = [statement for view in self._needed(self._views[name]) for statement in self._making(view)]
        self._made.add(name)
        table = quote(f"kept {name}")
        return [
            *inner,
            f"CREATE OR REPLACE TABLE {table} AS {self._views[name]}",
            f"CREATE OR REPLACE VIEW {quote(name)} AS FROM {table}",
        ]

    def reads(self, *statements: str) -> Reads | None:
        """What SELECTs read, views followed to their tables; None when that cannot be told."""
        if statements in self._reads:
            return self._reads[statements]
        found = Reads(frozenset(), frozenset(), False)
        todo, done = list(statements), set[str]()
        while todo:
            parsed = parse(self._con, todo.pop())
            if parsed is None:
                return None
            todo.extend(self._views[name] for name in parsed.tables - done if name in self._views)
            done |= parsed.tables
            # A star over nothing but views asks for no more than the views name.
            star = parsed.star and not (parsed.tables and parsed.tables <= self._views.keys())
            found = found.joined(parsed._replace(star=star))
        if len(self._reads) < _MOST_READS:
            self._reads[statements] = found
        return found

    def interrupt(self) -> None:
        """Stops the query that runs, from another thread."""
        self._con.interrupt()
        for one in self._side:
            one.interrupt()

    def leave(self) -> None:
        """close() where there are files to be removed; everything else ends with the process."""
        if self._spill.exists():
            self.close()

    def close(self) -> None:
        """Lets go of streams and memory. Idempotent."""
        if self._open is not None:
            self._open.forget()
            self._open = None
        if self._stuck:
            return  # a function that cannot be interrupted still holds the connection; the process ends it
        for one in self._side:
            one.close()
        self._side.clear()
        for alias in self._streams:
            with contextlib.suppress(duckdb.Error):
                self._con.unregister(alias)
        self._streams.clear()
        self._con.close()

    def _check(self, sql: str) -> None:
        if told(sql):
            return
        try:
            statements = self._con.extract_statements(sql)
        except duckdb.Error as error:
            raise self.refused(error, sql) from error
        if len(statements) > 1 and not any(one.query for one in statements):
            return  # PIVOT to DuckDB 1.5: what it makes of a statement has no text of its own
        if len(statements) != 1:
            raise UsageError(
                "A query is one statement.",
                seen=f"{len(statements)} statements",
                todo="run them one after the other",
            )
        kind = statements[0].type.name
        if kind == "EXPLAIN":
            inner = sql.split(None, 1)[1] if len(sql.split(None, 1)) > 1 else ""
            inner = inner[len("analyze") :] if inner.lower().startswith("analyze") else inner
            if not inner.lstrip().startswith("("):
                self._check(inner)
                return
        # PIVOT is several statements to DuckDB 2, and one to its user.
        if kind not in ("SELECT", "MULTI"):
            raise QueryError(
                "Queries only read.",
                seen=f"a statement of kind {kind}",
                todo="use SELECT; `stepscope export` writes rows to files",
            )

    def _prepare(self, sql: str) -> None:
        """Checks a statement, and attaches the tables and makes the views it reads."""
        self._free()
        self._check(sql)
        self._bring(sql)
        self._make_views(sql)

    def _bring(self, *statements: str) -> None:
        """Attaches the tables that statements read."""
        found = self.reads(*statements)
        if found is None:
            text = "\n".join(statements).lower()
            likely = [name for name, one in self._sources.items() if not one.costly or name in text]
            self._attach(likely, None)
        else:
            self._attach(sorted(found.tables & self._sources.keys()), None if found.star else found.columns)

    def _make_views(self, sql: str) -> None:
        """Creates the views that a statement needs, each after those it builds on."""
        if self._beside is not None:
            reads = self.reads(sql)
            if reads is None or reads.tables & self._beside.coming:
                self._beside.begun(self.refused)
        for name in self._needed(sql):
            for statement in self._making(name):
                try:
                    self._con.execute(statement)
                except duckdb.Error as error:
                    raise self.refused(error, statement) from error

    def _needed(self, sql: str) -> list[str]:
        """The views that a statement names and that are not made yet."""
        waiting = self._views.keys() - self._made
        if not waiting:
            return []
        parsed = parse(self._con, sql)
        return sorted(waiting if parsed is None else parsed.tables & waiting)

    def _making(self, name: str) -> list[str]:
        """Statements that make a view, after those it builds on."""
        if name in self._made:
            return []
        self._made.add(name)
        sql = self._views[name]
        inner = [statement for view in self._needed(sql) for statement in self._making(view)]
        return [*inner, f"CREATE OR REPLACE VIEW {quote(name)} AS {sql}"]

    def _free(self) -> None:
        """Fetches what is left of the query before: its connection can do nothing else until then."""
        if self._open is not None:
            self._open.detach()
            self._open = None

    def _run(self, sql: str, params: Params) -> Rows:
        self._free()
        try:
            self.patiently(lambda: self._con.execute(sql, params or None))
        except duckdb.Error as error:
            raise self.refused(error, sql) from error
        self._open = Rows(self, self._con, sql)
        return self._open

    def refused(self, error: duckdb.Error, sql: str) -> StepscopeError:
        """The error to raise for one of DuckDB's."""
        told = refusal(error, sql, self._known())
        return self.doubt(told) if isinstance(error, _WHILE_READING) else told

    def _known(self) -> dict[str, tuple[str, ...]]:
        """Tables and views with their columns, for advice."""
        for name in self._made - self._names.keys():
            with contextlib.suppress(duckdb.Error):  # a view that does not work has nothing to advise
                described = self._con.execute(f"DESCRIBE {quote(name)}").fetchall()
                self._names[name] = tuple(row[0] for row in described)
        return {**dict.fromkeys(self._views, ()), **self._names}

    def patiently(self, work: Callable[[], T]) -> T:
        """Runs `work` so that Ctrl-C stops it: DuckDB itself does not look for signals while it computes."""
        if threading.current_thread() is not threading.main_thread():
            return work()
        done: list[T] = []
        failed: list[BaseException] = []
        # Not Thread.join(): interrupted, it takes a running thread for a finished one (Python 3.11).
        over = threading.Event()

        def call() -> None:
            try:
                done.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                failed.append(error)
            finally:
                over.set()

        threading.Thread(target=call, daemon=True).start()
        try:
            over.wait()
        except KeyboardInterrupt:
            self._open = None
            self._con.interrupt()
            self._stuck = not over.wait(_PATIENCE_SECONDS)
            raise
        if failed:
            raise failed[0]
        return done[0]


def quote(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
