"""Recordings that are databases of SQLite: their rows as slices, which SQLite itself writes down."""

import json
import sqlite3
from contextlib import closing
from typing import NamedTuple
from urllib.parse import quote

from stepscope import units
from stepscope._core import Store
from stepscope.formats import Damaged, NothingTimed, Pieces
from stepscope.formats._profile_events import Events

MAGIC = b"SQLite format 3\0"
_MOST_INSTRUCTIONS = 2 * 10**9
"""Of SQLite's machine for one statement: more than any database of a size that is read needs."""


class DatabaseSpans(NamedTuple):
    """Slices in SQL: where their rows come from (e is what has start and end), and what they are."""

    rows: str
    name: str
    category: str
    pid: str
    tid: str
    args: str = ""
    where: str = "TRUE"
    start: str = "e.start"
    end: str = "e.end"


class Database:
    """A database that is being read into events. Its times are nanoseconds."""

    producer: str
    """What wrote it."""
    lacks: str
    """What has times, for the sentence about a database without any of it."""
    todo: str
    """How to record it."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self.base = base
        self.events = Events()
        self.origin_unix_ns: int | None = None
        self.ranks: dict[str, int] = {}
        """The number of the process in its job as rank, and world_size where it is known."""
        self.start_ns = 0
        """When ts_ps = 0 is in the database's own clock."""
        base.text_factory = lambda text: text.decode("utf-8", "replace")
        base.execute("PRAGMA trusted_schema = OFF")
        base.set_progress_handler(lambda: 1, _MOST_INSTRUCTIONS)
        tables = base.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
        self.columns = {str(name): self._columns(str(name)) for (name,) in tables}

    def _columns(self, table: str) -> set[str]:
        """Columns of a table; none of a view whose tables lack."""
        try:
            return {str(column[1]) for column in self.base.execute(f"PRAGMA table_info({quoted(table)})")}
        except sqlite3.OperationalError:
            return set()

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is a table with these columns."""
        found = self.columns.get(table) or set()
        return bool(found) and found.issuperset(columns)

    def number(self, statement: str) -> int:
        """What a statement of one number gives; 0 where a table or a row lacks."""
        try:
            (found,) = self.base.execute(statement).fetchone() or (0,)
        except sqlite3.OperationalError:
            return 0
        return found if isinstance(found, int) else 0

    def begin(self, *starts: tuple[str, str]) -> None:
        """Lets time begin with the first row of these tables, by their columns."""
        firsts = (
            self.number(f"SELECT MIN(CAST({column} AS INTEGER)) FROM {quoted(table)}")
            for table, column in starts
        )
        self.start_ns = min((first for first in firsts if first), default=0)

    def add(self, spans: DatabaseSpans) -> None:
        """Adds the slices. SQLite writes their JSON, in a tenth of the time of a loop over rows."""
        start, length = f"({spans.start} - {self.start_ns})", f"({spans.end} - {spans.start})"
        event = (
            f"json_object('ph', 'X', 'cat', {spans.category}, 'name', {spans.name}, 'pid', {spans.pid},"
            f" 'tid', {spans.tid}, 'args', json_object({spans.args}),"
            f" 'ts', json({_microseconds(start)}), 'dur', json({_microseconds(length)}))"
        )
        of = f"FROM {spans.rows} WHERE {spans.where}"
        self.events.add(
            line for (line,) in self.base.execute(f"SELECT {event} {of} AND {spans.end} >= {spans.start}")
        )
        backwards = self.number(f"SELECT COUNT(*) {of} AND {spans.end} < {spans.start}")
        self.events.seen += backwards
        self.events.lost += backwards
        self.events.miss(
            self.number(f"SELECT COUNT(*) {of} AND ({spans.end} IS NULL OR {spans.start} IS NULL)")
        )

    def read(self) -> None:
        """Adds all slices, names of their rows, and what is left out."""
        raise NotImplementedError

    def add_work(self, spans: DatabaseSpans, unit: str = "GPU") -> None:
        """Adds what devices did; pid is the number of the device, and tid the name of its row."""
        for number, row in self._rows(spans):
            self.events.thread(f"{unit} {number}", row, f"{unit} {number}", str(row))
        self.add(spans._replace(pid=f"'{unit} ' || {spans.pid}"))

    def add_calls(self, spans: DatabaseSpans) -> None:
        """Adds what threads did."""
        for pid, tid in self._rows(spans):
            self.events.thread(pid, tid, f"process {pid}", f"thread {tid}")
        self.add(spans)

    def _rows(self, spans: DatabaseSpans) -> sqlite3.Cursor:
        return self.base.execute(
            f"SELECT DISTINCT {spans.pid}, {spans.tid} FROM {spans.rows} WHERE {spans.where}"
        )

    def held(self) -> str:
        """The tables with most rows, as a sentence without slices goes on; tables of names are no data."""
        counted = ((self.number(f"SELECT COUNT(*) FROM {quoted(name)}"), name) for name in self.recorded())
        most = sorted((table for table in counted if table[0]), key=lambda table: (-table[0], table[1]))[:3]
        text = ", ".join(f"{units.count(rows, 'row')} of {name}" for rows, name in most)
        return f"; it holds {text}" if text else ", and no other rows"

    def recorded(self) -> list[str]:
        """The tables in which a row stands for a moment."""
        times = {"start", "timestamp", "startNs", "timestampNs"}
        return [name for name, columns in self.columns.items() if times & columns]

    def leave_out(self, rows: int, of: str) -> None:
        """Notes rows that are not read."""
        if rows:
            detail = f"{units.count(rows, 'row')} of {of} {units.agree(rows, 'is', 'are')} not read"
            self.events.note("not-read", "info", rows, detail)


def store_of(pieces: Pieces, kind: type[Database]) -> Store:
    """The store of a database. NothingTimed when it holds no slices."""
    with pieces.on_disk() as path:
        try:
            with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro&immutable=1", uri=True)) as base:
                database = kind(base)
                database.read()
                held = "" if database.events.any else database.held()
        except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
            # The last is of names in a schema, and of SQLite's words about them.
            raise Damaged(f"it is damaged: {error}") from error
        if not database.events.any:
            raise NothingTimed(f"no {database.lacks} with their times{held}", database.todo)
        store = database.events.store(pieces, path, database.producer)
    meta = {"distributedInfo": json.dumps(database.ranks)} if database.ranks else {}
    store.update_facts({"origin_unix_ns": database.origin_unix_ns, "meta": meta})
    return store


def split_range(text: str) -> tuple[str, str, str, str]:
    """Name, category and sizes of a text in SQL, and whether it has sizes: PyTorch writes an op as
    `NAME, seq = N, op_id = M, sizes = [[2, 3], …]`, where any of these may lack."""
    is_op = f"({text} LIKE '%, op_id = %' OR {text} LIKE '%, seq = %')"
    name = f"CASE WHEN {is_op} THEN substr({text}, 1, instr({text}, ', ') - 1) ELSE {text} END"
    sizes = f"substr({text}, instr({text}, ', sizes = ') + 10)"
    sizes = f"substr({sizes}, 1, instr({sizes} || ', input_op_ids', ', input_op_ids') - 1)"
    is_sized = f"({is_op} AND instr({text}, ', sizes = ') > 0 AND json_valid({sizes}))"
    category = f"CASE WHEN {is_op} THEN 'cpu_op' ELSE 'user_annotation' END"
    return name, category, sizes, is_sized


def _microseconds(nanoseconds: str) -> str:
    return f"printf('%d.%03d', {nanoseconds} / 1000, {nanoseconds} % 1000)"


def quoted(name: str) -> str:
    """A name of a table as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
