"""Stores as Python, DuckDB and pyarrow see them, whole and damaged."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from stepscope import _core

TRACE = {
    "traceEvents": [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "host"}},
        *(
            {
                "ph": "X",
                "pid": 1,
                "tid": i % 3,
                "ts": 10 * i,
                "dur": 5 + i % 7,
                "name": f"op {i % 11}",
                "args": {"i": i},
            }
            for i in range(200)
        ),
        *({"ph": "C", "pid": 1, "ts": i, "name": "memory", "args": {"bytes": i}} for i in range(20)),
        {"ph": "s", "pid": 1, "tid": 0, "ts": 1, "id": 1, "name": "arrow", "cat": "flow"},
        {"ph": "f", "pid": 1, "tid": 1, "ts": 11, "id": 1, "name": "arrow", "cat": "flow", "bp": "e"},
    ]
}
BYTES = json.dumps(TRACE).encode()


def decode(folder: Path | None = None, data: bytes = BYTES, **how: Any) -> _core.Store:
    return _core.decode("chrome_trace", _core.Input.bytes(data), str(folder) if folder else None, **how)


def everything(store: _core.Store, mapped: bool = True) -> dict[str, list[dict[str, Any]]]:
    """All tables as Python rows, read through Arrow."""
    return {name: pa.table(store.stream(name, mapped)).to_pylist() for name in store.tables()}


def test_memory_folder_and_reopened_folder_hold_the_same(tmp_path: Path) -> None:
    expected = everything(decode())
    assert len(expected["slice"]) == 200
    assert len(expected["counter"]) == 20
    written = decode(tmp_path)
    for store in (written, _core.open(str(tmp_path))):
        assert everything(store) == expected
        assert everything(store, mapped=False) == expected
        assert {name: store.rows(name) for name in store.tables()} == expected
        assert store.facts == written.facts


@pytest.mark.parametrize("in_folder", [False, True])
@pytest.mark.parametrize("before_ps", [None, 10**9, 0])
def test_extents_are_those_of_the_rows(in_folder: bool, before_ps: int | None, tmp_path: Path) -> None:
    store = decode(tmp_path if in_folder else None)
    spans: dict[int, list[tuple[int, int]]] = {}
    for row in store.rows("slice"):
        end_ps = row["ts_ps"] + row["dur_ps"]
        if before_ps is None or end_ps < before_ps:
            spans.setdefault(row["track_id"], []).append((row["ts_ps"], end_ps))
    assert store.extents(*([] if before_ps is None else [before_ps])) == {
        track_id: (len(found), *min(found)[:1], max(found)[0], max(end for _, end in found))
        for track_id, found in spans.items()
    }
    assert bool(spans) == (before_ps != 0)


def test_a_stream_can_be_exported_again_and_again(tmp_path: Path) -> None:
    stream = decode(tmp_path).stream("slice")
    assert stream.rows == 200
    tables = [pa.table(stream) for _ in range(3)]
    tables[0].validate(full=True)
    assert tables[0].equals(tables[1])
    assert tables[1].equals(tables[2])
    assert tables[0].column_names == stream.columns


def test_a_stream_holds_the_columns_asked_for(tmp_path: Path) -> None:
    store = decode(tmp_path)
    stream = store.stream("slice", columns=["name", "dur_ps"])
    assert stream.columns == ["name", "dur_ps"]
    assert pa.table(stream).column_names == ["name", "dur_ps"]
    with pytest.raises(_core.CoreError, match="no column"):
        pa.table(store.stream("slice", columns=["nothing"]))


def test_duckdb_reads_a_store_without_pyarrow(tmp_path: Path) -> None:
    decode(tmp_path)
    code = (
        "import sys, duckdb\n"
        "sys.modules['pyarrow'] = None\n"
        "from stepscope import _core\n"
        "slices = _core.open(sys.argv[1]).stream('slice')\n"
        "print(duckdb.sql('SELECT name, count(*) FROM slices GROUP BY name ORDER BY name').fetchall()[0])\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "('op 0', 19)"


@pytest.mark.parametrize("mapped", [True, False])
def test_duckdb_sees_plain_types(tmp_path: Path, mapped: bool) -> None:
    slices = decode(tmp_path).stream("slice", mapped)
    types = {row[0]: row[1] for row in duckdb.sql("DESCRIBE SELECT * FROM slices").fetchall()}
    assert slices.rows == 200
    assert types["name"] == types["op_type"] == types["args_json"] == "VARCHAR"
    assert types["id"] == types["ts_ps"] == types["parent_id"] == types["step"] == "BIGINT"


@pytest.mark.repeats("only its size is new")
def test_more_names_than_a_batch_has_rows(tmp_path: Path) -> None:
    count = 130_000
    events = ",".join(
        f'{{"ph":"X","pid":{i % 2},"tid":1,"ts":{i},"dur":1,"name":"n{i}é"}}' for i in range(count)
    )
    store = decode(tmp_path, f"[{events}]".encode())
    for mapped in (True, False):
        table = pa.table(store.stream("slice", mapped, columns=["name", "ts_ps", "category"]))
        table.validate(full=True)
        names, starts = table["name"].to_pylist(), table["ts_ps"].to_pylist()
        assert table["category"].null_count == len(names) == count
        assert names == [f"n{ts_ps // 1_000_000}é" for ts_ps in starts]
        slices = store.stream("slice", mapped)
        assert duckdb.sql("SELECT count(DISTINCT name) FROM slices").fetchall() == [(count,)]
    assert slices.rows == count
    assert {row["name"] for row in store.rows("slice")} == set(names)


def test_names_that_were_met_a_thousand_names_apart() -> None:
    """Batches in which the codes of all names are multiples of a thousand apart are packed like any other."""
    met = [f"n{i}" for i in range(1001)]
    names = met + [("n0", "n1000")[i % 2] for i in range(130_000)]
    events = ",".join(
        f'{{"ph":"X","pid":1,"tid":1,"ts":{i},"dur":1,"name":"{name}"}}' for i, name in enumerate(names)
    )
    store = decode(data=f"[{events}]".encode())
    table = pa.table(store.stream("slice", columns=["name", "ts_ps"])).sort_by("ts_ps")
    assert table["name"].to_pylist() == names


def test_steps_are_half_open_and_can_be_given_again(tmp_path: Path) -> None:
    store = decode(tmp_path)
    store.assign_steps([0], [1], [0])
    store.assign_steps([0, 500_000_000], [500_000_000, 10**12], [7, 8])
    found = {(row["ts_ps"] >= 500_000_000, row["step"]) for row in _core.open(str(tmp_path)).rows("slice")}
    assert found == {(False, 7), (True, 8)}
    with pytest.raises(_core.CoreError, match="overlap"):
        store.assign_steps([0, 5], [6, 10], [1, 2])


def test_tables_written_from_python_come_back(tmp_path: Path) -> None:
    columns: dict[str, list[Any]] = {
        "step": [1, None, -(2**63)],
        "address": [2**64 - 1, 0, None],
        "name": ["a", "", None],
        "averaged": [True, False, None],
        "share": [0.5, 1, None],
        "nothing": [None, None, None],
    }
    for folder in (None, str(tmp_path)):
        store = _core.build(folder)
        store.replace("step", {"step": [0]})
        store.replace("step", columns)
        rows = [{"id": i, **{name: values[i] for name, values in columns.items()}} for i in range(3)]
        assert store.rows("step") == rows
        assert pa.table(store.stream("step")).to_pylist() == rows
    assert _core.open(str(tmp_path)).rows("step") == rows
    with pytest.raises(ValueError, match="differ in length"):
        store.replace("step", {"a": [1], "b": []})
    with pytest.raises(ValueError, match="in one column"):
        store.replace("step", {"a": [1, "text"]})
    with pytest.raises(_core.CoreError):
        store.replace("../step", {"a": [1]})


def test_facts_can_be_added_to(tmp_path: Path) -> None:
    store = decode(tmp_path)
    before = store.facts
    store.update_facts({"extra": {"ü": [1, None]}})
    assert store.facts == _core.open(str(tmp_path)).facts == {**before, "extra": {"ü": [1, None]}}


def test_packing_does_not_change_the_tables(tmp_path: Path) -> None:
    expected = everything(decode())
    half = len(BYTES) // 2
    members = gzip.compress(BYTES[:half]) + gzip.compress(BYTES[half:]) + bytes(512)
    path = tmp_path / "trace.json.gz"
    path.write_bytes(b"before" + members + b"after")
    inputs = [
        _core.Input.bytes(members, "gzip"),
        _core.Input.file(str(path), offset=6, length=len(members), codec="gzip"),
    ]
    for packed in inputs:
        store = _core.decode("chrome_trace", packed)
        assert everything(store) == expected
        assert store.facts["bytes_in"] == len(BYTES)
    path.write_bytes(members)
    assert store.facts["content_hash"] == _core.hash_file(str(path))
    with path.open("rb") as file, gzip.open(file) as unpacked:
        assert everything(_core.decode("chrome_trace", _core.Input.reader(unpacked))) == expected


def test_a_bomb_is_stopped() -> None:
    bomb = gzip.compress(b"[" + b" " * (100 << 20))
    with pytest.raises(_core.CoreError) as caught:
        _core.decode("chrome_trace", _core.Input.bytes(bomb, "gzip"))
    assert caught.value.kind == "limit"


def test_an_exception_of_the_progress_callback_stops_the_work() -> None:
    class Stop(Exception):
        pass

    def progress(read: int) -> None:
        raise Stop(read)

    big = b"[" + b",\n".join([b'{"ph":"X","pid":1,"tid":1,"ts":1,"dur":1,"name":"a"}'] * 500_000) + b"]"
    with pytest.raises(Stop):
        _core.decode("chrome_trace", _core.Input.bytes(big * 8), threads=1, progress=progress)


def damaged_read(folder: Path, expected: dict[str, Any]) -> bool:
    """Reads a damaged store; True when the damage was seen. Other data than before is a failure."""
    for mapped in (True, False):
        try:
            found = everything(_core.open(str(folder)), mapped)
        except (_core.CoreError, pa.ArrowException, OSError):
            return True
        assert found == expected
    return False


def test_every_cut_file_is_noticed(tmp_path: Path) -> None:
    expected = everything(decode(tmp_path))
    for path in sorted(tmp_path.iterdir()):
        whole = path.read_bytes()
        for size in {0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 8, len(whole) - 1}:
            if 0 <= size < len(whole):
                path.write_bytes(whole[:size])
                assert damaged_read(tmp_path, expected), f"{path.name} cut to {size} bytes"
        path.unlink()
        assert damaged_read(tmp_path, expected), f"{path.name} removed"
        path.write_bytes(whole)
    assert not damaged_read(tmp_path, expected)


@pytest.mark.repeats("bits are flipped in the files of a lake, too")
def test_flipped_bits_never_change_the_data(tmp_path: Path) -> None:
    expected = everything(decode(tmp_path))
    seen = 0
    for path in sorted(tmp_path.iterdir()):
        whole = path.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 60)):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ (1 << at % 8)]) + whole[at + 1 :])
            seen += damaged_read(tmp_path, expected)
        path.write_bytes(whole)
    assert seen > 100


def test_a_folder_without_a_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(_core.CoreError):
        _core.open(str(tmp_path))
    with pytest.raises(_core.CoreError):
        _core.open(str(tmp_path / "nothing"))
