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
import json
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

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

    def assign_steps(self) -> None:
        """Fills slice.step as the core does: the step in whose half-open interval a slice starts."""
        for row in self.rows["slice"]:
            for step in self.rows["step_stored"]:
                begin, end = step["ts_ps"], step["ts_ps"] + step["dur_ps"]
                if step["source_id"] == row["source_id"] and begin <= row["ts_ps"] < end:
                    row["step"] = step["step"]

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The tables, and the base views of the library, in a DuckDB of their own."""
        # A second thread of DuckDB finds nothing to do in a few rows, and is woken all the same.
        connection = duckdb.connect(config={"threads": 1})
        connection.execute(f"ATTACH '{_empty()}' AS empty (READ_ONLY)")
        connection.execute("COPY FROM DATABASE empty TO memory (SCHEMA)")
        connection.execute("DETACH empty")
        self.fill(connection)
        return connection

    def shared(self) -> duckdb.DuckDBPyConnection:
        """The same in the one DuckDB of all who ask for it: it has these rows until the next asks."""
        connection = _shared()
        self.fill(connection)
        return connection

    def empty(self) -> frozenset[str]:
        """The tables that have no row."""
        return frozenset(name for name, rows in self.rows.items() if not rows and name not in TWINS)

    def insert(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        """Puts the rows of one table into the connection's."""
        rows = self.rows[table]
        _FILLED.setdefault(connection, set()).add(table)
        marks = ", ".join(["(" + ", ".join("?" * len(rows[0])) + ")"] * len(rows))
        values = [value for row in rows for value in row.values()]
        connection.execute(f"INSERT INTO {table} VALUES {marks}", values)

    def fill(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Puts these rows in the place of those that are in the connection's tables."""
        labels: dict[tuple[Any, ...], int] = {}
        for row in self.rows["slice"]:
            called = tuple(row[name] for name in _CALLED)
            row["rollup_id"] = labels.setdefault(called, len(labels))
        filled = _FILLED.setdefault(connection, set())
        while filled:
            connection.execute(f"DELETE FROM {filled.pop()}")
        for table in schema().tables:
            rows = self.rows[table.name]
            if rows and table.name not in TWINS:
                self.insert(connection, table.name)
        if not self.rows["slice"]:
            return
        filled.update(TWINS)
        # What slices are comes from the core, what they add up to from the twins. Once: as views, they would
        # be asked again by each view that reads them.
        rows = classed(connection.execute(CALLED).fetchall())
        marks = ", ".join(["(" + ", ".join("?" * 13) + ", 0, 0, 0, 0, 0)"] * len(rows))
        names = ", ".join([*_IDS, *_CALLED[2:], "class", "wait", "layer", "is_op", *_SUMS])
        values = [value for row in rows for value in (*row[:9], *row[13:])]
        connection.execute(f"INSERT INTO rollup_op ({names}) VALUES {marks}", values)
        for name in TWINS:
            connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM {name}_asked")
            if name == "rollup_op":
                connection.execute("DELETE FROM rollup_op WHERE slices = 0")


_FILLED: WeakKeyDictionary[duckdb.DuckDBPyConnection, set[str]] = WeakKeyDictionary()
"""Tables that have rows, by connection."""


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
        waiting |= {f"{name}_asked": twin for name, twin in TWINS.items()}
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
_SUMS = ("slices", "total_ps", "self_ps", "min_ps", "max_ps")
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
                facts = {"name": name, "process": device, "device_id": devices[device]}
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
