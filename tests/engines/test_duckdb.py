"""The engine: what it answers, and what it refuses and in which words. test_duckdb_stopping.py stops it."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import stepscope
from stepscope import config
from stepscope.engines import NeededRows, PythonRows, Reads, Relation, Statement, Stream, Work
from stepscope.engines.duckdb import DuckDB
from stepscope.errors import LimitReached, OutputError, QueryError, UsageError

NUMBERS = (("a", "BIGINT"),)
COLUMNS = (("id", "BIGINT"), ("name", "VARCHAR"), ("dur_ps", "BIGINT"), ("args_json", "VARCHAR"))


class Arrow:
    """An Arrow stream that counts how often it is read."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.reads = table, 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.reads += 1
        return self.table.__arrow_c_stream__(requested_schema)


def slices(wanted: list[list[str] | None]) -> Relation:
    """A table of three rows that remembers which columns it was asked for."""
    table = pa.table({"id": [0, 1, 2], "name": ["a", "b", "a"], "dur_ps": [5, 7, 11]})

    def open_(columns: Sequence[str] | None, mapped: bool) -> Arrow:
        wanted.append(None if columns is None else list(columns))
        return Arrow(table if columns is None else table.select(list(columns)))

    return Relation("slice", COLUMNS, lambda: [Stream("store", open_, ("id", "name", "dur_ps"), {})])


def table(name: str, columns: tuple[tuple[str, str], ...], rows: list[tuple]) -> Relation:
    """A table of Python values."""
    return Relation(name, columns, lambda: [PythonRows(rows)])


def test_tables_are_attached_when_read_with_the_columns_read(engine: DuckDB) -> None:
    wanted: list[list[str] | None] = []
    engine.attach(slices(wanted))
    others: list[int] = []
    engine.attach(Relation("other", COLUMNS, lambda: others.append(1) or []))
    engine.seal()
    assert engine.query("SELECT sum(dur_ps) FROM slice").rows() == [(23,)]
    assert engine.query("SELECT name, sum(dur_ps) s FROM slice GROUP BY name ORDER BY s").rows() == [
        ("b", 7),
        ("a", 16),
    ]
    assert engine.query("SELECT max(dur_ps) FROM slice").rows() == [(11,)]
    assert engine.query("SELECT * FROM slice LIMIT 1").rows() == [(0, "a", 5, None)]
    assert others == []
    assert engine.query("DESCRIBE slice").rows()[3][:2] == ("args_json", "VARCHAR")
    assert wanted == [["dur_ps"], ["name", "dur_ps"], None]


def test_a_statement_of_unknown_reads_makes_no_view_of_a_costly_table(engine: DuckDB) -> None:
    engine.attach(slices([]))
    engine.attach(Relation("made", (("a", "BIGINT"),), lambda: [PythonRows([(3,)])], costly=True))
    engine.define({"plain": "SELECT name FROM slice", "of_made": "SELECT a FROM made"})
    assert engine.query("SELECT name FROM duckdb_settings() WHERE name = 'threads'").rows() == [("threads",)]
    assert engine.query("SELECT count(*) FROM plain").rows() == [(3,)]
    assert engine.query("SELECT a FROM of_made").rows() == [(3,)]


def test_what_a_statement_declares_holds_for_that_statement_alone(engine: DuckDB) -> None:
    """Nothing is remembered of a text: the same text without a declaration is parsed."""
    engine.attach(slices([]))
    sql = "SELECT max(dur_ps) FROM slice"
    wrong = Statement(sql, Reads(frozenset({"slice"}), frozenset({"name"}), False))
    assert engine.query(wrong).rows() == [(None,)]
    assert engine.query(sql).rows() == [(11,)]
    other = DuckDB()
    other.attach(slices([]))
    assert other.query(sql).rows() == [(11,)]
    other.close()


def test_every_table_exists_and_has_its_types(engine: DuckDB) -> None:
    engine.attach(table("slice", COLUMNS, []))
    found = engine.query("SELECT * FROM slice")
    assert (found.columns, found.types) == (
        tuple(name for name, _ in COLUMNS),
        tuple(kind for _, kind in COLUMNS),
    )
    assert found.rows() == []


def test_small_tables_keep_every_value(engine: DuckDB) -> None:
    columns = (("a", "BIGINT"), ("b", "VARCHAR"), ("c", "BOOLEAN"), ("d", "INTEGER"))
    rows = [(2**62, "x", True, None), (-1, None, False, 7), (None, "'; --", None, None)]
    engine.attach(table("t", columns, rows))
    assert engine.query("SELECT * FROM t").rows() == rows


def test_views_are_made_when_named_and_may_build_on_one_another(engine: DuckDB) -> None:
    engine.attach(table("t", NUMBERS, [(1,), (2,)]))
    engine.define({"twice": "SELECT a * 2 AS a FROM t", "four": "SELECT a * 2 AS a FROM twice"})
    engine.define({"broken": "SELECT nothing FROM nowhere"})
    assert engine.query("SELECT sum(a) FROM four").rows() == [(12,)]
    engine.keep(["four"])
    assert engine.query("SELECT sum(a) FROM four").rows() == [(12,)]
    with pytest.raises(QueryError, match="nowhere"):
        engine.query("FROM broken")


def test_rows_come_in_batches_and_survive_another_query(engine: DuckDB) -> None:
    first = engine.query("SELECT range AS a FROM range(25)")
    batches = first.batches(10)
    assert [row[0] for row in next(batches)] == list(range(10))
    second = engine.query("SELECT 1")
    assert [len(batch) for batch in batches] == [10, 5]
    assert second.rows() == [(1,)]
    assert second.rows() == []


def test_parameters(engine: DuckDB) -> None:
    assert engine.query("SELECT $1 + 1", [41]).rows() == [(42,)]
    assert engine.query("SELECT $x || 'y'", {"x": "x"}).rows() == [("xy",)]


@pytest.mark.parametrize(
    ("sql", "seen", "todo"),
    [
        ("SELECT dur FROM slice", 'column "dur"', "did you mean dur_ps?"),
        ("SELECT s.durr_ps FROM slice s", "durr_ps", "dur_ps"),
        ("SELECT * FROM slices", "slices", "did you mean slice"),
        ("SELECT floo(1.5)", "floo", "floor"),
        ("SELEC 1", 'near "SELEC" (LINE 1: SELEC 1)', "mend"),
        ("DROP TABLE slice", "DROP", "SELECT"),
        ("INSERT INTO t VALUES (1)", "INSERT", "SELECT"),
        ("COPY slice TO 'x.csv'", "COPY", "stepscope export"),
        ("EXPLAIN ANALYZE DELETE FROM t", "DELETE", "SELECT"),
        ("ATTACH 'x.db'", "ATTACH", "SELECT"),
        ("SET memory_limit = '1GB'", "SET", "SELECT"),
        ("CALL pragma_version()", "CALL", "SELECT"),
        ("INSTALL httpfs", "LOAD", "SELECT"),
        ("UPDATE EXTENSIONS", "unknown", "SELECT"),
    ],
)
def test_refusals_say_what_to_do(engine: DuckDB, sql: str, seen: str, todo: str) -> None:
    engine.attach(table("slice", COLUMNS, []))
    engine.attach(table("t", NUMBERS, [(1,)]))
    engine.seal()
    with pytest.raises(QueryError) as caught:
        engine.query(sql)
    assert seen in caught.value.seen
    assert todo in caught.value.todo


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM '{file}'",
        "SELECT * FROM read_csv('{file}')",
        "SELECT * FROM read_text('{file}')",
        "SELECT * FROM glob('/*')",
        "SELECT * FROM read_parquet('http://127.0.0.1:1/x.parquet')",
        "SELECT * FROM query('COPY (SELECT 1) TO ''{file}''')",
        "SELECT getenv('HOME')",
        "SELECT * FROM secret",
    ],
)
def test_queries_reach_nothing_outside(engine: DuckDB, tmp_path: Path, sql: str) -> None:
    file = tmp_path / "data.csv"
    file.write_text("a\n1\n")
    secret = pa.table({"a": [1]})  # a variable that DuckDB would find by its name
    engine.seal()
    with pytest.raises(QueryError):
        engine.query(sql.format(file=file)).rows()
    assert secret.num_rows == 1
    assert file.read_text() == "a\n1\n"


@pytest.mark.parametrize("change", ["INSERT INTO t VALUES (2)", "UPDATE t SET a = 2", "DELETE FROM t"])
@pytest.mark.parametrize("query", ["{}", "SELECT * FROM ({})"])
def test_a_select_changes_no_rows(engine: DuckDB, change: str, query: str) -> None:
    """Few rows are copied into a table, which could be changed."""
    engine.little = True
    engine.attach(table("t", NUMBERS, [(1,)]))
    with pytest.raises(QueryError, match="Queries only read") as caught:
        engine.query(query.format(f"WITH c AS ({change} RETURNING a) SELECT * FROM c"))
    assert caught.value.seen == f"a statement of kind {change.split()[0]}"
    assert engine.query("SELECT a FROM t").rows() == [(1,)]


def test_only_the_files_named_may_be_read(engine: DuckDB, tmp_path: Path) -> None:
    for name in ("mine", "other"):
        engine.copy("SELECT 1 AS a", str(tmp_path / f"{name}.parquet"), "parquet")
    engine.seal([str(tmp_path / "mine.parquet")])
    assert engine.query(f"SELECT * FROM '{tmp_path}/mine.parquet'").rows() == [(1,)]
    with pytest.raises(QueryError, match="disabled"):
        engine.query(f"SELECT * FROM '{tmp_path}/other.parquet'")


def test_copy_tells_the_rows_and_what_went_wrong(engine: DuckDB, tmp_path: Path) -> None:
    out = tmp_path / "it's.csv"
    assert engine.copy("SELECT range AS a FROM range(3);", str(out), "csv") == 3
    assert out.read_text() == "a\n0\n1\n2\n"
    with pytest.raises(OutputError):
        engine.copy("SELECT 1", str(tmp_path / "no" / "folder.csv"), "csv")
    assert engine.query("SELECT current_setting('threads')").rows() == [(config.threads(),)]


def test_one_statement_at_a_time(engine: DuckDB) -> None:
    for sql in ("SELECT 1; SELECT 2", "", "-- nothing"):
        with pytest.raises(UsageError):
            engine.query(sql)
    assert engine.query("PIVOT (SELECT 1 AS a, 2 AS b) ON a USING sum(b)").rows() == [(2,)]
    assert engine.query("EXPLAIN SELECT 1").rows()


def test_a_query_that_may_spill_nowhere_reached_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder to spill to cannot be made, as in the confined processes of the page."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("STEPSCOPE_MEMORY_BYTES", "30M")
    monkeypatch.setenv("TMPDIR", str(folder))
    engine = DuckDB()
    engine.seal()
    folder.rmdir()
    folder.write_bytes(b"")
    with pytest.raises(LimitReached, match="more memory than it may use"):
        engine.query(Statement("SELECT DISTINCT md5(range::VARCHAR) AS a FROM range(10000000)")).rows()
    engine.close()


def test_memory_limit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_MEMORY_BYTES", "30M")
    engine = DuckDB()
    engine.seal()
    with pytest.raises(LimitReached, match="memory"):
        engine.query("SELECT list(range) FROM range(100_000_000)").rows()
    engine.close()


@pytest.mark.parametrize("asks", [DuckDB.query, lambda engine, sql: engine.answers([sql]), DuckDB.stream])
def test_views_that_failed_are_made_anew(engine: DuckDB, asks: Callable[[DuckDB, str], object]) -> None:
    """A console goes on after a statement that found no memory for the views it names."""
    views = {
        "outer_": "SELECT a FROM middle_",
        "middle_": "SELECT a FROM inner_",
        "inner_": "SELECT a FROM t",
    }
    engine.define(views)
    for _ in range(2):
        with pytest.raises(QueryError) as refused:
            asks(engine, "SELECT a FROM outer_")
        assert refused.value.seen.startswith("Table with name t does not exist")
        # A function of the engine may read any view, so that all are made.
        with pytest.raises(QueryError):
            asks(engine, "SELECT a FROM query_table('outer_')")
    engine.attach(table("t", NUMBERS, [(7,)]))
    assert engine.query("SELECT a FROM outer_").rows() == [(7,)]


def test_views_that_could_not_be_kept_are_kept_anew(engine: DuckDB) -> None:
    engine.define({"outer_": "SELECT a FROM inner_", "inner_": "SELECT a FROM t"})
    with pytest.raises(QueryError):
        engine.keep(["outer_"])
    engine.attach(table("t", NUMBERS, [(7,)]))
    engine.keep(["outer_"])
    assert engine.query("SELECT a FROM outer_").rows() == [(7,)]


def test_what_lacks_a_table_is_not_asked(engine: DuckDB) -> None:
    """Not even whether it could be; a table that may have rows, or a damaged one, is asked."""
    damaged = Stream("store", lambda *_: Arrow(pa.table({"a": [1]})), ("a",), {}, ValueError("cut"), rows=0)
    engine.attach(table("empty", NUMBERS, []))
    engine.attach(table("filled", NUMBERS, [(1,)]))
    engine.attach(Relation("cut", NUMBERS, lambda: [damaged]))
    heard: list[tuple[int, int]] = []

    def statement(sql: str, *needs: str) -> Statement:
        clauses = frozenset(frozenset([NeededRows(name)]) for name in needs)
        return Statement(sql, Reads(frozenset(needs), frozenset("a"), False), "", clauses)

    refused = statement("SELECT no_such_function(a) FROM empty", "empty", "filled")
    asked = [
        refused,
        statement("SELECT a FROM filled", "filled"),
        statement("SELECT count(*) FROM cut", "cut"),
    ]
    assert engine.answers(asked, (), lambda *said: heard.append(said)) == [[], [(1,)], [(1,)]]
    assert [done for _, done in heard] == [1, 2, 3]
    assert {number for number, _ in heard} == {0, 1, 2}
    with pytest.raises(QueryError):
        engine.answers([refused._replace(needs=frozenset([frozenset([NeededRows("filled")])]))])
    alone = engine.query(refused)
    assert (alone.rows(), list(alone.batches())) == ([], [])
    with pytest.raises(QueryError):
        assert alone.columns
    named = engine.query(refused._replace(sql="SELECT a AS x FROM empty"))
    assert (named.columns, named.types, named.rows()) == (("x",), ("BIGINT",), [])


def test_views_are_not_made_for_what_lacks_rows(engine: DuckDB) -> None:
    """DuckDB plans a view when it is made, and refuses this one then."""
    reads = Reads(frozenset(["broken", "v"]), frozenset("a"), False)
    engine.attach(table("t", NUMBERS, [(1,)]))
    engine.define(
        {
            "broken": Statement(
                "SELECT no_such_function(a) AS a FROM t", Reads(frozenset("t"), frozenset("a"), False)
            ),
            "v": Statement("SELECT a FROM t", Reads(frozenset("t"), frozenset("a"), False)),
        }
    )
    asked = Statement(
        "SELECT b.a FROM broken AS b, v", reads, "", frozenset([frozenset([NeededRows("v", "(a > 2)")])])
    )
    assert engine.answers([asked], ["v"]) == [[]]
    with pytest.raises(QueryError):
        engine.answers([asked._replace(needs=frozenset())], ["v"])


@pytest.mark.parametrize("little", [True, False])
def test_what_lacks_rows_of_a_kind_is_not_asked(little: bool) -> None:
    """They are looked for in views that are kept, and in short tables."""
    engine = DuckDB()
    engine.prepare(Work(False, lambda error: error, little))
    engine.attach(table("t", NUMBERS, [(1,), (None,)]))
    engine.define({"v": Statement("SELECT a FROM t", Reads(frozenset("t"), frozenset("a"), False))})
    engine.seal()

    def statement(*clauses: list[NeededRows], sql: str = "SELECT error('asked') AS a FROM v") -> Statement:
        reads = Reads(frozenset("v"), frozenset("a"), False)
        return Statement(sql, reads, "", frozenset(map(frozenset, clauses)))

    less, more, none = NeededRows("v", "(a < 2)"), NeededRows("v", "(a > 2)"), NeededRows("t", "(a > 2)")
    known = [statement([more]), statement([less], [more]), statement([more, NeededRows("v", "(a = 3)")])]
    assert engine.answers(known, ["v"]) == [[], [], []]
    assert engine.answers([statement([more, less], sql="SELECT a FROM v WHERE a < 2")], ["v"]) == [[(1,)]]
    assert engine.answers([statement([NeededRows("v", "error('no')")], sql="SELECT 1 FROM v")]) == [
        [(1,), (1,)]
    ]
    with pytest.raises(QueryError):
        engine.answers([statement([more, less])])
    assert engine.answers([statement([none])]) == [[]]
    engine.define({"v": "SELECT a + 2 AS a FROM t"})
    with pytest.raises(QueryError):
        engine.answers([statement([more])], ["v"])
    engine.close()


def test_damage_in_a_column_is_found_when_the_column_is_first_wanted(engine: DuckDB) -> None:
    class Columns:
        def __init__(self, names: Sequence[str]) -> None:
            self.names = names

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            schema = pa.schema([(name, pa.int64()) for name in self.names])
            return pa.RecordBatchReader.from_batches(schema, self.batches()).__arrow_c_stream__()

        def batches(self) -> Iterator[pa.RecordBatch]:
            if "b" in self.names:
                raise OSError("cut")
            yield pa.record_batch({name: pa.array([1]) for name in self.names})

    def open_(columns: Sequence[str] | None, mapped: bool) -> Columns:
        return Columns(list(columns or ("a", "b", "c")))

    cut = Stream("store", open_, ("a", "b", "c"), {}, ValueError("it is cut"), rows=1)
    engine.attach(Relation("t", (("a", "BIGINT"), ("b", "BIGINT"), ("c", "BIGINT")), lambda: [cut]))
    assert engine.query("SELECT a FROM t").rows() == [(1,)]
    assert engine.query("SELECT a + c FROM t").rows() == [(2,)]
    with pytest.raises(ValueError, match="it is cut"):
        engine.query("SELECT b FROM t")


def test_a_sum_of_more_terms_than_python_reads_as_json(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text('{"traceEvents":[{"ph":"X","name":"a","pid":1,"tid":1,"ts":1,"dur":2}]}')
    with stepscope.open(path, cache=False) as trace:
        sql = f"SELECT {'+'.join(['dur_ps'] * 600)} AS many FROM slice"
        assert [row.many for row in trace.query(sql)] == [600 * 2_000_000]
