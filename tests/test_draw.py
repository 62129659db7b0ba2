"""Drawn tables have the same rows whatever was drawn before them."""

import duckdb
import pytest

from stepscope.lake.schema import schema
from tests.draw import SUMS, Tables, draw

DEVICE = "step train : [1.......][2.......]\ngpu/s device_stream : [a:MatMul][Memcpy] [b:MatMul]"
HOST = "step train : [1.......][2.......]\ncpu/t thread : [IteratorGetNext][a:MatMul]"


def with_parts(text: str) -> Tables:
    tables = draw(text)
    tables.fill_steps("input")
    return tables


def rows(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[object, ...]]]:
    return {name: connection.execute(f"FROM {name} ORDER BY ALL").fetchall() for name in schema().names}


def test_what_is_drawn_after_others_is_as_if_it_were_the_first() -> None:
    drawn = [
        draw(DEVICE),
        with_parts(HOST),
        draw(DEVICE),
        Tables(),
        with_parts(DEVICE),
        draw(HOST),
        draw(HOST),
    ]
    for tables, sums_before in zip(drawn, (True, False, False, True, False, True, True), strict=True):
        tables.shared(sums=sums_before)
        found = rows(tables.shared())
        assert found == rows(tables.connect())
        assert bool(found["rollup_op"]) == bool(found["slice"])


def test_rows_that_are_put_beside_a_drawing_are_gone_with_it() -> None:
    tables = draw(HOST)
    connection = tables.shared()
    more = with_parts(HOST)
    more.insert(connection, "step_part")
    assert rows(connection)["step_part"]
    assert rows(tables.shared())["step_part"] == []


def test_sums_that_were_not_asked_for_are_no_empty_tables() -> None:
    connection = draw(DEVICE).shared(sums=False)
    for name in SUMS:
        with pytest.raises(duckdb.CatalogException):
            connection.execute(f"FROM {name}")
    assert connection.execute("FROM rollup_op").fetchall()
