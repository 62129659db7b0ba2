"""Derived tables of a lake: stored at ingest, equal to what is made afresh, made again when outdated."""

import json
import os
import shutil
import time
from pathlib import Path

import duckdb
import pytest

import stepscope
from stepscope.instruments.memory import allocators
from stepscope.instruments.pipeline import diagnoses
from stepscope.lake import derived_tables, leftovers, reader
from stepscope.lake.schema import schema
from stepscope.session import lake_derivation
from stepscope.session.lake_tables import LakeTables
from stepscope.session.open_trace import OpenTrace
from stepscope.session.table_makers import VERSIONS
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.instruments.jobs import job
from tests.instruments.test_rank_recordings import kineto
from tests.tiers import ALL, some

PIPELINE = corpus.SAMPLES / "tf_data" / "map_py_function.xplane.pb"
RUN_METADATA, CAPTURE = corpus.SAMPLES / "run_metadata", corpus.SAMPLES / "capture"


def answered(trace: OpenTrace, table: str) -> list[tuple]:
    """All rows of a table."""
    names = ", ".join(schema().table(table).names)
    return trace.query(f"SELECT {names} FROM {table} ORDER BY id").rows()


def read(lake: Path) -> dict[str, list[tuple]]:
    with open_trace(lake=lake) as trace:
        return {table: answered(trace, table) for table in VERSIONS}


def afresh(lake: Path) -> dict[str, list[tuple]]:
    """What the tables of each run give when nothing is stored."""
    found: dict[str, list[tuple]] = {table: [] for table in VERSIONS}
    for manifests in derived_tables.group_by_run(reader.read_manifests(lake)).values():
        with OpenTrace(LakeTables(reader.Lake(lake, tuple(manifests)), None)) as trace:
            for table in VERSIONS:
                found[table] += answered(trace, table)
    return {table: sorted(rows) for table, rows in found.items()}


def nothing_is_made(*_: object) -> None:
    raise AssertionError("a derived table was made anew")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A lake of several runs; each derived table has rows of one of them."""
    lake = tmp_path_factory.mktemp("filled") / "lake"
    made = job(5, ranks=2, collectives=24)
    ranks = [kineto(made, source_id, tmp_path_factory.getbasetemp()) for source_id in made.ranks]
    half = _half_of_the_work(tmp_path_factory.mktemp("half"))
    runs = {"tf_data": [PIPELINE], "others": [CAPTURE / "python_loop", half], "ranks": ranks}
    if ALL:
        runs["others"] = [RUN_METADATA, CAPTURE, half]
        runs |= {name: [corpus.SAMPLES / name] for name in ("chrome", "checkpoint", "graph")}
    for run, paths in runs.items():
        stepscope.ingest(paths, lake, run=run)
    return lake


def _half_of_the_work(folder: Path) -> Path:
    """A recording that breaks a law: 40 launches, 20 kernels."""
    of_all = {"ph": "X", "pid": 1, "tid": 1, "dur": 4}
    events = [
        {
            **of_all,
            "name": "cudaLaunchKernel",
            "cat": "cuda_runtime",
            "ts": 10 * n,
            "args": {"correlation": n},
        }
        for n in range(40)
    ]
    events += [
        {**of_all, "name": "gemm", "cat": "kernel", "pid": 0, "tid": 7, "ts": 10 * n + 5, "args": args}
        for n in range(0, 40, 2)
        for args in ({"correlation": n, "device": 0, "stream": 7},)
    ]
    path = folder / "half.pt.trace.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def wanted(filled):
    """The rows of its derived tables."""
    return afresh(filled)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A lake of two runs."""
    lake = tmp_path_factory.mktemp("small") / "lake"
    for run, path in (("tf_data", PIPELINE), ("run_metadata", RUN_METADATA / "two_servers.pb")):
        stepscope.ingest([path], lake, run=run)
    return lake


@pytest.fixture(scope="module")
def kept(small):
    """The rows of its derived tables."""
    return read(small)


@pytest.fixture
def lake(small, tmp_path):
    return shutil.copytree(small, tmp_path / "lake")


def test_what_is_stored_is_what_is_made_afresh(filled, wanted, monkeypatch):
    assert all(wanted.values())
    monkeypatch.setattr(lake_derivation, "rows", nothing_is_made)
    assert read(filled) == wanted


def test_any_reader_of_parquet_finds_the_rows(filled, wanted):
    for table, rows in wanted.items():
        names = ", ".join(schema().table(table).names)
        files = f"read_parquet('{filled}/{table}/*/*/*.parquet', hive_partitioning = false)"
        assert duckdb.sql(f"SELECT {names} FROM {files} ORDER BY id").fetchall() == rows


@pytest.mark.repeats("three lakes")
def test_what_an_older_version_made_is_made_again(lake, monkeypatch):
    before = read(lake)
    (run,) = (
        one for one in derived_tables.read_all(lake) if one.paths("iterator") and one.run_id == "tf_data"
    )
    monkeypatch.setitem(VERSIONS, "iterator", VERSIONS["iterator"] + 1)
    asked = []
    make = lake_derivation.rows
    monkeypatch.setattr(
        lake_derivation, "rows", lambda lake, tables: asked.append(tables) or make(lake, tables)
    )
    assert read(lake) == before
    assert asked
    stepscope.ingest([PIPELINE], lake, run="tf_data")
    (again,) = (one for one in derived_tables.read_all(lake) if one.run_id == "tf_data")
    assert {one.table: one.version for one in again.made} == VERSIONS
    assert again.paths("iterator") != run.paths("iterator")
    # Readers that opened the lake before may still read the file; a later sweep removes it.
    assert (lake / run.paths("iterator")[0]).exists()
    for plan in (lake / "_stage").glob("old-*.json"):
        os.utime(plan, (0, time.time() - 2 * leftovers.OLD_SECONDS))
    leftovers.sweep(lake)
    assert not (lake / run.paths("iterator")[0]).exists()
    assert read(lake) == before


@pytest.mark.repeats("three lakes")
def test_a_run_that_grows_is_derived_as_one_made_at_once(tmp_path):
    parts = [PIPELINE, RUN_METADATA]
    for part in parts:
        stepscope.ingest([part], tmp_path / "grown", run="job")
    stepscope.ingest(parts, tmp_path / "once", run="job")
    grown = read(tmp_path / "grown")
    assert grown == read(tmp_path / "once") == afresh(tmp_path / "grown")


@pytest.mark.repeats("a derived table is damaged in lake/test_flipped_bits.py")
@pytest.mark.parametrize(
    "damage",
    some(
        ["gone", "no JSON", "deep", "another run", "a link", "a flipped bit"],
        ("a flipped bit",),
        "an announcement that is no announcement, in other ways",
    ),
)
def test_damage_costs_time_and_nothing_else(lake, kept, damage):
    announced = lake / "_derived" / "tf_data.json"
    (run,) = (one for one in derived_tables.read_all(lake) if one.run_id == "tf_data")
    if damage == "gone":
        announced.unlink()
    elif damage == "no JSON":
        announced.write_bytes(b"{")
    elif damage == "deep":
        announced.write_bytes(b"[" * 100_000)
    elif damage == "another run":
        told = json.loads(announced.read_bytes())
        told["files"][0]["path"] = told["files"][0]["path"].replace("run=tf_data", "run=other")
        announced.write_text(json.dumps(told))
    elif damage == "a link":
        announced.unlink()
        announced.symlink_to("/dev/zero")
    else:
        path = lake / run.files[0].path
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 1
        path.write_bytes(data)
    assert read(lake) == kept
    stepscope.ingest([PIPELINE], lake, run="tf_data")
    assert derived_tables.intact(lake, derived_tables.read(lake, "tf_data"))
    assert read(lake) == kept


def test_a_sweep_keeps_what_was_announced(lake, kept):
    """A writer that died after its announcement leaves a plan that names files in use."""
    (run,) = (one for one in derived_tables.read_all(lake) if one.run_id == "tf_data")
    name = "0" * 32
    (lake / "_stage" / name).mkdir()
    (lake / "_stage" / f"{name}.lock").touch()
    (lake / "_stage" / name / "plan.json").write_text(json.dumps({"files": [f.path for f in run.files]}))
    leftovers.sweep(lake)
    assert derived_tables.intact(lake, run)
    assert read(lake) == kept


@pytest.mark.repeats("only its size is new")
def test_a_large_run_has_its_tfprof_made_when_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(lake_derivation, "MOST_SLICES", 10)
    stepscope.ingest([PIPELINE], tmp_path / "lake")
    (run,) = derived_tables.read_all(tmp_path / "lake")
    assert run.paths("tfprof_node") is None
    assert run.paths("iterator")
    assert read(tmp_path / "lake") == afresh(tmp_path / "lake")


def test_the_cache_keeps_what_was_derived(tmp_path, monkeypatch):
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    tables = ("iterator", "iterator_call", "buffer")
    paths = [PIPELINE, RUN_METADATA]

    def ask() -> dict[str, list[tuple]]:
        with open_trace(*paths) as trace:
            return {table: answered(trace, table) for table in tables}

    before = ask()
    assert all(before.values())
    with monkeypatch.context() as patch:
        patch.setattr(diagnoses, "find", nothing_is_made)
        patch.setattr(allocators, "find", nothing_is_made)
        assert ask() == before
        patch.setitem(VERSIONS, "iterator_call", VERSIONS["iterator_call"] + 1)
        with pytest.raises(AssertionError):
            ask()
    kept = list((tmp_path / "cache" / "entries").glob("0-*/*.columns"))
    assert kept
    for path in kept:
        path.write_bytes(bytes(byte ^ 0x55 for byte in path.read_bytes()))
    assert ask() == before
