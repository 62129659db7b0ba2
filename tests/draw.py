"""Traces drawn as text, and what a decoder would make of them: rows of the schema's tables.

    TRACE = '''
    cpu/python  thread  : [train 0..............][train 1......]
    cpu/python  thread  :   [IteratorGetNextOp::DoCompute...]
    gpu/s7      device_stream :     [MatMul:MatMul]  [Memcpy]
    '''

One line is (part of) one track: device/name, kind, then slices in brackets. One character is one unit
of time (1 µs); a slice begins at its `[` and ends behind its `]`. Lines of the same track nest. In the
brackets stands the name, dots fill it up; `node:Type` gives op name and op type, `name#7` a correlation
id. A step is drawn on a line that begins with `step`: [train 0...], `~` before the kind leaves it out
of averages. Kinds ending in `!` record launches, in `?` marks.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import itertools
import json
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary, WeakSet

import duckdb

from stepscope import formats, library
from stepscope.lake.schema import schema
from tests.rollups import CALLED, TWINS, classed

UNIT_PS = 1_000_000
Row = dict[str, Any]


@dataclass
class Tables:
    """Rows by table. `add` fills what is not given, so that tests name only what they are about."""

    rows: dict[str, list[Row]] = field(default_factory=lambda: {t.name: [] for t in schema().tables})

    def add(self, table: str, **values: Any) -> Row:
        """One row; columns that are not given get NULL, or a neutral value where NULL is not allowed."""
        row: Row = {}
        for column in schema().table(table).columns:
            neutral: Any = None if column.nullable else _NEUTRAL[column.type]
            if column.name in ("run_id", "host_id"):
                neutral = column.name[0]
            if column.name == "id":
                neutral = len(self.rows[table])
            row[column.name] = values.pop(column.name, neutral)
        assert not values, f"{table} has no column {sorted(values)}"
        self.rows[table].append(row)
        return row

    def source(self, source_id: int = 0, producer: str = "tf_profiler", **values: Any) -> None:
        """A source with its capture."""
        facts = {"path": f"{source_id}.pb", "format": "xplane", "complete": True, **values}
        writer = formats.writer(facts["format"], producer)
        facts = {"kind": formats.traits(facts["format"]).kind, **writer._asdict(), **facts}
        self.add("source", source_id=source_id, producer=producer, **facts)
        self.add("capture", capture_id=source_id, source_id=source_id, producer=producer, clock="relative")

    def add_run(self, run_id: str, tables: Tables) -> None:
        """Adds the rows of other tables as those of another run."""
        for table, rows in tables.rows.items():
            for row in rows:
                own = {key: value for key, value in row.items() if key != "id"}
                own |= {key: own[key] + 9 for key in ("source_id", "capture_id") if key in own}
                self.add(table, **{**own, "run_id": run_id})

    def slices(self, source_id: int, rows: Sequence[Row]) -> None:
        """Slices of one source in the order of the file: sorted by track and nested here."""
        ordered = sorted(
            enumerate(rows), key=lambda r: (r[1]["track_id"], r[1]["ts_ps"], -r[1]["dur_ps"], r[0])
        )
        first = len(self.rows["slice"])
        nested = nest([row for _, row in ordered])
        for (_, row), (depth, parent, self_ps) in zip(ordered, nested, strict=True):
            parent_id = None if parent is None else first + parent
            own = {"depth": depth, "parent_id": parent_id, "self_ps": self_ps}
            self.add("slice", source_id=source_id, **{**own, **row})

    def fill_steps(self, label: str) -> None:
        """Has every step go to one label from its begin to its end."""
        for step in self.rows["step_stored"]:
            self.add("step_part", step_id=step["id"], label=label, dur_ps=step["dur_ps"])

    def assign_steps(self) -> None:
        """Fills slice.step as the core does: the step in whose half-open interval a slice starts."""
        for row in self.rows["slice"]:
            for step in self.rows["step_stored"]:
                begin, end = step["ts_ps"], step["ts_ps"] + step["dur_ps"]
                if step["source_id"] == row["source_id"] and begin <= row["ts_ps"] < end:
                    row["step"] = step["step"]

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The tables, and the base views of the library, in a database of their own."""
        connection = cast(duckdb.DuckDBPyConnection, _Database())
        self.fill(connection)
        return connection

    def shared(self, sums: bool = True) -> duckdb.DuckDBPyConnection:
        """The same in the one DuckDB of all who ask for it: it has these rows until the next asks. sums: as
        in fill."""
        connection = _shared()
        self.fill(connection, sums)
        return connection

    def empty(self) -> frozenset[str]:
        """The tables that have no row."""
        return frozenset(name for name, rows in self.rows.items() if not rows and name not in TWINS)

    def insert(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        """Puts the rows of one table into the connection's."""
        _FILLED.setdefault(connection, {})[table] = _ADDED_TO
        _put(connection, table, [tuple(row.values()) for row in self.rows[table]])

    def fill(self, connection: duckdb.DuckDBPyConnection, sums: bool = True) -> None:
        """Puts these rows in the place of those that are in the connection's tables. sums: whether what few
        statements read is made as well, SUMS; without, there are no such tables: nobody finds them empty."""
        labels: dict[tuple[Any, ...], int] = {}
        for row in self.rows["slice"]:
            called = tuple(row[name] for name in _CALLED)
            row["rollup_id"] = labels.setdefault(called, len(labels))
        there = _FILLED.setdefault(connection, {})
        # Drawings of one test differ in a table or two, those of two tests still have the same device.
        wanted = {table: repr(rows) for table, rows in self.rows.items() if rows and table not in TWINS}
        for table in [table for table, rows in there.items() if wanted.get(table) != rows]:
            connection.execute(f"DELETE FROM {table}")
            del there[table]
        for table in wanted.keys() - there.keys():
            self.insert(connection, table)
            there[table] = wanted[table]
        self._roll_up(connection, "".join(wanted.get(table, "") for table in _rolled_up()), sums)

    def _roll_up(self, connection: duckdb.DuckDBPyConnection, rows: str, sums: bool) -> None:
        """Fills the tables of rollups, which are made of these rows of others."""
        if sums == (connection in _WITHOUT_SUMS):
            for name in SUMS:
                names = (f"no {name}", name) if sums else (name, f"no {name}")
                connection.execute('ALTER TABLE "{}" RENAME TO "{}"'.format(*names))
            (_WITHOUT_SUMS.discard if sums else _WITHOUT_SUMS.add)(connection)
        there = _ROLLED_UP.setdefault(connection, {})
        for name, twin in TWINS.items():
            if there.get(name, "") == rows or (name in SUMS and not sums):
                continue
            if there.get(name):
                connection.execute(f"DELETE FROM {name}")
            there[name] = rows
            if not self.rows["slice"]:
                continue
            if (name, rows) in _TWINS:
                _put(connection, name, _TWINS[name, rows])
                continue
            # Once: as views, they would be asked again by each view that reads them. The optimizer takes
            # longer than these few rows.
            connection.execute("PRAGMA disable_optimizer")
            if name == "rollup_op":
                _class(connection)
            connection.execute(f"INSERT INTO {name} BY NAME {twin}")
            if name == "rollup_op":
                connection.execute("DELETE FROM rollup_op WHERE slices = 0")
            connection.execute("PRAGMA enable_optimizer")
            _TWINS[name, rows] = connection.execute(f"FROM {name}").fetchall()


def _class(connection: duckdb.DuckDBPyConnection) -> None:
    """Puts what slices are into rollup_op: the core says it, and the twin what they add up to."""
    rows = classed(connection.execute(CALLED).fetchall())
    marks = ", ".join(["(" + ", ".join("?" * 13) + ", 0, 0, 0, 0, 0)"] * len(rows))
    names = ", ".join([*_IDS, *_CALLED[2:], "class", "wait", "layer", "is_op", *_SUMMED])
    values = [value for row in rows for value in (*row[:9], *row[13:])]
    connection.execute(f"INSERT INTO rollup_op ({names}) VALUES {marks}", values)


def _put(connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Puts rows into a table, column by column: DuckDB binds each value that is a parameter by itself."""
    if rows:
        columns = [list(column) for column in zip(*rows, strict=True)]
        connection.execute(f"INSERT INTO {table} SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)


@functools.cache
def _rolled_up() -> tuple[str, ...]:
    """The tables that the twins read."""
    tables = _tables_of(("work_slice", "wait_slice", "track_place", "slice", "track", "step_stored"))
    return tuple(sorted(tables - TWINS.keys()))


@functools.cache
def reads_sums(name: str) -> bool:
    """Whether an analysis or a finding reads one of SUMS."""
    return not _tables_of(library.entry(name).reads).isdisjoint(SUMS)


def _tables_of(reads: Sequence[str]) -> set[str]:
    """The tables behind tables and views."""
    views = {view.name: view.reads for view in library.views()}
    todo, tables = list(reads), set[str]()
    while todo:
        if (name := todo.pop()) in views:
            todo.extend(views[name])
        else:
            tables.add(name)
    return tables


_ADDED_TO = ""
"""Of a table whose rows are not all those of one drawing."""


class _Database:
    """A database that is attached to the one DuckDB of all: another DuckDB takes ten times as long. It does
    what a connection does, and is gone when nobody has it any more."""

    def __init__(self) -> None:
        self._name = f"drawn_{next(_NUMBERS)}"
        _duckdb().execute(f"ATTACH ':memory:' AS {self._name}")
        _duckdb().execute(f"COPY FROM DATABASE empty TO {self._name} (SCHEMA)")
        self._connection = self.cursor()
        # Of the connection: who has a method of it needs not this.
        weakref.finalize(self._connection, _detach, self._name).atexit = False

    def cursor(self) -> duckdb.DuckDBPyConnection:
        connection = _duckdb().cursor()
        connection.execute(f"USE {self._name}")
        return connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@functools.cache
def _duckdb() -> duckdb.DuckDBPyConnection:
    # A second thread of DuckDB finds nothing to do in a few rows, and is woken all the same.
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"ATTACH '{_empty()}' AS empty (READ_ONLY)")
    return connection


def _detach(name: str) -> None:
    _duckdb().execute(f"DETACH {name}")


_NUMBERS = itertools.count()
_FILLED: WeakKeyDictionary[duckdb.DuckDBPyConnection, dict[str, str]] = WeakKeyDictionary()
"""The rows of those tables that have any, by connection."""
_ROLLED_UP: WeakKeyDictionary[duckdb.DuckDBPyConnection, dict[str, str]] = WeakKeyDictionary()
"""The rows that each table of rollups was made of, by connection."""
_TWINS: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
"""Rollups by their table and the rows that they were made of."""
SUMS = ("rollup_device",)
"""Tables of rollups that analyses and findings read, and no instrument."""
_WITHOUT_SUMS: WeakSet[duckdb.DuckDBPyConnection] = WeakSet()
"""Connections that lack them."""


@functools.cache
def _empty() -> Path:
    """A file with the schema's tables and the base views. DuckDB copies views without binding them again."""
    folder = Path(tempfile.mkdtemp(prefix="stepscope-draw-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "empty.duckdb"
    with duckdb.connect(path) as connection:
        for table in schema().tables:
            described = ", ".join(f"{c.name} {c.type}" for c in table.columns)
            connection.execute(f"CREATE TABLE {table.name} ({described})")
        waiting = {view.name: view.sql for view in library.views()}
        while waiting:  # those first that build on nothing that is not there yet
            for name, sql in list(waiting.items()):
                with contextlib.suppress(duckdb.CatalogException):
                    connection.execute(f"CREATE VIEW {name} AS {sql}")
                    del waiting[name]
    return path


@functools.cache
def _shared() -> duckdb.DuckDBPyConnection:
    return Tables().connect()


_CALLED = ("source_id", "track_id", "name", "category", "op_name", "op_type")
"""What slices of one row of rollup_op have in common."""
_IDS = ("id", "run_id", "host_id", "source_id", "track_id")
_SUMMED = ("slices", "total_ps", "self_ps", "min_ps", "max_ps")
_NEUTRAL: Mapping[str, Any] = {"BIGINT": 0, "INTEGER": 0, "VARCHAR": "", "BOOLEAN": False, "DOUBLE": 0.0}


def nest(rows: Sequence[Row]) -> list[tuple[int, int | None, int]]:
    """Depth, parent and self time of slices ordered by track and time, by the rules of the core, plainly.

    Self time is found by asking for each stretch between two edges which open slice began last.
    """
    depths: list[int] = []
    parents: list[int | None] = []
    self_ps = [0] * len(rows)
    stack: list[int] = []
    cursor = 0

    def end(i: int) -> int:
        return int(rows[i]["ts_ps"] + rows[i]["dur_ps"])

    def close(until: int | None) -> None:
        nonlocal cursor
        while stack and (until is None or end(stack[-1]) <= until):
            top = stack.pop()
            if end(top) > cursor:
                self_ps[top] += end(top) - cursor
                cursor = end(top)
        if stack and until is not None and until > cursor:
            self_ps[stack[-1]] += until - cursor
        if until is not None:
            cursor = max(cursor, until)

    track = None
    for i, row in enumerate(rows):
        if row["track_id"] != track:
            close(None)
            track, cursor = row["track_id"], row["ts_ps"]
        close(row["ts_ps"])
        while stack and end(stack[-1]) < end(i):
            stack.pop()
        parents.append(stack[-1] if stack else None)
        depths.append(len(stack))
        stack.append(i)
    close(None)
    return list(zip(depths, parents, self_ps, strict=True))


_LINE = re.compile(r"\s*(\S+)\s+(\S+)\s*:(.*)")
_SLICE = re.compile(r"\[([^\]]*)\]")
_DEVICES = {"cpu": "cpu", "gpu": "gpu", "tpu": "tpu"}
_RECORDS = {"!": "dispatch", "?": "annotation"}


def draw(text: str, producer: str = "tf_profiler") -> Tables:
    """The tables of a drawn trace: one source, its tracks, slices and steps."""
    tables = Tables()
    tables.source(producer=producer)
    tracks: dict[str, int] = {}
    devices: dict[str, int] = {}
    slices: list[Row] = []
    for line in text.strip("\n").splitlines():
        found = _LINE.fullmatch(line)
        assert found, f"not a line of a drawing: {line}"
        label, kind, drawn = found.groups()
        device, _, name = label.partition("/")
        for mark in _SLICE.finditer(drawn):
            ts_ps, dur_ps = mark.start() * UNIT_PS, len(mark.group()) * UNIT_PS
            shown = mark[1].rstrip(".").strip()
            if label == "step":
                _step(tables, shown, kind, ts_ps, dur_ps)
                continue
            if device not in devices:
                devices[device] = len(devices)
                known = _DEVICES.get(device[:3], "unknown")
                tables.add("device", id=devices[device], name=device, kind=known)
            if label not in tracks:
                tracks[label] = len(tracks)
                real = kind.rstrip("!?")
                facts = {"name": name, "process": device, "origin": label, "device_id": devices[device]}
                records = _RECORDS.get(kind[-1], "execution")
                tables.add("track", id=tracks[label], kind=real, records=records, **facts)
            slices.append({**_named(shown), "track_id": tracks[label], "ts_ps": ts_ps, "dur_ps": dur_ps})
    tables.slices(0, slices)
    if not tables.rows["step_stored"] and slices:
        begin = min(row["ts_ps"] for row in slices)
        dur_ps = max(row["ts_ps"] + row["dur_ps"] for row in slices) - begin
        facts = {"name": "whole capture", "kind": "unknown", "recovered_from": "whole_capture"}
        tables.add("step_stored", ts_ps=begin, dur_ps=dur_ps, averaged=False, **facts)
    tables.assign_steps()
    return tables


def _step(tables: Tables, shown: str, kind: str, ts_ps: int, dur_ps: int) -> None:
    number = len(tables.rows["step_stored"])
    facts = {"name": shown, "kind": kind.lstrip("~"), "recovered_from": "marker", "reason": "drawn"}
    tables.add("step_stored", step=number, ts_ps=ts_ps, dur_ps=dur_ps, averaged=kind[0] != "~", **facts)


def _named(shown: str) -> Row:
    shown, _, correlation = shown.partition("#")
    row: Row = {"name": shown, "correlation_id": int(correlation) if correlation else None}
    found = re.fullmatch(r"([^:]+):([^:]+)", shown)
    if found:
        row |= {"op_name": found[1], "op_type": found[2]}
    return row


def args(**values: Any) -> str:
    """The column args_json."""
    return json.dumps(values)
