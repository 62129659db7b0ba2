"""Statements run side by side give what they give one after the other, and leave the engine as it was."""

import gc
import threading
from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa
import pytest

from stepscope.engines import PythonRows, Relation, Stream
from stepscope.engines.duckdb import DuckDB
from stepscope.engines.duckdb.statement_threads import Connection
from stepscope.errors import QueryError
from tests.pressing import pressed

COLUMNS = (("id", "BIGINT"), ("name", "VARCHAR"), ("dur_ps", "BIGINT"))
VIEWS = {
    "by_name": "SELECT name, sum(dur_ps) AS total FROM slice GROUP BY name",
    "most": "SELECT max(total) AS total FROM by_name",
    "least": "SELECT min(total) AS total FROM by_name",
}


class Arrow:
    """Rows with some of the columns."""

    def __init__(self, columns: Sequence[str] | None) -> None:
        table = pa.table({"id": [0, 1, 2], "name": ["a", "b", "a"], "dur_ps": [5, 7, 11]})
        self.table = table.select([one for one in table.column_names if columns is None or one in columns])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


@pytest.fixture
def engine() -> Iterator[DuckDB]:
    made = DuckDB()
    made.attach(Relation("slice", COLUMNS, slices))
    made.define(VIEWS)
    made.seal()
    yield made
    made.close()


def slices() -> list[Stream]:
    """A table that is attached with the columns that are asked for, and again when there are more of them."""
    return [Stream("store", lambda columns, mapped: Arrow(columns), tuple(name for name, _ in COLUMNS), {})]


QUESTIONS = [
    "SELECT total FROM most",
    "SELECT total FROM least",
    "SELECT count(*) FROM slice",
    *(f"SELECT sum(dur_ps) + {number} FROM slice WHERE name = 'a'" for number in range(20)),
]
ANSWERS = [[(16,)], [(7,)], [(3,)], *([(16 + number,)] for number in range(20))]


@pytest.mark.parametrize("keep", [(), ("by_name",), ("by_name", "most", "least")])
def test_answers_come_in_the_order_of_the_questions(engine: DuckDB, keep: tuple[str, ...]) -> None:
    assert engine.answers(QUESTIONS, keep) == ANSWERS
    assert engine.answers(list(reversed(QUESTIONS))) == list(reversed(ANSWERS))
    assert engine.query("SELECT total FROM most").rows() == [(16,)]


def test_a_table_may_be_attached_anew_meanwhile(engine: DuckDB) -> None:
    """What asks questions itself runs while the others are answered, and may want more columns."""

    def asks() -> list[PythonRows]:
        # A view that is being computed, and columns that no other question reads.
        assert engine.query("SELECT total FROM most").rows() == [(16,)]
        (count,) = engine.query("SELECT count(DISTINCT id) FROM slice").rows()[0]
        return [PythonRows([(count,)])]

    engine.attach(Relation("asked", (("a", "BIGINT"),), asks, asks=True))
    for _ in range(5):
        found = engine.answers(["SELECT a FROM asked", *QUESTIONS], ["by_name", "most"])
        assert found == [[(3,)], *ANSWERS]


def test_the_first_that_fails_is_told_and_the_engine_goes_on(engine: DuckDB) -> None:
    broken = "SELECT CAST(name AS BIGINT) FROM slice"
    with pytest.raises(QueryError, match="DuckDB refused"):
        engine.answers([*QUESTIONS, broken, "SELECT error('later')"], ["by_name"])
    engine.define({"bad": "SELECT CAST(name AS BIGINT) AS a FROM slice"})
    with pytest.raises(QueryError):
        engine.answers([*QUESTIONS, "SELECT a FROM bad"], ["bad"])
    assert engine.answers(QUESTIONS, ["by_name"]) == ANSWERS
    with pytest.raises(QueryError, match="Queries only read"):
        engine.answers(["DROP TABLE slice"])


def test_interrupt_stops_all_of_them(engine: DuckDB) -> None:
    long = [f"SELECT sum(a.range * b.range + {n}) FROM range(1000000) a, range(1000000) b" for n in range(4)]
    with pressed(engine.interrupt), pytest.raises(QueryError):
        engine.answers(long[:2])
    assert engine.answers(QUESTIONS) == ANSWERS


def test_what_stops_before_the_views_are_made_leaves_no_thread(engine: DuckDB) -> None:
    """The thread that asks fails while one that answers makes views and the other waits for them."""

    def fails() -> list[PythonRows]:
        raise ValueError("no")

    engine.attach(Relation("asked", (("a", "BIGINT"),), fails, asks=True))
    slow = "SELECT count(*) AS total FROM range(3000000) a, range(100000) b"
    engine.define({"slow": slow})
    before = threading.active_count()
    with pytest.raises(ValueError, match="no"):
        engine.answers([*QUESTIONS, "SELECT a FROM asked"], ["slow"])
    assert threading.active_count() == before
    assert engine.answers(QUESTIONS, ["by_name"]) == ANSWERS


def test_a_stream_that_is_added_while_others_are_registered_waits_for_the_next_time() -> None:
    """The collector of garbage may hand over to another thread at any allocation: here it adds a stream."""
    streams: dict[str, object] = {f"store_{number}": Arrow(None).table for number in range(50)}

    def add(phase: str, _: object) -> None:
        if phase == "start":
            streams[f"late_{len(streams)}"] = streams["store_0"]

    connection = Connection(duckdb.connect())
    spare = [(number, number) for number in range(5000)]  # no tuple is at hand: each is an allocation
    before = gc.get_threshold()
    gc.callbacks.append(add)
    gc.set_threshold(1)
    try:
        assert connection.rows("SELECT count(*) FROM store_49", streams) == [(3,)]
        assert spare
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(add)
    late = list(streams)[-1]
    assert late.startswith("late_")
    assert connection.rows(f"SELECT count(*) FROM {late}", streams) == [(3,)]
    connection.close()
