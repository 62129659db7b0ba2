"""Engines answer SQL over the tables. Callers know the protocol below and nothing else of any engine.

An engine takes tables in parts (`Files`, `Stream`, `PythonRows`), views and statements, and returns rows. How
it reads Parquet and Arrow, when it computes, and what it keeps is up to the engine: see `engines/duckdb`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol

from stepscope.errors import StepscopeError

Params = Sequence[Any] | Mapping[str, Any]
Form = Literal["parquet", "packed", "packed_plain", "csv", "ndjson", "text"]
"""What copy() writes: a Parquet file, `packed` with row groups of a fleet's size and whole numbers as
differences, `packed_plain` with those row groups only; lines, with a header for csv; or one column of text as
it is."""


class Reads(NamedTuple):
    """What a statement reads: tables and views, columns by name, and whether a star asks for all columns."""

    tables: frozenset[str]
    columns: frozenset[str]
    star: bool

    def joined(self, other: Reads) -> Reads:
        """What both read."""
        return Reads(self.tables | other.tables, self.columns | other.columns, self.star or other.star)


class NeededRows(NamedTuple):
    """Rows of a table or view: all, or those for which an SQL condition holds."""

    table: str
    where: str = ""


Needs = frozenset[frozenset[NeededRows]]
"""Of each set some rows exist where a statement has rows."""


def are_unmet(needs: Needs, missing: Callable[[NeededRows], bool]) -> bool:
    """Whether a statement with these needs has no rows, because of those that are missing."""
    return any(all(map(missing, clause)) for clause in needs)


class Statement(NamedTuple):
    """One SELECT. reads: what it is known to read; None leaves it to the engine to find out."""

    sql: str
    reads: Reads | None = None
    name: str = ""
    """What the library calls it."""
    needs: Needs = frozenset()
    """Rows without which it has none either, as far as that is known."""


class Arrow(Protocol):
    """Rows as an Arrow stream, which may be exported any number of times."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A PyCapsule of an ArrowArrayStream."""


class Condition(NamedTuple):
    """Rows whose column is one of some values, or none of them. Never NULL, never a user's text as a name."""

    column: str
    values: tuple[str, ...] | tuple[int, ...]
    negated: bool = False


class Files(NamedTuple):
    """Parquet files that hold all columns of a table; no path has characters of patterns."""

    paths: tuple[str, ...]
    where: tuple[Condition, ...] = ()
    """What the rows must fulfil to be rows of the table."""


class Stream(NamedTuple):
    """Rows that come as Arrow when they are asked for."""

    name: str
    """What to call it in messages and plans."""
    open: Callable[[Sequence[str] | None, bool], Arrow]
    """Gives the stream, of some of its columns or of all (None). True allows it to map files into memory."""
    columns: tuple[str, ...]
    """Columns that the stream has."""
    values: Mapping[str, str]
    """SQL for the columns of the table that are not taken from the column of that name. Other columns that
    the stream lacks are NULL."""
    damaged: Exception | None = None
    """To be raised when the stream cannot be read to its end, which is then tried before anything else."""
    rows: float = math.inf
    """How many there are, where that is known: an engine may copy few rows rather than keep a stream."""


class PythonRows(NamedTuple):
    """Python values, row by row, in the order of the table's columns."""

    rows: Sequence[Sequence[Any]]


Part = Files | Stream | PythonRows


class Relation(NamedTuple):
    """A table and the parts whose rows together are its rows."""

    name: str
    columns: tuple[tuple[str, str], ...]
    """Names and SQL types."""
    parts: Callable[[], Sequence[Part]]
    """Asked once, when a query first reads the table. Without any part the table is empty."""
    key: tuple[str, ...] = ()
    """Rows that agree in these columns are one row, with the least value of each other column."""
    costly: bool = False
    """Where it is not known what a statement reads, only one with the table's name in it reads this."""
    asks: bool = False
    """`parts` runs queries itself."""


class Work(NamedTuple):
    """What an engine is made for."""

    writes: bool
    """It copies whole tables: what it reads need not stay in memory."""
    doubt: Callable[[StepscopeError], StepscopeError]
    """Gives the error to raise when a query fails while it reads."""
    little: bool = False
    """All that is to be read is so little that it is not worth sharing out."""
    memory_bytes: int | None = None
    """The most memory to take, where the engine runs in this process; None leaves it to the engine."""


Told = Callable[[int, int], None]
"""Called with the number of a statement that is answered, and with how many are, in the thread that waits for
them."""


class QueryResult(Protocol):
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
    """Something that answers SQL. Used by one thread at a time, except for interrupt()."""

    @property
    def whole_runs(self) -> bool:
        """Whether what it has of a run is that run as a whole: hosts cannot be left out."""

    def prepare(self, work: Work) -> None:
        """Says what it is made for. Before attach()."""

    def attach(self, relation: Relation) -> None:
        """Makes a table known."""

    def define(self, views: Mapping[str, Statement | str]) -> None:
        """Makes SELECT statements usable by name. They may build on one another, in any order."""

    def seal(self, paths: Sequence[str] = ()) -> None:
        """From now on statements reach nothing outside but the files at `paths`."""

    def reads(self, *statements: Statement) -> Reads | None:
        """What statements read, with views followed to their tables; None if unknown."""

    def query(self, asked: Statement | str, params: Params = ()) -> QueryResult:
        """Runs one SELECT. QueryError when the engine refuses it."""

    def stream(self, asked: Statement | str) -> Arrow:
        """The rows of one SELECT as Arrow: it runs when the stream is exported, which must be read to its end
        before the next query. QueryError when the engine refuses it."""

    def answers(
        self, asked: Sequence[Statement | str], keep: Sequence[str] = (), progress: Told | None = None
    ) -> list[list[tuple[Any, ...]]]:
        """All rows of each of several SELECTs. keep: views that several of them read, each after those it
        builds on. progress: called as they are answered."""

    def keep(self, views: Sequence[str]) -> None:
        """Computes defined views once and keeps their rows for the queries that follow."""

    def copy(self, asked: Statement | str, path: str, form: Form) -> int:
        """Writes the rows of one SELECT to a file; returns their number. OutputError when the file cannot be
        written. Only before seal()."""

    def interrupt(self) -> None:
        """Stops the query that runs, from another thread."""

    def close(self) -> None:
        """Releases files and memory. Idempotent."""

    def leave(self) -> None:
        """close() for a process that ends: what ends with the process anyway need not be taken apart."""


def statement(asked: Statement | str) -> Statement:
    """Text as a statement that says nothing of what it reads."""
    return asked if isinstance(asked, Statement) else Statement(asked)


def rows_of(table: str, columns: Sequence[str] = ("*",), order: str = "") -> Statement:
    """The statement that gives the rows of a table or view as they are. The names are never a user's."""
    return Statement(f"SELECT {', '.join(columns)} FROM {table}{f' ORDER BY {order}' if order else ''}")


def first_rows(
    sql: str, columns: Sequence[str], order: Sequence[str], most: int, each: Mapping[str, Sequence[str]]
) -> str:
    """The first rows of a SELECT, and after its columns how many rows it has in all. The names are never a
    user's. Numbering all rows would take longer than sorting out the first.

    sql: ends in its ORDER BY, which begins a line. order: columns by which its rows are in order; "-" before
    one whose largest value is first. each: a column with its values, of each of which the first rows are
    wanted; none for the first rows of all.
    """
    keys = ", ".join(f"r.{name.lstrip('-')}{' DESC' * name.startswith('-')} NULLS LAST" for name in order)
    picked = ", ".join(f"r.{name}" for name in columns)
    parts = [f" WHERE r.{name} = '{value}'" for name, values in each.items() for value in values] or [""]
    whole, _, _ = sql.rpartition("\nORDER BY ")
    made = [f"whole_answer AS ({whole})", "counted AS (SELECT COUNT(*) AS rows_in_all FROM whole_answer)"]
    made += [
        f"part_{number} AS (SELECT {picked} FROM whole_answer AS r{part} ORDER BY {keys} LIMIT {most})"
        for number, part in enumerate(parts)
    ]
    rows = " UNION ALL ".join(f"SELECT {picked} FROM part_{number} AS r" for number in range(len(parts)))
    first = "".join(f"r.{name} NULLS LAST, " for name in each)
    return (
        f"WITH {', '.join(made)} SELECT {picked}, c.rows_in_all FROM ({rows}) AS r CROSS JOIN counted AS c "
        f"ORDER BY {first}{keys}"
    )
