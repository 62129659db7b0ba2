"""Rows of a query in their four forms."""

import csv
import io
import json
import math
import sys
import unicodedata
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.presenters import rows

SAMPLE = """
SELECT 9007199254740993::BIGINT AS big, 170141183460469231731687303715884105727::HUGEINT AS huge,
  18446744073709551615::UBIGINT AS unsigned, 1.10::DECIMAL(18,2) AS money, 'nan'::DOUBLE AS nothing,
  '-inf'::DOUBLE AS below, 0.1::DOUBLE AS tenth, DATE '2026-11-20' AS day, TIME '10:11:12.5' AS clock,
  TIMESTAMP '2026-11-20 10:11:12' AS moment, INTERVAL 90 MINUTE AS span, '\\xAA\\x00'::BLOB AS bytes,
  {'a': 1, 'b': [1.5, NULL]} AS pair, MAP {'k': 2} AS map, NULL AS empty, TRUE AS yes,
  'a,"b"' || chr(10) || 'ü|' AS text, '' AS blank, uuid '6ccd780c-baba-1026-9564-5b8c656024db' AS id
"""


@pytest.fixture
def sample() -> tuple[list[str], list[tuple[Any, ...]]]:
    with duckdb.connect() as connection:
        answer = connection.execute(SAMPLE)
        return [column[0] for column in answer.description], answer.fetchall()


def text(write: Any, columns: Any, data: Any, **options: Any) -> str:
    out = io.StringIO(newline="")
    write(columns, data, out, **options)
    return out.getvalue()


def test_json_holds_every_type_of_the_engine(sample: tuple[list[str], list[tuple[Any, ...]]]) -> None:
    written = json.loads(text(rows.write_json, *sample), parse_float=Decimal)
    assert written["format"] == 1
    (row,) = written["rows"]
    assert row["big"] == 9007199254740993
    assert row["huge"] == 2**127 - 1
    assert row["unsigned"] == 2**64 - 1
    assert str(row["money"]) == "1.10"
    assert row["nothing"] is None
    assert row["below"] is None
    assert row["tenth"] == Decimal("0.1")
    assert row["day"] == "2026-11-20"
    assert row["clock"] == "10:11:12.500000"
    assert row["moment"] == "2026-11-20T10:11:12"
    assert row["span"] == "1:30:00"
    assert row["bytes"] == "aa00"
    assert row["pair"] == {"a": 1, "b": [Decimal("1.5"), None]}
    assert row["map"] == {"k": 2}
    assert row["empty"] is None
    assert row["yes"] is True
    assert row["text"] == 'a,"b"\nü|'
    assert row["id"] == "6ccd780c-baba-1026-9564-5b8c656024db"


def test_json_of_nothing_and_of_equal_names() -> None:
    assert json.loads(text(rows.write_json, ["a"], [])) == {"format": 1, "rows": []}
    assert json.loads(text(rows.write_json, ["a", "a", "a_1"], [(1, 2, 3)]))["rows"] == [
        {"a": 1, "a_1": 2, "a_1_1": 3}
    ]


def test_rows_are_written_as_they_arrive() -> None:
    out = io.StringIO()
    seen = []

    def arriving() -> Any:
        for number in range(3):
            seen.append(out.getvalue().count("\n"))
            yield (number,)

    rows.write_json(["n"], arriving(), out)
    assert seen == sorted(seen)
    assert seen[-1] > seen[0]


VALUES = st.none() | st.integers() | st.booleans() | st.floats() | st.text()


@given(st.lists(st.tuples(VALUES, VALUES), max_size=5))
def test_json_round_trip(data: list[tuple[Any, ...]]) -> None:
    read = json.loads(text(rows.write_json, ["a", "b"], data))["rows"]
    for row, (a, b) in zip(read, data, strict=True):
        for written, value in ((row["a"], a), (row["b"], b)):
            unsaid = isinstance(value, float) and not math.isfinite(value)
            assert written == (None if unsaid else value)


# Python 3.10 reads no CSV with a NUL in it.
CSV_TEXT = st.text() if sys.version_info >= (3, 11) else st.text(st.characters(exclude_characters="\0"))


@given(st.lists(st.tuples(CSV_TEXT, CSV_TEXT), max_size=5))
def test_csv_round_trip(data: list[tuple[str, str]]) -> None:
    written = text(rows.write_csv, ["a", "b"], data)
    assert written.endswith("\r\n")
    assert [tuple(row) for row in csv.reader(io.StringIO(written, newline=""), strict=True)] == [
        ("a", "b"),
        *data,
    ]


def test_csv_tells_null_from_empty() -> None:
    assert text(rows.write_csv, ["a", "b"], [(None, "")]) == 'a,b\r\n,""\r\n'
    assert text(rows.write_csv, ["a"], [(None,)]) == 'a\r\n""\r\n'


def test_csv_is_exact(sample: tuple[list[str], list[tuple[Any, ...]]]) -> None:
    head, row = csv.reader(io.StringIO(text(rows.write_csv, *sample), newline=""))
    found = dict(zip(head, row, strict=True))
    assert found["huge"] == str(2**127 - 1)
    assert found["money"] == "1.10"
    assert found["tenth"] == "0.1"
    assert found["yes"] == "true"


@pytest.mark.parametrize(
    "name", ["a|b", "<b>x</b>", "`x`", "*x*", "_x_", "[a](b)", "a\nb", "\x1b[31m", "a\\|b"]
)
def test_markdown_shows_names_as_they_are(name: str) -> None:
    lines = text(rows.write_markdown, ["name", "n"], [(name, 1)]).splitlines()
    assert len(lines) == 3
    unescaped = lines[2].replace("\\\\", "").replace("\\|", "").replace("\\`", "").replace("\\*", "")
    assert unescaped.count("|") == 3
    assert "<b" not in lines[2]
    assert "\x1b" not in lines[2]
    assert lines[1] == "| --- | ---: |"


def test_underscores_in_words_stay_readable() -> None:
    assert rows.markdown("dur_ps of _MklMatMul") == "dur_ps of \\_MklMatMul"


def test_a_table_is_not_cut_when_it_is_piped() -> None:
    written = text(rows.write_table, ["name", "n"], [("x" * 500, 10**30)])
    assert "x" * 500 in written
    assert str(10**30) in written


@given(
    st.lists(st.tuples(st.text(max_size=60), st.integers(), st.text(max_size=60)), max_size=8),
    st.integers(min_value=60, max_value=120),
)
def test_a_table_fits_the_terminal_and_shows_no_control_characters(data: list[Any], width: int) -> None:
    small = [(a, n % 1000, b) for a, n, b in data]
    written = text(rows.write_table, ["first", "n", "last"], small, width=width)
    lines = written.split("\n")
    assert len(lines) == len(small) + 3
    assert all(rows.cells(line) <= width for line in lines)
    assert not [c for c in written if unicodedata.category(c) == "Cc" and c != "\n"]


def test_numbers_are_never_cut() -> None:
    data = [("a" * 80, 123456789012345678901234567890)]
    out = io.StringIO()
    shown = rows.write_table(["name", "n"], data, out, width=50)
    assert "123456789012345678901234567890" in out.getvalue()
    assert shown == rows.ShownRows(1, 0)


def test_columns_without_room_are_counted() -> None:
    out = io.StringIO()
    shown = rows.write_table([f"column_{i}" for i in range(30)], [tuple(range(30))], out, width=80)
    assert shown.columns_left_out > 0
    assert max(map(len, out.getvalue().splitlines())) <= 80
    # They give way to the first column, which names the row.
    out = io.StringIO()
    rows.write_table(
        ["op", *"abcdef"], [("multiply_fusion.1", *["a text of some length"] * 6)], out, width=80
    )
    assert "multiply_fusion.1 " in out.getvalue()


def test_most_rows() -> None:
    data = iter([(i,) for i in range(10)])
    out = io.StringIO()
    assert rows.write_table(["n"], data, out, most=4).rows == 4
    assert next(data) == (4,)


def test_rows_beyond_those_measured_are_written() -> None:
    out = io.StringIO()
    assert rows.write_table(["n"], ((i,) for i in range(10_050)), out).rows == 10_050
    assert out.getvalue().splitlines()[-1].strip() == "10049"
