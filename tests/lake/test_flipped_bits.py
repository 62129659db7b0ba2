"""A lake too large to be compared with its hashes when it is opened: no flipped bit becomes an answer."""

import base64
import contextlib
import json
import os
import random
from pathlib import Path

import pytest

import stepscope
from stepscope.cli import main
from stepscope.errors import LakeError
from stepscope.lake import derived_tables, manifest, reader
from stepscope.lake.hash_checks import Checked
from stepscope.lake.manifest import TIMELINE
from stepscope.session.trace import open as open_trace
from tests.tiers import cases

FLIPS = cases(12, 300)


@pytest.fixture(scope="module")
def nothing_is_derived() -> None:
    """Files of derived tables are damaged, too."""


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four sources whose args hardly shrink: 70 MB of Parquet in a second."""
    folder = tmp_path_factory.mktemp("large")
    for run in range(4):
        text = base64.b64encode(os.urandom(6000 * 3072)).decode()
        events = [
            {"ph": "X", "name": f"op{i % 9}", "ts": i * 10, "dur": 2, "pid": 1, "tid": i % 3}
            | {"args": {"text": text[i * 4096 : (i + 1) * 4096]}}
            for i in range(6000)
        ]
        (folder / f"run{run}.json").write_text(json.dumps({"traceEvents": events}))
    stepscope.ingest(sorted(folder.glob("*.json")), folder / "lake")
    for path in folder.glob("*.json"):
        path.unlink()
    assert sum(path.stat().st_size for path in (folder / "lake").rglob("*.parquet")) > reader.CHECKED_BYTES
    return folder / "lake"


def flip(path: Path, at: int, bit: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)[0]
        file.seek(at)
        file.write(bytes([byte ^ 1 << bit]))


def read_like_a_query(lake: Path, table: str, cache: Path) -> None:
    opened = reader.open_lake(lake)
    assert not opened.is_small
    opened.verify(contents=True, table=table, checked=Checked(lake, cache))


def test_no_flipped_bit_is_overlooked(lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(20_261_122)
    files = sorted(lake / file.path for one in reader.read_manifests(lake) for file in one.files)
    large = [path for path in files if path.stat().st_size > 1 << 20]
    assert len(large) == 4
    for path in files:
        read_like_a_query(lake, path.parts[-4], tmp_path / "cache")
    for number in range(FLIPS):
        # As often in the large files as in the small ones, which hold what the large ones refer to.
        path = chance.choice(large if number % 2 else files)
        table = path.parts[-4]
        at, bit = chance.randrange(path.stat().st_size), chance.randrange(8)
        flip(path, at, bit)
        with pytest.raises(LakeError) as caught:
            read_like_a_query(lake, table, tmp_path / "cache")
        assert caught.value.path == str(path)
        if number % 20 == 0:
            with open_trace(lake) as trace, pytest.raises(LakeError, match=path.name):
                trace.lanes() if table == TIMELINE else trace.query(f"SELECT count(*) FROM {table}").rows()
        if number % 100 == 0 and table != TIMELINE:
            assert main(["query", str(lake), f"SELECT * FROM {table}"]) == 2
            told = capsys.readouterr()
            assert told.out == ""
            assert path.name in told.err
        flip(path, at, bit)
    with open_trace(lake) as trace:
        assert trace.query("SELECT count(*) FROM slice").rows() == [(24_000,)]


@pytest.mark.repeats("bits are flipped in every file beside it")
def test_a_flipped_bit_in_a_derived_table_has_it_made_again(lake: Path) -> None:
    chance = random.Random(20_261_122)
    sql = "SELECT * FROM tfprof_node ORDER BY id"
    with open_trace(lake) as trace:
        before = trace.query(sql).rows()
    files = [lake / file.path for one in derived_tables.read_all(lake) for file in one.files]
    assert before
    assert files
    for path in files:
        at, bit = chance.randrange(path.stat().st_size), chance.randrange(8)
        flip(path, at, bit)
        with open_trace(lake) as trace:
            assert sorted(map(told, trace.query(sql).rows())) == sorted(map(told, before))
        flip(path, at, bit)


def told(row: tuple[object, ...]) -> str:
    """A row without what numbers it: a lake numbers the rows of each run, an answer those of all."""
    return repr([cell for cell in row if not (isinstance(cell, int) and cell > 1 << 60)])


@pytest.mark.repeats("bits are flipped in every file beside it")
def test_no_flipped_bit_of_a_manifest_is_overlooked(lake: Path) -> None:
    path = sorted((lake / "_manifest").iterdir())[0]
    before, data = manifest.read(path), path.read_bytes()
    overlooked = []
    for at in range(len(data)):
        flip(path, at, at % 8)
        with contextlib.suppress(LakeError):
            if manifest.read(path) != before:
                overlooked.append(at)
        path.write_bytes(data)
    assert overlooked == []


def test_what_was_compared_is_remembered_until_it_changes(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []
    real = reader.content_hash

    def counting(path: Path) -> str:
        hashed.append(path.parts[-4])
        return real(path)

    monkeypatch.setattr(reader, "content_hash", counting)
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))

    def ask(cache: bool = True) -> list[str]:
        hashed.clear()
        with open_trace(lake, cache=cache) as trace:
            assert trace.query("SELECT count(*), sum(dur_ps) FROM slice").rows() == [(24_000, 48_000_000_000)]
        return hashed

    assert ask() == ["slice"] * 4
    assert ask() == []
    assert ask(cache=False) == ["slice"] * 4
    path = next((lake / "slice").rglob("*.parquet"))
    status = path.stat()
    flip(path, 5000, 3)
    flip(path, 5000, 3)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert ask() == ["slice"]


@pytest.mark.parametrize("harm", ["", "{", "[]", '{"lake": 1, "files": 7}', '{"files": {"a": NaN}}', "\xff"])
def test_a_damaged_memory_only_costs_time(lake: Path, tmp_path: Path, harm: str) -> None:
    read_like_a_query(lake, "slice", tmp_path / "cache")
    for path in (tmp_path / "cache" / "checked").iterdir():
        path.write_text(harm, encoding="latin-1")
    read_like_a_query(lake, "slice", tmp_path / "cache")
