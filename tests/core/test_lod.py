"""Frames of the timeline hold every slice of their window exactly once."""

import json
import struct
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.each import each
from tests.tiers import cases

from stepscope._core import CoreError, Lod

CODES = {"u32": "I", "f64": "d", "i64": "q"}
ROWS = (
    "SELECT i % 7 AS track, (i % 3)::INTEGER AS depth, i AS id, i * 11 AS ts_ps, i % 40 AS dur_ps,"
    " 'op ' || i % 5 AS name"
)


def lod_of(sql: str) -> tuple[duckdb.DuckDBPyConnection, Lod]:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE slice AS {sql}")
    return connection, Lod(connection.sql("FROM slice"))


def unpack(frame: bytes) -> tuple[dict[str, Any], dict[str, tuple[Any, ...]]]:
    """The header and the columns of a frame."""
    (length,) = struct.unpack_from("<I", frame)
    header = json.loads(frame[4 : 4 + length])
    place = -(-(4 + length) // 8) * 8
    columns = {}
    for column in header["columns"]:
        form = f"<{column['length']}{CODES[column['type']]}"
        columns[column["name"]] = struct.unpack_from(form, frame, place)
        place += -(-struct.calcsize(form) // 8) * 8
    assert place == len(frame)
    return header, columns


@settings(max_examples=cases(20, 60), deadline=None)
@given(begin=st.integers(-500, 60_000), span=st.integers(1, 60_000), px=st.integers(1, 2_000))
def test_counts_are_those_of_sql(begin: int, span: int, px: int) -> None:
    connection, lod = lod_of(f"{ROWS} FROM range(5000) AS r(i)")
    end = begin + span
    header, columns = unpack(lod.cells([2, 5], begin, end, px))
    inside = f"ts_ps < {end} AND (ts_ps >= {begin} OR ts_ps + dur_ps > {begin})"
    for index, track in enumerate((2, 5)):
        count, busy = connection.sql(
            f"SELECT count(*), coalesce(sum(dur_ps), 0) FROM slice WHERE track = {track} AND {inside}"
        ).fetchall()[0]
        cells = [i for i, of in enumerate(columns["track"]) if of == index]
        assert sum(columns["count"][i] for i in cells) == count
        assert sum(columns["busy"][i] for i in cells) == busy
    assert header["events"] == sum(columns["count"])
    assert header["from_ps"] == str(begin)


def test_names_and_tracks() -> None:
    _, lod = lod_of(f"{ROWS} FROM range(21) AS r(i)")
    assert lod.tracks == dict.fromkeys(range(7), (3, 3))
    assert sorted(lod.names) == [f"op {i}" for i in range(5)]
    _, columns = unpack(lod.cells([0], 0, 12, 1000))
    assert [lod.names[i] for i in columns["name"]] == ["op 0"]


def test_no_slices_are_an_empty_frame() -> None:
    _, lod = lod_of(f"{ROWS} FROM range(0) AS r(i)")
    header, columns = unpack(lod.cells([1], 0, 10, 10))
    assert header["events"] == 0
    assert set(columns) == {"track", "depth", "start", "width", "count", "name", "busy", "id"}


@each(
    "sql",
    [
        "SELECT 1 AS track",
        ROWS.replace("i % 40 AS dur_ps", "1.5 AS dur_ps") + " FROM range(3) AS r(i)",
        ROWS.replace("i AS id", "nullif(i, 0) AS id") + " FROM range(3) AS r(i)",
        ROWS.replace("'op ' || i % 5", "i") + " FROM range(3) AS r(i)",
    ],
)
def test_columns_that_do_not_fit(sql: str) -> None:
    with pytest.raises(CoreError, match="no column"):
        lod_of(sql)


@each(("begin", "end", "px"), [(5, 5, 10), (6, 5, 10), (0, 5, 0), (0, 5, 10**6)])
def test_windows_that_show_nothing(begin: int, end: int, px: int) -> None:
    _, lod = lod_of(f"{ROWS} FROM range(3) AS r(i)")
    with pytest.raises(ValueError, match="a window from"):
        lod.cells([0], begin, end, px)


def test_what_is_no_stream() -> None:
    with pytest.raises(AttributeError, match="__arrow_c_stream__"):
        Lod([1, 2, 3])


TYPED = (
    "SELECT *, CASE WHEN id % 4 > 0 THEN 'type ' || id % 2 END AS op_type FROM ({} FROM range(300) AS r(i))"
)
"""Slices of one name have several op types, or none."""


def test_sums_of_a_range_are_those_of_sql() -> None:
    connection, lod = lod_of(TYPED.format(ROWS.replace("(i % 3)::INTEGER", "0::INTEGER")))
    for first, until in ((0, 10_000), (500, 1_500), (713, 714)):
        sums = lod.sums([1, 4, 99], first, until)
        assert sums.go_on(60.0)
        assert sums.go_on(0.0)
        rows, names = sums.rows(1000)
        wanted = connection.sql(
            "SELECT name, op_type, count(*), sum(least(ts_ps + dur_ps, until) - greatest(ts_ps, first))"
            f" FROM (SELECT *, {first} AS first, {until} AS until FROM slice) WHERE track IN (1, 4)"
            " AND ts_ps < until AND (ts_ps >= first OR ts_ps + dur_ps > first) GROUP BY ALL"
        ).fetchall()
        assert {row[:4] for row in rows} == set(wanted)
        assert names == len(rows) == len(wanted)
        assert sums.slices == sum(row[2] for row in rows)
        assert sums.busy_ps <= sums.work_ps == sum(row[4] for row in rows)
        assert sums.rows(2) == (rows[:2], names)
    with pytest.raises(ValueError, match="a window from"):
        lod.sums([1], 5, 5)
    with pytest.raises(ValueError, match="a time that is none"):
        lod.sums([1], 0, 5).go_on(float("nan"))


def test_names_of_several_op_types_are_one_name_of_the_timeline() -> None:
    _, lod = lod_of(TYPED.format(ROWS))
    assert sorted(lod.names) == [f"op {i}" for i in range(5)]
    _, columns = unpack(lod.cells([3], 0, 4000, 4000))
    assert set(columns["name"]) <= set(range(5))


def test_sums_of_nothing() -> None:
    _, lod = lod_of(f"{ROWS} FROM range(0) AS r(i)")
    sums = lod.sums([1], 0, 10)
    assert sums.go_on(0.0)
    assert (sums.rows(5), sums.slices, sums.busy_ps, sums.work_ps) == (([], 0), 0, 0, 0)
