"""Tables of a DuckDB database, created when a query first reads them: views over parts, or copies of rows."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from stepscope import _core
from stepscope.engines import Condition, Files, Part, PythonRows, Relation, Stream
from stepscope.engines.duckdb.native import duckdb

if TYPE_CHECKING:
    from stepscope.engines.duckdb import DuckDB


_MOST_STREAMS = 50
_FEW_ROWS = 1000
"""A stream takes 270 KB of DuckDB's memory and 50 ms of planning, whatever it holds. Where more streams than
_MOST_STREAMS have at most _FEW_ROWS rows, their rows are copied into a table, which takes less."""
_MOST_COPIED = 50_000
"""Rows of a table of a little recording that are copied: a report names it a hundred times, and each time a
statement is planned over a stream, DuckDB binds a cast for each column and asks for the stream's schema. A
summary takes a tenth less of the processor with copies."""


class EngineTables:
    """The tables that an engine knows, and which of them are attached."""

    def __init__(self, engine: DuckDB, con: duckdb.DuckDBPyConnection) -> None:
        self.relations: dict[str, Relation] = {}
        self.streams: dict[str, object] = {}
        """Registered streams by name; every connection beside the engine's own registers them as well."""
        self._engine = engine
        self._con = con
        self._parts: dict[str, Sequence[Part]] = {}
        self._loaded: dict[str, frozenset[str]] = {}
        """The columns with which tables are attached."""

    def names(self) -> dict[str, tuple[str, ...]]:
        """The columns of each table."""
        return {
            name: tuple(column for column, _ in relation.columns) for name, relation in self.relations.items()
        }

    def find_parts(self, tables: Iterable[str]) -> None:
        """Asks for the parts of tables, which tells of which there are no rows."""
        for name in tables:
            if name not in self._parts:
                self._parts[name] = self.relations[name].parts()

    def attach(self, tables: Iterable[str], wanted: frozenset[str] | None) -> None:
        """Attaches tables with at least the columns wanted; None wants all."""
        for name in tables:
            relation = self.relations[name]
            every = frozenset(column for column, _ in relation.columns)
            before = self._loaded.get(name)
            loaded = (every if wanted is None else every & wanted) | (before or frozenset())
            if before is not None and loaded <= before:
                continue
            self.find_parts([name])
            parts = self._parts[name]
            copied = self._are_copied(parts)
            if copied and sum(map(_most_rows, parts)) <= _FEW_ROWS:
                loaded = every  # to copy a few rows again, with more columns, takes longer
            others = set(self.streams)
            selects = self._selects(
                relation, parts, None if loaded == every else loaded, before or frozenset()
            )
            self._create(_making(relation, selects, copied), self._con.execute)
            if copied:
                self._release(self.streams.keys() - others)
            self._loaded[name] = loaded

    def _are_copied(self, parts: Iterable[Part]) -> bool:
        """Whether the rows of a table are few, and asked for often."""
        return self._engine.little and not self._engine.writes and _are_few(parts)

    def _create(self, statement: str, run: Callable[[str], object]) -> None:
        """Makes a table or a view."""
        try:
            run(statement)
        except duckdb.Error as error:
            raise self._engine.refused(error) from error

    def _release(self, aliases: Iterable[str]) -> None:
        """Lets go of streams that nothing reads any more."""
        for alias in aliases:
            self._con.unregister(alias)
            del self.streams[alias]

    def _selects(
        self,
        relation: Relation,
        parts: Sequence[Part],
        columns: frozenset[str] | None,
        before: frozenset[str],
    ) -> list[str]:
        """A SELECT for each part, and one for all small streams where there are many. before: columns that
        were attached already."""
        few = [part for part in parts if isinstance(part, Stream) and part.rows <= _FEW_ROWS]
        selects = []
        if len(few) > _MOST_STREAMS:
            parts = [part for part in parts if not isinstance(part, Stream) or part.rows > _FEW_ROWS]
            selects = [self._gathered(relation, few, columns)]
        return selects + [
            select for part in parts if (select := self._select(relation, part, columns, before))
        ]

    def lacks(self, table: str) -> bool:
        """Whether a table is known to have no rows."""
        return table in self._parts and not any(map(_may_have_rows, self._parts[table]))

    def short(self) -> set[str]:
        """Attached tables whose rows are few."""
        return {name for name in self._loaded if _are_few(self._parts[name])}

    def waiting(self, tables: Iterable[str]) -> bool:
        """True where one of some tables is not attached yet."""
        return any(name in self.relations and name not in self._loaded for name in tables)

    def close(self) -> None:
        """Releases the streams and what they read."""
        for alias in self.streams:
            with contextlib.suppress(duckdb.Error):
                self._con.unregister(alias)
        self.streams.clear()
        self._parts.clear()

    def _select(
        self, relation: Relation, part: Part, wanted: frozenset[str] | None, before: frozenset[str]
    ) -> str | None:
        """The rows of one part as a SELECT of all columns; None when there are none."""
        if isinstance(part, Files):
            listed = ", ".join(_text(path) for path in part.paths)
            read = f"SELECT {_picks(relation)} FROM read_parquet([{listed}], hive_partitioning = false)"
            return f"{read} WHERE {' AND '.join(map(_fulfils, part.where))}" if part.where else read
        if isinstance(part, PythonRows):
            return self._values(relation, part) if part.rows else None
        return self._streamed(relation, part, wanted, before)

    def _streamed(
        self,
        relation: Relation,
        part: Stream,
        wanted: frozenset[str] | None,
        before: frozenset[str] = frozenset(),
    ) -> str:
        columns = None
        if wanted is not None:
            # At least one column, so that the rows can be counted.
            columns = [name for name in part.columns if name in wanted] or list(part.columns[:1])
        part_columns = set(part.columns if columns is None else columns)
        alias = self._register(part.name, part.open(columns, not self._engine.writes))
        # What was attached before was read to its end then.
        unread = [name for name in columns or part.columns if name not in before]
        if part.damaged is not None and not self._readable(alias, unread):
            raise part.damaged
        picks = ", ".join(
            f"CAST({_value(name, part, part_columns)} AS {kind}) AS {quote(name)}"
            for name, kind in relation.columns
        )
        return f"SELECT {picks} FROM {quote(alias)}"

    def _gathered(self, relation: Relation, parts: Sequence[Stream], wanted: frozenset[str] | None) -> str:
        """The rows of many short streams, copied into one table, as a SELECT."""
        table = quote(f"gathered_{relation.name}")
        for first in range(0, len(parts), _MOST_STREAMS):
            before = set(self.streams)
            selects = [
                self._streamed(relation, part, wanted) for part in parts[first : first + _MOST_STREAMS]
            ]
            begin = f"INSERT INTO {table}" if first else f"CREATE OR REPLACE TABLE {table} AS"
            filling = f"{begin} {' UNION ALL '.join(selects)}"
            self._create(filling, lambda sql: self._engine.patiently(partial(self._con.execute, sql)))
            self._release(self.streams.keys() - before)
        return f"SELECT * FROM {table}"

    def _values(self, relation: Relation, part: PythonRows) -> str:
        """Python values go through a store of the core: an INSERT with parameters takes 20 times as long."""
        store = _core.build()
        names = [column for column, _ in relation.columns]
        store.replace(relation.name, dict(zip(names, zip(*part.rows, strict=True), strict=True)))
        alias = self._register(f"rows_{relation.name}", store.stream(relation.name))
        return f"SELECT {_picks(relation)} FROM {quote(alias)}"

    def _register(self, alias: str, arrow: object) -> str:
        """Registers a stream and returns its name: `alias`, with a number appended when the name is taken."""
        taken = alias in self.streams or alias in self.relations
        name = f"{alias}_{len(self.streams)}" if taken else alias
        try:
            self._con.register(name, arrow)
        except duckdb.Error as error:
            raise self._engine.refused(error) from error
        self.streams[name] = arrow
        return name

    def _readable(self, alias: str, columns: Iterable[str]) -> bool:
        """Reads columns of a stream to its end; False when that fails."""
        counts = ", ".join(["count(*)", *(f"count({quote(name)})" for name in columns)])
        try:
            self._engine.patiently(
                lambda: self._con.execute(f"SELECT {counts} FROM {quote(alias)}").fetchall()
            )
        except duckdb.InterruptException:
            raise  # it says nothing of the stream
        except duckdb.Error:
            return False
        return True


def _are_few(parts: Iterable[Part]) -> bool:
    return sum(map(_most_rows, parts)) <= _MOST_COPIED


def _most_rows(part: Part) -> float:
    if isinstance(part, Files):
        return math.inf
    return len(part.rows) if isinstance(part, PythonRows) else part.rows


def _may_have_rows(part: Part) -> bool:
    if isinstance(part, Files):
        return True
    if isinstance(part, PythonRows):
        return bool(part.rows)
    return part.damaged is not None or part.rows > 0


def quote(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _fulfils(condition: Condition) -> str:
    """A condition as SQL."""
    values = ", ".join(_text(value) if isinstance(value, str) else str(value) for value in condition.values)
    return f"{quote(condition.column)} {'NOT ' if condition.negated else ''}IN ({values})"


def _picks(relation: Relation) -> str:
    return ", ".join(f"CAST({quote(name)} AS {kind}) AS {quote(name)}" for name, kind in relation.columns)


def _value(name: str, part: Stream, part_columns: set[str]) -> str:
    """SQL for a column, from the columns that the stream has `there`."""
    if name in part.values and (name in part_columns or name not in part.columns):
        return part.values[name]
    return quote(name) if name in part_columns else "NULL"


def _making(relation: Relation, selects: Sequence[str], copied: bool) -> str:
    """The statement that makes a table of the rows of all parts, or a view."""
    if copied and not selects:
        columns = ", ".join(f"{quote(name)} {kind}" for name, kind in relation.columns)
        return f"CREATE OR REPLACE TABLE {quote(relation.name)} ({columns})"
    made = "TABLE" if copied else "VIEW"
    return f"CREATE OR REPLACE {made} {quote(relation.name)} AS {_together(relation, selects)}"


def _together(relation: Relation, selects: Sequence[str]) -> str:
    """The rows of all parts, as one SELECT."""
    if not selects:
        nothing = ", ".join(f"CAST(NULL AS {kind}) AS {quote(name)}" for name, kind in relation.columns)
        return f"SELECT {nothing} WHERE false"
    rows = " UNION ALL ".join(selects)
    if not relation.key:
        return rows
    rest = ", ".join(
        name if name in relation.key else f"min({name}) AS {name}"
        for name in (quote(column) for column, _ in relation.columns)
    )
    keys = [quote(key) for key in relation.key]
    return f"SELECT {rest} FROM ({rows}) GROUP BY {', '.join(keys)}"
