"""What engines of other dialects refuse, before anything is sent to them."""

from collections.abc import Iterator

import pyarrow as pa
import pytest

from stepscope.engines import PythonRows, Relation, Stream
from stepscope.errors import QueryError, UsageError
from tests.engines.second import DataFusion

COLUMNS = (("id", "BIGINT"), ("name", "VARCHAR"), ("dur_ps", "BIGINT"))


class Held(DataFusion):
    """DataFusion with rows in memory."""

    def register(self, relation: Relation, files: object, rows: pa.Table) -> None:
        self._context.register_record_batches(relation.name, [rows.to_batches()])


@pytest.fixture
def engine() -> Iterator[Held]:
    found = Held()
    found.attach(Relation("slice", COLUMNS, lambda: [PythonRows([(1, "a", 5), (2, None, 7)])]))
    found.define({"long": "SELECT s.id, s.name FROM slice AS s WHERE s.dur_ps > 5"})
    yield found
    found.close()


@pytest.mark.parametrize(
    ("sql", "seen"),
    [
        ('SELECT * FROM "other.project.table"', "no table"),
        ("SELECT * FROM other.slice", "no table"),
        ("SELECT * FROM 'x.parquet'", "no table"),
        ("SELECT * FROM read_csv('x')", "no table"),
        ("SELECT * FROM slce", "no table slce"),
        ("SELECT reflect('java.lang.System', 'exit', 1) AS x", "runs code"),
        ("SELECT round(2.5) AS x FROM slice", "halves"),
        ("SELECT id // 2 AS x FROM slice", "FLOOR a division"),
        ("SELECT CAST(dur_ps / 2 AS BIGINT) AS x FROM slice", "rounding differs"),
        ("SELECT CAST(2.5 AS INT) AS x", "rounding differs"),
        ("SELECT substr(name, 0, 2) AS x FROM slice", "starts differ"),
        ("SELECT greatest(1, NULL) AS x", "NULLs differ"),
        ("SELECT regexp_extract(name, 'a') AS x FROM slice", "no match differs"),
        ("SELECT unnest([1, 2]) AS x", "positions differ"),
        ("DROP TABLE slice", "not one SELECT"),
        ("SELECT 1; SELECT 2", "not one SELECT"),
        ("", "not one SELECT"),
        ("(", "Required keyword"),
        ("(" * 5000, ""),
        ("SELECT $1 AS a", "$1"),
    ],
)
def test_what_is_refused(engine: Held, sql: str, seen: str) -> None:
    with pytest.raises(QueryError) as refused:
        engine.query(sql, [] if "$" not in sql else {"other": 1}).rows()
    assert seen in str(refused.value)


def test_what_is_answered(engine: Held) -> None:
    assert engine.query("SELECT l.id FROM long AS l").rows() == [(2,)]
    assert engine.query("SELECT COUNT(*) AS n FROM slice WHERE dur_ps >= $1", [6]).rows() == [(1,)]
    assert engine.query("SELECT $1 AS a, ? AS b", [1, "x'y"]).rows() == [(1, "x'y")]
    assert engine.query("SELECT $n AS a", {"n": None}).rows() == [(None,)]
    assert engine.query("WITH mine AS (SELECT id FROM slice) SELECT COUNT(*) AS n FROM mine").rows() == [(2,)]
    found = engine.query("SELECT name, id FROM slice ORDER BY id")
    assert (found.columns, found.types) == (("name", "id"), ("VARCHAR", "BIGINT"))
    assert [list(batch) for batch in found.batches(1)] == [[("a", 1)], [(None, 2)]]


def test_recordings_are_no_lake(engine: Held) -> None:
    stream = Stream("x", lambda columns, mapped: pa.table({}), (), {})
    engine.attach(Relation("track", COLUMNS, lambda: [stream]))
    with pytest.raises(UsageError, match="reads lakes only"):
        engine.query("SELECT id FROM track")
