"""What DuckDB's parser tells of a statement."""

import duckdb
import pytest

from stepscope.engines import Reads
from stepscope.engines.duckdb.parser import parse


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT count(*) FROM slice", Reads(frozenset({"slice"}), frozenset(), False)),
        ("SELECT s.name FROM Slice s", Reads(frozenset({"slice"}), frozenset({"name"}), False)),
        ("SELECT s.* FROM slice s", Reads(frozenset({"slice"}), frozenset(), True)),
        ("FROM slice", Reads(frozenset({"slice"}), frozenset(), True)),
        ("SELECT s FROM slice s", Reads(frozenset({"slice"}), frozenset({"s"}), True)),
        ("SELECT COLUMNS('a') FROM slice", Reads(frozenset({"slice"}), frozenset(), True)),
        ("SELECT a FROM x NATURAL JOIN y", Reads(frozenset({"x", "y"}), frozenset({"a"}), True)),
        (
            "WITH w AS (SELECT a FROM x) SELECT b FROM w JOIN y USING (k)",
            Reads(frozenset({"w", "x", "y"}), frozenset({"a", "b", "k"}), False),
        ),
        (
            "SELECT 1 FROM x WHERE EXISTS (SELECT 1 FROM y WHERE y.a = x.b)",
            Reads(frozenset({"x", "y"}), frozenset({"a", "b"}), False),
        ),
        ("SELECT args_json->>'$.k' FROM x", Reads(frozenset({"x"}), frozenset({"args_json"}), False)),
        (
            "SELECT e.key FROM x, json_each(x.a) AS e, range(3), unnest(x.b)",
            Reads(frozenset({"x"}), frozenset({"key", "a", "b", "e"}), False),
        ),
        ("SUMMARIZE slice", None),
        ("SELECT 1 FROM query_table('slice')", None),
        ("PIVOT slice ON name", None),
        ("SELEC", None),
    ],
)
def test_what_a_query_reads(sql: str, wanted: Reads | None) -> None:
    with duckdb.connect() as con:
        assert parse(con, sql).reads == wanted
