"""Parquet files of the core: what pyarrow and DuckDB read is what was in the store."""

import functools
import json
import math
import random
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tiers import cases

from stepscope import _core
from stepscope.engines import Files, Relation, Stream
from stepscope.engines.duckdb import DuckDB
from stepscope.lake.relation import stored_columns, values
from stepscope.lake.schema import schema

Columns = dict[str, list[Any]]
BITS = 1 << 63
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "BIGINT": st.integers(-BITS, BITS - 1) | st.integers(-3, 3),
    "INTEGER": st.integers(-(1 << 31), (1 << 31) - 1) | st.integers(-3, 3),
    "DOUBLE": st.floats() | st.sampled_from([0.0, -0.0, 1.5]),
    "BOOLEAN": st.booleans(),
    "VARCHAR": st.text(st.characters(exclude_categories=("Cs",)), max_size=90)
    | st.sampled_from(["", "a", "é"]),
}


def write(path: Path, columns: Columns, types: dict[str, str], **how: Any) -> list[tuple[int, int, str]]:
    store = _core.build()
    store.replace("t", columns)
    wanted = [(name, of, None, 0) for name, of in types.items()]
    return _core.write_parquet([(str(path), store, "t", wanted)], **how)


@functools.cache
def _reader() -> duckdb.DuckDBPyConnection:
    """Connected once: each time takes 20 ms of processor time, and no two files have one path."""
    return duckdb.connect()


def check(path: Path, columns: Columns, types: dict[str, str]) -> pq.ParquetFile:
    """Both readers find the rows, and the statistics of every row group are those of its rows."""
    file = pq.ParquetFile(path)
    for row in range(file.num_row_groups):
        file.read_row_group(row).validate(full=True)
    table = file.read()
    connection = _reader()
    found = connection.execute(f"SELECT * FROM read_parquet('{path}')")
    rows = found.fetchall()
    # PyArrow takes no bounds of numbers whose order it does not know, IEEE 754's.
    measured = connection.execute(
        "SELECT path_in_schema, row_group_id, stats_min_value, stats_max_value "
        f"FROM parquet_metadata('{path}') WHERE type = 'DOUBLE'"
    )
    bounds = {(name, group): (least, most) for name, group, least, most in measured.fetchall()}
    by_duckdb = {name: [row[at] for row in rows] for at, name in enumerate(types)}
    kinds = [row[1] for row in connection.execute(f"DESCRIBE FROM read_parquet('{path}')").fetchall()]
    assert kinds == list(types.values())
    for name in types:
        wanted = [repr(value) for value in columns[name]]
        assert [repr(value) for value in table[name].to_pylist()] == wanted, name
        assert [repr(value) for value in by_duckdb[name]] == wanted, name
    first = 0
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        for at, name in enumerate(types):
            told = group.column(at).statistics
            values = columns[name][first : first + group.num_rows]
            there = [value for value in values if value is not None]
            assert told.null_count == len(values) - len(there), name
            if types[name] == "DOUBLE":
                known = bounds[name, number]
                if not there or any(map(math.isnan, there)):
                    assert known == (None, None), name
                else:
                    # DuckDB never shows an infinite bound, in files of any writer.
                    finite = [None if math.isinf(bound) else bound for bound in (min(there), max(there))]
                    assert [bound and float(bound) for bound in known] == finite, name
            elif not there:
                assert not told.has_min_max, name
            elif types[name] == "VARCHAR":
                # Long ones are cut, the largest upwards.
                texts = sorted(value.encode() for value in there)
                least, most = told.min.encode(), told.max.encode()
                assert least == texts[0] or (len(texts[0]) > 64 and least == texts[0][: len(least)] != b"")
                assert most == texts[-1] or (len(texts[-1]) > 64 and most > texts[-1])
            else:
                assert (told.min, told.max) == (min(there), max(there)), name
        first += group.num_rows
    assert first == len(next(iter(columns.values())))
    return file


@st.composite
def tables(draw: st.DrawFn) -> tuple[Columns, dict[str, str]]:
    types = {f"c{i}": of for i, of in enumerate(draw(st.lists(st.sampled_from(list(VALUES)), min_size=1)))}
    rows = draw(st.sampled_from([1, 2, 7, 8, 9, 31, 33, 129, 300]))
    chance = random.Random(draw(st.integers(0, 1 << 32)))
    columns: Columns = {}
    for name, of in types.items():
        # Few drawn values and many rows: runs, repetitions and rising numbers all occur.
        drawn = draw(st.lists(VALUES[of], min_size=1, max_size=12))
        how = draw(st.sampled_from(["picked", "runs", "rising"]))
        if how == "picked":
            values = [chance.choice(drawn) for _ in range(rows)]
        elif how == "runs":
            values = sorted((chance.choice(drawn) for _ in range(rows)), key=repr)
        elif of in ("BIGINT", "INTEGER"):
            start = chance.randrange(1 << 30)
            values = [start + i * chance.randrange(1, 4) for i in range(rows)]
        else:
            values = [drawn[i % len(drawn)] for i in range(rows)]
        holes = draw(st.sampled_from([0.0, 0.0, 0.1, 0.9, 1.0]))
        columns[name] = [None if chance.random() < holes else value for value in values]
    return columns, types


@settings(deadline=None, max_examples=cases(40, 150), suppress_health_check=list(HealthCheck))
@given(tables(), st.integers(1, 4))
def test_drawn_tables(drawn: tuple[Columns, dict[str, str]], threads: int) -> None:
    columns, types = drawn
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        size, rows, digest = write(path, columns, types, threads=threads)[0]
        check(path, columns, types)
        assert (size, rows) == (path.stat().st_size, len(next(iter(columns.values()))))
        assert digest == _core.hash_file(str(path))


@pytest.mark.repeats("260,000 rows of each type")
def test_several_row_groups_and_every_encoding(tmp_path: Path) -> None:
    rows = 260_000
    chance = random.Random(7)
    columns: Columns = {
        "number": list(range(5, rows + 5)),
        "few": [chance.choice([7, 8, 1 << 60]) for _ in range(rows)],
        "wild": [chance.randrange(-BITS, BITS) for _ in range(rows)],
        "real": [chance.random() for _ in range(rows)],
        "truth": [i % 3 == 0 for i in range(rows)],
        "unlike": [f'{{"i": {i}, "s": "{chance.random()}"}}' for i in range(rows)],
        "alike": [chance.choice(["ab", "cd", None]) for _ in range(rows)],
        "late": [None if i < 200_000 else i for i in range(rows)],
    }
    types = dict(
        zip(columns, ["BIGINT"] * 3 + ["DOUBLE", "BOOLEAN", "VARCHAR", "VARCHAR", "BIGINT"], strict=True)
    )
    write(tmp_path / "t.parquet", columns, types, threads=1)
    file = check(tmp_path / "t.parquet", columns, types)
    assert file.num_row_groups == 3
    used = {
        name: set(file.metadata.row_group(0).column(at).encodings) - {"RLE"} for at, name in enumerate(types)
    }
    assert used == {
        "number": {"DELTA_BINARY_PACKED"},
        "few": {"DELTA_BINARY_PACKED"},
        "wild": {"DELTA_BINARY_PACKED"},
        "real": {"PLAIN", "RLE_DICTIONARY"},
        "truth": {"PLAIN"},
        "unlike": {"DELTA_LENGTH_BYTE_ARRAY", "RLE_DICTIONARY", "PLAIN"},
        "alike": {"RLE_DICTIONARY", "PLAIN"},
        "late": {"DELTA_BINARY_PACKED"},
    }
    for threads in (2, 3, 8)[-cases(1, 3) :]:
        again = tmp_path / f"{threads}.parquet"
        write(again, columns, types, threads=threads)
        assert again.read_bytes() == (tmp_path / "t.parquet").read_bytes()


def decoded(names: int, events: int, folder: Path | None) -> _core.Store:
    text = json.dumps(
        {
            "traceEvents": [
                {
                    "ph": "X",
                    "pid": 1,
                    "tid": i % 3,
                    "ts": 10 * i,
                    "dur": 5 + i % 7,
                    "name": f"op {i * 7919 % names}",
                    "args": {"i": i},
                }
                for i in range(events)
            ]
            + [{"ph": "C", "pid": 1, "ts": i, "name": "memory", "args": {"bytes": i}} for i in range(20)]
        }
    )
    source = _core.Input.bytes(text.encode())
    return _core.decode("chrome_trace", source, str(folder) if folder else None)


# Many names are read back from a folder only: a store in memory keeps them in the same columns.
MANY = (150_000, 200_000)
LARGE = pytest.mark.repeats("the same columns, in several batches; core/test_store.py reads such a store")


@pytest.mark.parametrize(
    ("names", "events", "kept"),
    [
        (11, 1_000, False),
        (11, 1_000, True),
        *(pytest.param(*MANY, kept, marks=LARGE) for kept in (True, False)),
    ],
)
def test_a_store_is_written_as_the_engine_would(tmp_path: Path, names: int, events: int, kept: bool) -> None:
    """Texts by code, with few and with more than a batch of them, from memory and from a folder."""
    store = decoded(names, events, tmp_path / "store" if kept else None)
    source_id = 114_230_142
    for name in ("slice", "track", "counter"):
        table = schema().table(name)
        path = tmp_path / f"{name}.parquet"
        columns = stored_columns(table, source_id, "a run", "a host")
        ((_, rows, _),) = _core.write_parquet([(str(path), store, name, columns)])
        assert rows == store.tables()[name]
        held = tuple(store.stream(name).columns)
        made = values(table, held, source_id, "a run", "a host")
        stream = Stream(
            "there", lambda wanted, mapped, name=name: store.stream(name, mapped, wanted), held, made
        )
        engine = DuckDB()
        try:
            engine.attach(Relation("there", table.types, lambda stream=stream: [stream]))
            engine.attach(Relation("written", table.types, lambda path=path: [Files((str(path),))]))
            wanted, found = (engine.query(f"SELECT * FROM {one}") for one in ("there", "written"))
            assert (found.columns, found.types) == (wanted.columns, wanted.types)
            made_rows = wanted.rows()
            assert found.rows() == made_rows
        finally:
            engine.close()
        written = pq.ParquetFile(path).read().to_pydict()
        assert list(zip(*written.values(), strict=True)) == made_rows


def test_every_table_of_the_schema_has_its_types(tmp_path: Path) -> None:
    names = {"BIGINT": 1 << 40, "INTEGER": -5, "DOUBLE": 0.5, "BOOLEAN": True, "VARCHAR": "é"}
    for table in schema().tables:
        types = {column.name: column.type for column in table.columns}
        columns = {name: [names[of], None, names[of]] for name, of in types.items()}
        write(tmp_path / f"{table.name}.parquet", columns, types)
        check(tmp_path / f"{table.name}.parquet", columns, types)


def test_what_the_engine_leaves_out_by_bounds_is_not_there(tmp_path: Path) -> None:
    values = [float(i) for i in range(300_000)]
    values[5] = math.nan
    texts = [f"{i:07d}" for i in range(300_000)]
    addresses = [i - 150_000 for i in range(300_000)]
    columns: Columns = {"v": values, "t": texts, "a": addresses}
    write(tmp_path / "t.parquet", columns, {"v": "DOUBLE", "t": "VARCHAR", "a": "BIGINT"})
    connection = duckdb.connect()
    try:

        def count(where: str) -> int:
            sql = f"SELECT count(*) FROM read_parquet('{tmp_path / 't.parquet'}') WHERE {where}"
            (row,) = connection.execute(sql).fetchall()
            return int(row[0])

        assert count("v > 299998") == 2  # NaN is above all numbers there
        assert count("v > 400000") == 1
        assert count("v < 10") == 9
        assert count("t >= '0299990'") == 10
        assert count("t = '0000005'") == 1
        assert count("a >= 0") == 150_000
        assert count("a < -149990") == 10
    finally:
        connection.close()


@pytest.mark.repeats("only its size is new")
def test_a_giant_text_has_a_page_of_its_own(tmp_path: Path) -> None:
    columns: Columns = {"t": ["a", "b" * 70_000_000, "", "c" * 3_000_000, None]}
    write(tmp_path / "t.parquet", columns, {"t": "VARCHAR"})
    assert pq.read_table(tmp_path / "t.parquet")["t"].to_pylist() == columns["t"]
    connection = duckdb.connect()
    try:
        lengths = connection.execute(f"SELECT length(t) FROM read_parquet('{tmp_path / 't.parquet'}')")
        assert [row[0] for row in lengths.fetchall()] == [1, 70_000_000, 0, 3_000_000, None]
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("of", "value", "add"),
    [
        ("INTEGER", 1 << 31, 0),
        ("INTEGER", -(1 << 31) - 1, 0),
        ("BIGINT", BITS - 1, 1),
        ("BIGINT", BITS, 0),
        ("BIGINT", "text", 0),
        ("VARCHAR", 5, 0),
        ("BOOLEAN", 1, 0),
    ],
)
def test_what_does_not_fit_is_an_error(tmp_path: Path, of: str, value: object, add: int) -> None:
    store = _core.build()
    store.replace("t", {"c": [None, value]})
    with pytest.raises(_core.CoreError) as error:
        _core.write_parquet([(str(tmp_path / "t.parquet"), store, "t", [("c", of, None, add)])])
    assert error.value.kind == "limit"


def test_a_file_that_is_there_or_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("mine", encoding="utf-8")
    for path in (tmp_path / "there", tmp_path / "no" / "folder"):
        with pytest.raises(_core.CoreError) as error:
            write(path, {"c": [1]}, {"c": "BIGINT"})
        assert error.value.kind == "io"
    assert (tmp_path / "there").read_text(encoding="utf-8") == "mine"


def test_a_damaged_store_is_not_written(tmp_path: Path) -> None:
    store = decoded(11, 1000, tmp_path / "store")
    text = b'{"i":500}'
    (path,) = (path for path in (tmp_path / "store").iterdir() if text in path.read_bytes())
    data = path.read_bytes().replace(text, b'{"i":501}')
    path.unlink()
    path.write_bytes(data)
    columns = stored_columns(schema().table("slice"), 1, "r", "h")
    with pytest.raises(_core.CoreError) as error:
        _core.write_parquet([(str(tmp_path / "s.parquet"), store, "slice", columns)])
    assert error.value.kind == "damaged"


def test_many_files_are_written_at_once(tmp_path: Path) -> None:
    store = decoded(11, 1000, None)
    columns = stored_columns(schema().table("slice"), 1, "r", "h")
    paths = [str(tmp_path / f"{i}.parquet") for i in range(30)]
    done = _core.write_parquet([(path, store, "slice", columns) for path in paths], threads=4)
    assert len(set(done)) == 1
    assert {_core.hash_file(path) for path in paths} == {done[0][2]}
