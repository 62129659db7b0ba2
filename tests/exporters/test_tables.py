"""Tables handed on: read by DuckDB's guessing, pyarrow and Python's csv."""

import csv
import json
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

from stepscope import exporters, library
from stepscope.exporters.events import COLUMNS
from stepscope.lake.schema import schema
from stepscope.session import trace
from tests import corpus
from tests.draw import Tables
from tests.fakes import drawn_trace
from tests.tiers import ALL, some

UNIX_NS = 1_584_128_411_446_459_000


def one_of_each() -> Tables:
    tables = Tables()
    tables.add("source", path="timeline-5.json", format="chrome_trace")
    tables.add("capture", clock="unix", origin_unix_ns=UNIX_NS)
    tables.add("track", kind="lane", records="execution", process="/device:CPU:0 Compute", name="tid 0")
    op = {"track_id": 0, "name": "MatMul", "category": "Op", "op_name": "dense/MatMul", "op_type": "MatMul"}
    late = {"ts_ps": 250_000_000_000_001, "dur_ps": 1_500_000, "step": 5, "args_json": '{"x":[1,{"y":2}]}'}
    plain = [{"track_id": 0, "name": f"n{i}", "ts_ps": i, "dur_ps": 0} for i in range(600)]
    tables.slices(0, [*plain, {**op, **late}])
    tables.add("flow", flow_id=3, phase="start", track_id=0, name="edge", ts_ps=1)
    for value in (None, 1.5, float("inf")):
        tables.add("counter", track_id=0, name="mem", series="cpu", ts_ps=1, value=value)
    tables.add("instant", track_id=0, name="T", kind="object_new", object_id="0x1", ts_ps=1)
    return tables


def test_ndjson_is_flat_and_each_column_has_one_type(tmp_path: Path) -> None:
    exporters.write(drawn_trace(one_of_each()), tmp_path / "out.ndjson")
    lines = (tmp_path / "out.ndjson").read_text().splitlines()

    def forbidden(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    rows = [json.loads(line, parse_constant=forbidden) for line in lines]
    assert len(rows) == 601 + 1 + 3 + 1
    assert all(list(row) == list(COLUMNS) for row in rows)
    assert sorted(row["index"] for row in rows) == list(range(1, len(rows) + 1))
    types: dict[str, set[type]] = {}
    for row in rows:
        for name, value in row.items():
            if value is not None:
                types.setdefault(name, set()).add(type(value))
    assert all(len(found) == 1 for found in types.values()), types
    # A warehouse that looks at the first lines only sees a value in every column that has one.
    assert {name for row in rows[:4] for name, value in row.items() if value is not None} == set(types)


def test_the_query_of_the_article_runs_on_what_duckdb_guesses(tmp_path: Path) -> None:
    sample = corpus.SAMPLES / "profiler_hook"
    with trace.open(sample, cache=False) as opened:
        exporters.write(opened, tmp_path / "out.ndjson")
    found = duckdb.sql(
        "SELECT sum(dur) AS total_dur, avg(dur) AS avg_dur, min(dur) AS min_dur, max(dur) AS max_dur,"
        " arg_name"
        f" FROM read_json('{tmp_path}/out.ndjson') WHERE ph = 'X' GROUP BY arg_name ORDER BY 1 DESC, 5"
    ).fetchall()
    expected: dict[str, list[int]] = {}
    for path in sample.glob("*.json"):
        for event in json.loads(path.read_text())["traceEvents"]:
            if event["ph"] == "X":
                expected.setdefault(event["args"]["name"], []).append(event["dur"])
    rows = [(sum(d), sum(d) / len(d), min(d), max(d), name) for name, d in expected.items()]
    assert found == sorted(rows, key=lambda row: (-row[0], row[4]))
    types = dict(
        duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM '{tmp_path}/out.ndjson')").fetchall()
    )
    assert (types["ts"], types["dur"], types["ts_ps"], types["pid"]) == (
        "DOUBLE",
        "DOUBLE",
        "BIGINT",
        "BIGINT",
    )
    assert types["args_json"] in ("VARCHAR", "JSON")


def test_csv_has_exact_times(tmp_path: Path) -> None:
    exporters.write(drawn_trace(one_of_each()), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    (row,) = [row for row in rows if row["name"] == "MatMul"]
    assert row["ts"] == "1584128661446459.000001"
    assert row["dur"] == "1.500000"
    assert row["args_json"] == '{"x":[1,{"y":2}]}'


@pytest.mark.parametrize(
    "ending", some([".csv", ".ndjson", ".parquet"], (".csv",), "each ending is written whole beside it")
)
def test_any_table_can_be_named(tmp_path: Path, ending: str) -> None:
    written = exporters.write(drawn_trace(one_of_each()), tmp_path / f"out{ending}", table="counter")
    assert written.rows == {"counter": 3}
    found = duckdb.sql(f"FROM '{tmp_path}/out{ending}'")
    assert tuple(found.columns) == schema().table("counter").names


@pytest.mark.repeats("lakes are Parquet of everything")
def test_parquet_of_slices_and_of_everything(tmp_path: Path) -> None:
    exporters.write(drawn_trace(one_of_each()), tmp_path / "out.parquet")
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 601
    written = exporters.write(drawn_trace(one_of_each()), f"{tmp_path}/all/")
    for name, rows in written.rows.items():
        table = pq.read_table(tmp_path / "all" / f"{name}.parquet")
        assert table.num_rows == rows
        wanted = [field.name for field in library.entry(name).columns] if name == "step" else None
        assert tuple(table.column_names) == tuple(wanted or schema().table(name).names)


def test_a_database_needs_no_stepscope(tmp_path: Path) -> None:
    sample = corpus.SAMPLES / "tf_data" / "map_py_function.xplane.pb"
    with trace.open(sample, cache=False) as opened:
        exporters.write(opened, tmp_path / "out.duckdb")
        expected = {name: opened.query(f"SELECT count(*) FROM {name}").rows() for name in schema().names}
        ops = opened.query(library.sql("ops")).rows()
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as database:
        for table in schema().tables:
            assert database.sql(f"SELECT count(*) FROM {table.name}").fetchall() == expected[table.name]
            columns: list[Any] = database.execute(
                "SELECT column_name, data_type, comment FROM duckdb_columns() WHERE table_name = ?"
                " ORDER BY column_index",
                [table.name],
            ).fetchall()
            assert columns == [(c.name, c.type, c.about) for c in table.columns]
        for entry in library.entries():
            asked = database.sql(f"FROM {entry.name}")  # planned: all it reads is there
            if ALL:
                asked.fetchall()
        assert database.sql("FROM ops").fetchall() == ops
        comments = dict(database.sql("SELECT view_name, comment FROM duckdb_views()").fetchall())
    assert comments["ops"] == library.entry("ops").question
