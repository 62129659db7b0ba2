"""What a lake calls a recording depends on its place alone, and work items can be done by anybody."""

import itertools
import json
import pickle
import random
import subprocess
import sys
import zipfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import _core
from stepscope.cli import main
from stepscope.lake import reader
from stepscope.session.ingest import finish, ingest_one, plan
from tests.instruments.test_memory_code import message_of
from tests.lake.recordings import chrome
from tests.session.working import work
from tests.tiers import cases

pytestmark = pytest.mark.usefixtures("nothing_is_derived")  # these tests are about names
SAMPLES = Path(__file__).parents[1] / "samples"


def names(lake: Path) -> dict[str, tuple[str, str, int]]:
    """Run, host and number of each source, by path."""
    rows = [one.source for one in reader.read_manifests(lake)]
    return {row.path: (row.run_id, row.host_id, row.source_id) for row in rows}


def contents(lake: Path) -> dict[str, str]:
    """Every file that the lake lists, with its hash."""
    listed = [file for one in reader.open_lake(lake).manifests for file in one.files]
    assert all(_core.hash_file(str(lake / file.path)) == file.hash for file in listed)
    return {file.path: file.hash for file in listed}


def tables(lake: Path) -> dict[str, str]:
    """Every Parquet file, also those of derived tables, with its hash."""
    return {str(path.relative_to(lake)): _core.hash_file(str(path)) for path in lake.rglob("*.parquet")}


def recordings(folder: Path) -> list[Path]:
    """Two folders called `train`, one of another name, and one within it."""
    return [
        chrome(folder / "a" / "train" / "t.json", "a").parent,
        chrome(folder / "b" / "train" / "t.json", "b").parent,
        chrome(folder / "b" / "eval" / "t.json", "c").parent,
        chrome(folder / "b" / "eval" / "deep" / "rank-1.json", "d").parent,
    ]


def test_two_folders_of_one_name_are_two_runs_in_whatever_order(tmp_path: Path) -> None:
    folders = recordings(tmp_path / "in")[:2]
    found = []
    for number, order in enumerate((folders, folders[::-1])):
        stepscope.ingest(order, tmp_path / f"together{number}")
        for folder in order:
            stepscope.ingest([folder], tmp_path / f"apart{number}")
        found += [names(tmp_path / f"{how}{number}") for how in ("together", "apart")]
    assert all(one == found[0] for one in found)
    runs = [run for run, _, _ in found[0].values()]
    assert len(set(runs)) == 2
    assert all(run.startswith("train-") for run in runs)
    with stepscope.open(tmp_path / "apart1") as trace:
        assert trace.query("SELECT name, path FROM run ORDER BY path").rows() == [
            ("train", str(folder)) for folder in folders
        ]


@pytest.mark.repeats("batches and processes in any order")
@settings(
    max_examples=cases(2, 30), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_batches_and_order_change_nothing(tmp_path: Path, data: st.DataObject) -> None:
    """Files, folders and the folder above all, split into calls in any way."""
    root = tmp_path / "in"
    folders = recordings(root)
    lake = tmp_path / f"lake{len(list(tmp_path.iterdir()))}"
    units: list[Path] = []
    for folder in folders:
        files = sorted(folder.glob("*.json"))
        units += files if data.draw(st.booleans()) else [folder]
    units = data.draw(st.permutations([*units, *([root] if data.draw(st.booleans()) else [])]))
    while units:
        count = data.draw(st.integers(1, len(units)))
        stepscope.ingest(units[:count], lake)
        units = units[count:]
    stepscope.ingest([root], tmp_path / "whole")
    assert names(lake) == names(tmp_path / "whole")
    assert contents(lake) == contents(tmp_path / "whole")


def test_relative_paths_are_the_same_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chrome(tmp_path / "in" / "train" / "t.json")
    stepscope.ingest([tmp_path / "in"], tmp_path / "one")
    monkeypatch.chdir(tmp_path / "in" / "train")
    stepscope.ingest(["../train/t.json"], tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_what_the_user_says_is_the_name(tmp_path: Path) -> None:
    path = chrome(tmp_path / "train" / "t.json")
    (row,) = stepscope.ingest([path], tmp_path / "lake", run="base", host="h1")
    assert (row.run_id, row.host_id) == ("base", "h1")
    path.parent.rename(tmp_path / "moved")
    assert stepscope.ingest([tmp_path / "moved"], tmp_path / "lake", run="base", host="h1") == [row]
    odd = [stepscope.ingest([tmp_path / "moved"], tmp_path / "lake", run=name) for name in ("A b", "a-b")]
    runs = [row.run_id for (row,) in odd]
    assert runs[0].startswith("a-b-")
    assert runs[1] == "a-b"


def test_parts_of_a_path_say_run_and_host(tmp_path: Path) -> None:
    for run, host in itertools.product(("Base", "x%20y"), ("h0", "h1")):
        chrome(tmp_path / "fleet" / f"run={run}" / f"host={host}" / "day=7" / "t.json", run + host)
    for host in ("h0", "h1"):
        chrome(tmp_path / "other" / "job" / f"host={host}" / "t.json", f"other{host}")
    rows = stepscope.ingest([tmp_path], tmp_path / "lake")
    found = sorted((row.run_id.rpartition("-")[0] or row.run_id, row.host_id) for row in rows)
    hosts = ("h0", "h1")
    assert found == [*(("base", host) for host in hosts), *(("job", host) for host in hosts),
                     *(("x-y", host) for host in hosts)]  # fmt: skip
    with stepscope.open(tmp_path / "lake") as trace:
        assert trace.query("SELECT count(*) FROM run").rows() == [(3,)]
        assert trace.query("SELECT count(*) FROM run WHERE name = 'x y'").rows() == [(1,)]
    with stepscope.open(tmp_path / "other", cache=False) as trace:
        assert {(one.run_id, one.host_id) for one in trace.sources} == {("job", "h0"), ("job", "h1")}


def test_a_copy_is_not_added_unless_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = chrome(tmp_path / "a" / "t.json")
    two = tmp_path / "b" / "renamed.json"
    two.parent.mkdir()
    two.write_bytes(one.read_bytes())
    lake = tmp_path / "lake"
    (first,) = stepscope.ingest([one], lake)
    assert stepscope.ingest([two], lake) == []
    assert main(["ingest", str(two), "--lake", str(lake)]) == 0
    told = capsys.readouterr().err
    assert f"a copy of {one}" in told
    assert "known-copy" in told
    assert list(names(lake)) == [str(one)]
    # In one call, too, the first by path is kept; other hosts and other names are no copies.
    assert [row.path for row in stepscope.ingest([two, one], tmp_path / "both")] == [str(one)]
    (named,) = stepscope.ingest([two], lake, run="again")
    assert (named.run_id, named.content_hash) == ("again", first.content_hash)
    (other,) = stepscope.ingest([two], tmp_path / "both", host="h2")
    assert other.host_id == "h2"
    two.write_bytes(chrome(tmp_path / "c.json", "x").read_bytes())
    assert [row.path for row in stepscope.ingest([two], lake)] == [str(two)]


def test_a_copy_in_an_archive_is_found(tmp_path: Path) -> None:
    one = chrome(tmp_path / "b" / "t.json")
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w", method) as archive:
            archive.write(one, "in/t.json")
    (first,) = stepscope.ingest([tmp_path / "stored.zip"], tmp_path / "lake")
    assert stepscope.ingest([one], tmp_path / "lake") == []
    # Packed, they are other bytes.
    (packed,) = stepscope.ingest([tmp_path / "deflated.zip"], tmp_path / "lake")
    assert stepscope.ingest([tmp_path / "stored.zip"], tmp_path / "lake") == [first]
    assert packed.content_hash != first.content_hash
    assert len(stepscope.ingest([tmp_path / "stored.zip", one], tmp_path / "both")) == 1


def test_a_graph_is_of_every_run_that_has_it(tmp_path: Path) -> None:
    graph = next((SAMPLES / "graph").glob("*.pb*"))
    for run in "ab":
        chrome(tmp_path / "in" / run / "t.json", run)
        (tmp_path / "in" / run / graph.name).write_bytes(graph.read_bytes())
    whole = stepscope.ingest([tmp_path / "in"], tmp_path / "lake")
    assert len(whole) == 4
    alone = stepscope.ingest([tmp_path / "in" / "b" / graph.name], tmp_path / "alone")
    assert alone[0] in whole


def another_run(sample: bytes, number: int) -> bytes:
    """A RunMetadata whose runs begin some microseconds later: the start of `_SOURCE` tells runs apart."""
    changed = bytearray(sample)
    key = b"\x0a\x07_SOURCE\x10"
    at = changed.find(key)
    assert at >= 0
    while at >= 0:
        low = at + len(key)
        changed[low] = (changed[low] & 0x80) | ((changed[low] + number) & 0x7F)
        at = changed.find(key, low)
    return bytes(changed)


def with_op_log(folder: Path, count: int) -> Path:
    """Recordings of one run beside an op log."""
    sample = (SAMPLES / "run_metadata" / "two_servers.pb").read_bytes()
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"run_meta_{number}.pb").write_bytes(another_run(sample, number))
    log = message_of({f"op{at}": [("train.py", 10 + at, "main")] for at in range(5)})
    (folder / "tfprof_log").write_bytes(log.SerializeToString())
    return folder


def test_one_source_of_a_run_has_its_op_logs(tmp_path: Path) -> None:
    folder = with_op_log(tmp_path / "in", 4)
    lake = tmp_path / "lake"
    with plan([folder], lake) as todo:
        assert [len(item.op_logs) for item in todo.items] == [1, 0, 0, 0]
        for item in reversed(todo.items):
            ingest_one(item, lake)
    # Sources that come later find that the run has them.
    (folder / "run_meta_9.pb").write_bytes(another_run((folder / "run_meta_0.pb").read_bytes(), 9))
    with plan([folder], lake) as todo:
        assert [(item.source.name, item.op_logs) for item in todo.items] == [("run_meta_9.pb", ())]
        assert len(todo.known) == 4
        ingest_one(todo.items[0], lake)
    with stepscope.open(lake) as trace:
        assert trace.query("SELECT count(*), count(DISTINCT source_id) FROM op_line").rows() == [(5, 1)]


def test_a_newer_decoder_keeps_the_op_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = with_op_log(tmp_path / "in", 2)
    stepscope.ingest([folder], tmp_path / "lake")
    monkeypatch.setattr(_core, "DECODER_VERSION", _core.DECODER_VERSION + 1)
    stepscope.ingest([folder], tmp_path / "lake")
    with stepscope.open(tmp_path / "lake") as trace:
        assert trace.query("SELECT count(*), count(DISTINCT source_id) FROM op_line").rows() == [(5, 1)]


@pytest.mark.repeats("batches and processes in any order")
def test_items_can_be_done_by_other_processes_in_any_order(tmp_path: Path) -> None:
    folder = with_op_log(tmp_path / "in" / "tf", 3)
    recordings(tmp_path / "in")
    (tmp_path / "in" / "damaged.json").write_text('{"traceEvents": 5')
    rows = stepscope.ingest([tmp_path / "in"], tmp_path / "plain")
    lake = tmp_path / "lake"
    with plan([tmp_path / "in"], lake) as todo:
        pickled = [pickle.dumps(item) for item in todo.items]
        assert max(map(len, pickled)) < 2000
        order = list(range(len(pickled))) * 2  # twice each, as a cluster does when a worker is lost
        random.Random(7).shuffle(order)
        # Not forked: other tests of this process may have left threads of engines.
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            futures = {at: pool.submit(work, pickled[at], str(lake)) for at in order}
            done = [futures[at].result() for at in range(len(pickled))]
    assert done == rows
    finish(lake, done)
    assert contents(lake) == contents(tmp_path / "plain")
    assert tables(lake) == tables(tmp_path / "plain")
    assert folder.exists()


def test_a_worker_needs_neither_engine_nor_terminal(tmp_path: Path) -> None:
    chrome(tmp_path / "in" / "t.json")
    with plan([tmp_path / "in"], tmp_path / "lake") as todo:
        (tmp_path / "item").write_bytes(pickle.dumps(todo.items[0]))
    program = (
        "import json, pathlib, pickle, sys\n"
        "from stepscope.session.ingest import ingest_one\n"
        "item = pickle.loads(pathlib.Path(sys.argv[1], 'item').read_bytes())\n"
        "row = ingest_one(item, sys.argv[1] + '/lake')\n"
        "print(json.dumps([row.events_stored, *sorted({'duckdb', 'rich', 'pyarrow'} & set(sys.modules))]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, check=True, text=True
    )
    assert json.loads(done.stdout) == [20]


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("threads", [1, 3, 16])
def test_the_scheduler_decodes_each_once_and_answers_in_order(
    count: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stepscope.session import schedule
    from stepscope.sources.source import ByteLocation, Source

    monkeypatch.setenv("STEPSCOPE_THREADS", str(threads))
    sources = [Source(f"{at}", f"{at}", ByteLocation(""), 10 + at % 3, "x") for at in range(count)]
    heard: list[Any] = []
    meter = schedule.Meter(sources, lambda *said: heard.append(said))
    began: list[int] = []

    def decode(number: int, source: Source, each: int) -> tuple[int, str, int]:
        began.append(number)
        meter.report(number, source, source.size)
        return number, source.path, each

    each = 0 if count == 1 or count < threads else 1
    assert schedule.decode_all(sources, decode, meter) == [(at, str(at), each) for at in range(count)]
    assert sorted(began) == list(range(count))
    total = sum(source.size for source in sources)
    assert max(read for _, read, _ in heard) == total == heard[0][2]
    if threads == 1:
        assert [sources[at].size for at in began] == sorted((one.size for one in sources), reverse=True)


def test_the_scheduler_stops_all_when_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    from stepscope.session import schedule
    from stepscope.sources.source import ByteLocation, Source

    monkeypatch.setenv("STEPSCOPE_THREADS", "2")
    sources = [Source(f"{at}", f"{at}", ByteLocation(""), 1, "x") for at in range(50)]
    meter = schedule.Meter(sources, None)
    begun: list[int] = []

    def decode(number: int, source: Source, each: int) -> None:
        begun.append(number)
        if number == 0:
            raise OSError("full")
        while number == 1:
            meter.report(number, source, 0)

    with pytest.raises(OSError, match="full"):
        schedule.decode_all(sources, decode, meter)
    with pytest.raises(KeyboardInterrupt):
        meter.report(5, sources[5], 0)
