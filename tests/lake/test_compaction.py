"""Compaction: the same rows in fewer files, whatever comes after, and whenever it is killed."""

import contextlib
import json
import os
import pickle
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq
import pytest

import stepscope
from stepscope.cli import main
from stepscope.engines import Form
from stepscope.engines.duckdb.copying import COPY
from stepscope.errors import LakeError, UsageError
from stepscope.lake import leftovers, reader, snapshot, snapshot_writer, writer
from stepscope.lake.manifest import TIMELINE
from stepscope.lake.schema import SchemaTable
from stepscope.session import compacting
from stepscope.session.trace import Only, compact, verify
from tests.lake import dying
from tests.lake.compacted import HOSTS, decode_anew, fleet
from tests.lake.recordings import chrome
from tests.lake.test_lake import everything
from tests.tiers import ALL, cases, some

GENERATE = Path(__file__).parents[2] / "benchmarks" / "generate_xspace.py"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A lake of a run of four hosts, and one of a single host."""
    return fleet(tmp_path)


def test_the_rows_are_the_same_in_one_sorted_file_a_table(lake: Path) -> None:
    before = everything(lake, made=ALL)
    (done,) = compact(lake)
    assert (done.run_id, done.sources) == ("fleet", HOSTS)
    assert everything(lake, made=ALL) == before
    there = reader.contents(lake)
    assert [one.path.split("/")[1:3] for one in there.files_of("slice")] == [
        ["run=fleet", "host=all"],
        ["run=alone", "host=h0"],
    ]
    assert len(list((lake / reader.MANIFESTS).iterdir())) == 1
    file = pq.ParquetFile(lake / there.files_of("slice")[0].path)
    rows = file.read(["host_id", "track_id", "ts_ps"]).to_pylist()
    assert rows == sorted(rows, key=lambda row: tuple(row.values()))
    assert file.num_row_groups == 1
    assert compact(lake) == []  # nothing is left to do
    assert verify(lake)[0] == len(there.files_of())


@pytest.mark.repeats("four lakes, each read as a whole")
def test_what_is_known_is_not_read_again_and_what_is_new_is_added(lake: Path, tmp_path: Path) -> None:
    compact(lake)
    known = reader.contents(lake)
    stepscope.ingest([tmp_path / "logs"], lake)
    assert reader.contents(lake) == known
    chrome(tmp_path / "logs" / "run=fleet" / "host=h9" / "t.json", "h9_", count=7)
    stepscope.ingest([tmp_path / "logs"], lake)
    every = everything(lake)
    assert len(every["slice"]) == sum(10 + host for host in range(HOSTS)) + 7 + 20
    (done,) = compact(lake)
    assert done.sources == HOSTS + 1
    assert everything(lake) == every
    fresh = tmp_path / "fresh"
    stepscope.ingest([tmp_path / "logs"], fresh)
    assert everything(fresh) == every


@pytest.mark.repeats("a lake made twice")
def test_a_source_decoded_anew_takes_the_place_of_its_rows(lake: Path, tmp_path: Path) -> None:
    compact(lake)
    before = everything(lake)
    source_id = decode_anew(lake, tmp_path / "logs")
    there = reader.contents(lake)
    assert there.own >= {source_id}
    (packed,) = [file for file in there.files_of("slice", runs=["fleet"]) if "host=all" in file.path]
    assert [(one.column, one.values, one.negated) for one in packed.where] == [
        ("source_id", (source_id,), True)
    ]
    assert everything(lake) == before
    compact(lake)
    assert not any(file.where for file in reader.contents(lake).files_of())
    assert everything(lake) == before


def test_a_lake_is_read_in_part(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def hosts(only: Only) -> list[tuple[Any, ...]]:
        with stepscope.open(lake=lake, runs=only.runs, hosts=only.hosts) as trace:
            assert {one.host_id for one in trace.sources} == set(only.hosts or {"h0", "h1", "h2", "h3"})
            sql = "SELECT host_id, count(*) FROM slice GROUP BY host_id ORDER BY host_id"
            parts = "SELECT DISTINCT host_id FROM tfprof_node ORDER BY host_id"
            # A tree is of a run, or of the part of it that is read, and lies with its first host.
            assert trace.query(parts).rows() == [min(trace.query(sql).rows())[:1]]
            return trace.query(sql).rows()

    apart = [hosts(Only(["fleet"])), hosts(Only(["fleet"], ["h1", "h3"])), hosts(Only(None, ["h0"]))]
    assert apart == [[("h0", 10), ("h1", 11), ("h2", 12), ("h3", 13)], [("h1", 11), ("h3", 13)], [("h0", 30)]]
    compact(lake)
    assert [hosts(Only(["fleet"])), hosts(Only(["fleet"], ["h1", "h3"])), hosts(Only(None, ["h0"]))] == apart
    assert main(["query", str(lake), "SELECT count(*) FROM slice", "--host", "h2", "--format", "csv"]) == 0
    assert capsys.readouterr().out.split() == ["count_star()", "12"]
    assert main(["query", str(lake), "SELECT 1", "--run", "other"]) == 2
    assert "The lake has no run other" in capsys.readouterr().err
    recording = str(lake.parent / "logs")
    assert main(["query", recording, "SELECT 1", "--run", "fleet"]) == 2
    assert "Only a lake can be read in part" in capsys.readouterr().err
    with pytest.raises(UsageError, match="not in the lake"):
        compact(lake, ["other"])


@pytest.mark.repeats("files cut between hosts")
def test_large_tables_are_cut_between_hosts(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(lake)
    monkeypatch.setattr(compacting, "FILE_BYTES", 1)
    compact(lake)
    there = reader.contents(lake)
    current = there.snapshot
    assert current is not None
    cut = [(one.first_host, one.last_host) for one in current.files if one.table == "slice"]
    assert cut == [(f"h{host}", f"h{host}") for host in range(HOSTS)]
    assert len(there.files_of("slice", ["fleet"], ["h2"])) == 1
    assert everything(lake) == before


@pytest.mark.repeats("rows are in order beside it")
@pytest.mark.parametrize("again", some((False, True), (True,), "compacted once and twice"))
def test_slices_of_several_sources_a_host_are_in_order(
    tmp_path: Path, again: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of their own are not sorted but put one after the other; those of a snapshot are."""
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    for host in (2, 0, 3, 1):
        for file in range(4):
            chrome(logs / "run=r" / f"host=h{host}" / f"{file}.json", f"h{host}_{file}_", count=50 + file)
    stepscope.ingest([logs], lake)
    if again:
        compact(lake)
        chrome(logs / "run=r" / "host=h1" / "4.json", "late", count=9)
        stepscope.ingest([logs], lake)
    asked: list[str] = []
    whole = compacting._sorted
    monkeypatch.setattr(compacting, "_sorted", lambda table: asked.append(table.name) or whole(table))
    compact(lake)
    assert ("slice" in asked) == again
    (file,) = reader.contents(lake).files_of("slice")
    rows = pq.read_table(lake / file.path, columns=["host_id", "track_id", "ts_ps", "id"]).to_pylist()
    assert len(rows) == 4 * (50 + 51 + 52 + 53) + 9 * again
    assert rows == sorted(rows, key=lambda row: tuple(row.values()))


@pytest.mark.repeats("a failure in each file in turn")
def test_what_goes_wrong_in_one_file_ends_the_others(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(lake)
    monkeypatch.setattr(compacting, "_writers", lambda: 3)
    monkeypatch.setattr(compacting, "FILE_BYTES", 1)
    whole = compacting._form

    def form(table: SchemaTable) -> Form:
        if table.name == "slice":
            raise OSError("the disk is full")
        return whole(table)

    monkeypatch.setattr(compacting, "_form", form)
    with pytest.raises(LakeError, match="cannot be written"):
        compact(lake)
    assert everything(lake) == before
    monkeypatch.setattr(compacting, "_form", whole)
    compact(lake)
    assert everything(lake) == before


def _copied(lake: Path, name: str) -> Path:
    return Path(shutil.copytree(lake, lake.parent / name))


def _slices(lake: Path) -> list[tuple[str, int, str]]:
    """Host, time and name of the slices that count, as any reader of Parquet finds them."""
    found = []
    for file in reader.contents(lake).files_of("slice"):
        columns = ["host_id", "ts_ps", "name", "source_id"]
        for row in pq.read_table(lake / file.path, columns=columns).to_pylist():
            if all((row[one.column] in one.values) != one.negated for one in file.where):
                found.append((row["host_id"], row["ts_ps"], row["name"]))
    return sorted(found)


def test_killed_at_every_step(lake: Path, tmp_path: Path) -> None:
    """The process dies before each change of the disk in turn: the rows are there, once, and stay so."""
    before = _slices(lake)
    there = reader.contents(lake).only_runs(["fleet"])
    packed = tmp_path / "packed"
    packed.mkdir()
    made = list(compacting.pack(there, "fleet", packed))
    step, finished = 0, False
    with _dying(made, tmp_path) as dies:
        while not finished:
            step += cases(5, 1)
            own = _copied(lake, f"lake{step}")
            finished = dies(own, step)
            assert _slices(own) == before, step
            if step % cases(15, 5) and not finished:
                continue
            compact(own)
            assert _slices(own) == before, step
            _age(own)
            writer.create(own)
            listed = {file.path for file in reader.contents(own).files_of("slice")}
            listed |= {file.path for file in reader.contents(own).files_of(TIMELINE)}
            found = {
                str(path.relative_to(own))
                for folder in ("slice", TIMELINE)
                for path in own.glob(f"{folder}/run=*/host=*/*.*")
            }
            assert found == listed, step
            assert len(list((own / snapshot.FOLDER).iterdir())) == 3, step
            assert _slices(own) == before, step
    assert step > 20


def _age(lake: Path) -> None:
    """As if everything had been written two hours ago."""
    past = time.time() - 7200
    for path in (*(lake / leftovers.STAGE).iterdir(), *(lake / snapshot.FOLDER).iterdir()):
        os.utime(path, (past, past))


@contextlib.contextmanager
def _dying(made: dying.Made, folder: Path) -> Iterator[Callable[[Path, int], bool]]:
    """What announces packed files in a process that dies before its n-th change; True when it has fewer."""
    (folder / "made.pickle").write_bytes(pickle.dumps(made))
    asked = [sys.executable, "-m", "tests.lake.dying", str(folder / "made.pickle")]
    root, piped = Path(__file__).parents[2], subprocess.PIPE
    with subprocess.Popen(asked, cwd=root, stdin=piped, stdout=piped, text=True) as process:
        asking, answers = process.stdin, process.stdout
        assert asking is not None
        assert answers is not None

        def dies(lake: Path, step: int) -> bool:
            print(step, lake, file=asking, flush=True)
            status = answers.readline().strip()
            assert status in ("0", str(dying.DIED)), step
            return status == "0"

        try:
            yield dies
        finally:
            asking.close()
    assert process.returncode == 0


def test_who_ingests_meanwhile_is_not_lost(lake: Path, tmp_path: Path) -> None:
    there = reader.contents(lake).only_runs(["fleet"])
    with writer.staged(lake) as stage:
        made = list(compacting.pack(there, "fleet", stage))
        gone = there.manifests[0]
        (lake / reader.MANIFESTS / f"{gone.source.source_id:019d}.json").unlink()
        assert not snapshot_writer.write(lake, stage, "fleet", there.manifests, made)
    assert snapshot.current(lake) is None
    stepscope.ingest([tmp_path / "logs"], lake)
    assert len(everything(lake)["source"]) == HOSTS + 1


def test_damage_is_told_and_mended(lake: Path, tmp_path: Path) -> None:
    before = everything(lake)
    compact(lake)
    (file,) = reader.contents(lake).files_of("slice", ["fleet"])
    data = bytearray((lake / file.path).read_bytes())
    data[len(data) // 2] ^= 1
    (lake / file.path).write_bytes(bytes(data))
    with pytest.raises(LakeError, match="damaged") as error:
        verify(lake)
    assert "ingest the recordings of run fleet again" in str(error.value.todo)
    (lake / file.path).unlink()
    stepscope.ingest([tmp_path / "logs"], lake)
    assert everything(lake) == before


@pytest.mark.parametrize(
    "what", some(("commit", "part", "another", "columns", "path", "gone"), ("path", "another"), "six ways")
)
def test_a_hostile_snapshot_is_an_error(lake: Path, what: str) -> None:
    compact(lake)
    current = snapshot.current(lake)
    path = lake / snapshot.FOLDER / snapshot.name_of(current.number)
    sources = lake / snapshot.FOLDER / current.commit.sources.name
    if what == "commit":
        path.write_text(json.dumps({"schema_version": 1}))
    elif what == "part":
        sources.write_bytes(sources.read_bytes()[:-1])
    elif what == "another":
        with writer.staged(lake) as stage:
            part = snapshot_writer.store_part(lake, stage, "sources", snapshot.SOURCE_COLUMNS, [])
        sources.write_bytes((lake / snapshot.FOLDER / part.name).read_bytes())
    elif what == "gone":
        sources.unlink()
    else:
        rows = (
            ([("x", "BIGINT")], [(1,)])
            if what == "columns"
            else (snapshot.FILE_COLUMNS, [("slice", "../../x", 1, 1, "00", "fleet", "h0", "h1")])
        )
        with writer.staged(lake) as stage:
            part = snapshot_writer.store_part(lake, stage, "files", *rows)
        path.write_bytes(current.commit._replace(files=part).to_json())
    snapshot._read.cache_clear()  # as another process finds it
    for ask in (lambda: stepscope.open(lake=lake), lambda: verify(lake)):
        with pytest.raises(LakeError, match="snapshot") as error:
            ask()
        assert error.value.todo


@pytest.mark.repeats("sizes of files")
def test_compacted_tables_are_packed_and_any_reader_knows_their_encodings(tmp_path: Path) -> None:
    logs, lake = tmp_path / "logs", tmp_path / "lake"
    for host in range(2):
        file = logs / f"host=h{host}" / "a.xplane.pb"
        file.parent.mkdir(parents=True)
        command = [sys.executable, GENERATE, file, "--events", "100000", "--seed", str(host)]
        subprocess.run(command, check=True, capture_output=True)
    stepscope.ingest([logs, "tests/samples/xla_dump"], lake, run="r")

    def sizes() -> dict[str, int]:
        found: dict[str, int] = {}
        for file in reader.contents(lake).files_of():
            found[file.table] = found.get(file.table, 0) + file.bytes
        return found

    before = sizes()
    compact(lake)
    after = sizes()
    # Files of sources hold differences of whole numbers, too: where they are large, little is gained.
    assert after["slice"] < 1.1 * before["slice"]
    assert sum(after.values()) < 1.05 * sum(before.values())
    (slices,) = (lake / file.path for file in reader.contents(lake).files_of() if file.table == "slice")
    plain = tmp_path / "plain.parquet"
    duckdb.sql(f"COPY (SELECT * FROM '{slices}') TO '{plain}' ({COPY['packed_plain']})")
    assert 1.4 * after["slice"] < plain.stat().st_size  # whole numbers as they are: 1.6 times as many
    assert after[TIMELINE] == before[TIMELINE]
    doubles = 0
    for one in reader.contents(lake).files_of():
        if one.table == TIMELINE:
            continue
        groups = pq.ParquetFile(lake / one.path).metadata.to_dict()["row_groups"]
        columns = [column for group in groups for column in group["columns"]]
        doubles += sum(column["physical_type"] == "DOUBLE" for column in columns)
        assert not any("BYTE_STREAM_SPLIT" in column["encodings"] for column in columns), one.path
    assert doubles > 10
