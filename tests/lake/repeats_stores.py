"""Lakes in an object store: what disks promise holds there, with a store that fails and writers that die."""

import contextlib
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import stepscope
from stepscope.cli import main
from stepscope.errors import LakeError, UsageError
from stepscope.lake import derived_tables, snapshot, store_writer
from stepscope.lake.mirror import Mirror
from stepscope.session import lakes
from stepscope.session.trace import compact, verify
from stepscope.sources import stores
from stepscope.sources.stores import Store
from tests import object_store
from tests.lake.recordings import chrome
from tests.lake.test_lake import everything
from tests.lake.test_timelines import compared
from tests.object_store import Fault, Proxy, Request
from tests.sources.test_remote import facts, tree
from tests.tiers import cases

pytest.importorskip("obstore", reason="what reads object stores is not installed")
pytest.importorskip("moto", reason="the object store of the tests is not installed")
HOSTS = 3
STRIDE = cases(23, 11)
"""Requests between two that a writer is killed after: tests of every single one take minutes."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with object_store.server() as port:
        yield port


@pytest.fixture
def proxy(port: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Proxy]:
    """A proxy before a store with an empty bucket of the test's own, and an environment that leads there."""
    made = Proxy(port)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{made.port}")
    for name, value in (("REGION", "us-east-1"), ("ACCESS_KEY_ID", "a"), ("SECRET_ACCESS_KEY", "b")):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    object_store.make_bucket(port, bucket(tmp_path))
    _forget()
    yield made
    _forget()
    made.close()


def _forget() -> None:
    stores.store.cache_clear()
    lakes._mirror.cache_clear()


def bucket(tmp_path: Path) -> str:
    return "b" + "".join(one for one in tmp_path.name.lower() if one.isalnum())[-50:]


@pytest.fixture
def url(proxy: Proxy, tmp_path: Path) -> str:
    return f"s3://{bucket(tmp_path)}/some where/lake"


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for host in range(HOSTS):
        chrome(tmp_path / "logs" / "run=fleet" / f"host=h{host}" / "t.json", f"h{host}_", count=10 + host)
    return tmp_path / "logs"


def keys(url: str) -> list[str]:
    return [one.key for one in Store(url, LakeError).objects()]


def tables(url: str) -> set[str]:
    """What lies there of tables and timelines."""
    return {key for key in keys(url) if key.endswith((".parquet", ".lod")) and not key.startswith("_")}


def listed(url: str) -> set[str]:
    """The files that readers of a lake open."""
    mirror = lakes.store_mirror(url)
    assert mirror is not None
    found = {file.path for file in mirror.lake().files_of()}  # makes the mirror what the store is now
    return found | {file.path for one in derived_tables.read_all(mirror.folder) for file in one.files}


def test_the_same_rows_as_on_a_disk(url: str, logs: Path, tmp_path: Path, proxy: Proxy) -> None:
    here = stepscope.ingest([logs], tmp_path / "disk")
    there = stepscope.ingest([logs], url)
    assert there == here
    wanted = everything(tmp_path / "disk")
    assert everything(url) == wanted  # type: ignore[arg-type]
    assert tables(url) == listed(url)
    assert compared(url) == compared(url, cache=False) == 10 + 11 + 12
    assert not any(key.startswith("_stage") for key in keys(url))
    # What is known is neither read nor written again, and what was fetched is here.
    before = len(proxy.asked)
    assert stepscope.ingest([logs], url) == here
    assert everything(url) == wanted  # type: ignore[arg-type]
    assert not [one.path for one in proxy.asked[before:] if ".parquet" in one.path]
    # A lake that is copied from the store is one of a disk, and the other way round.
    for one in Store(url, LakeError).objects():
        target = tmp_path / "copy" / one.key
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(Store(url, LakeError).get(one.key))
    (tmp_path / "copy" / "_stage").mkdir()
    assert everything(tmp_path / "copy") == wanted
    other = Store(f"{url}2", LakeError)
    for path in (tmp_path / "disk").rglob("*"):
        if path.is_file() and path.suffix != ".lock":
            other.put(path.relative_to(tmp_path / "disk").as_posix(), path)
    assert everything(f"{url}2") == wanted  # type: ignore[arg-type]


def test_compaction(url: str, logs: Path, tmp_path: Path, proxy: Proxy) -> None:
    stepscope.ingest([logs], url)
    wanted = everything(url)  # type: ignore[arg-type]
    (done,) = compact(url)
    # A file of each table, and the timeline of each source.
    assert (done.sources, done.files) == (HOSTS, done.files_before // HOSTS - 1 + HOSTS)
    assert not any(key.startswith("_manifest") for key in keys(url))
    _forget()
    before = len(proxy.asked)
    assert everything(url, cache=False) == wanted  # type: ignore[arg-type]
    fetched = [one for one in proxy.asked[before:] if one.method == "GET" and "slice/run" in one.path]
    assert len(fetched) == 1
    assert verify(url)[0] == done.files
    assert compared(url) == 10 + 11 + 12
    chrome(logs / "run=fleet" / "host=h9" / "t.json", "h9_", count=5)
    stepscope.ingest([logs], url)
    stepscope.ingest([logs], tmp_path / "disk")
    assert everything(url) == everything(tmp_path / "disk")  # type: ignore[arg-type]
    compact(url)
    assert everything(url) == everything(tmp_path / "disk")  # type: ignore[arg-type]
    with stepscope.open(url, hosts=["h9"]) as trace:
        assert trace.query("SELECT count(*) AS n FROM slice").rows() == [(5,)]
    # A day later only what counts is left.
    store_writer.sweep(lakes.store_mirror(url), datetime.now(timezone.utc) + timedelta(days=2))  # type: ignore[arg-type]
    assert tables(url) == listed(url)
    assert len([key for key in keys(url) if key.startswith(snapshot.FOLDER)]) == 3
    assert everything(url, cache=False) == everything(tmp_path / "disk")  # type: ignore[arg-type]


def test_a_lake_that_another_writer_makes_meanwhile_is_a_lake(url: str, logs: Path, proxy: Proxy) -> None:
    """Between the question whether it is one and the list of what lies there."""
    made: list[str] = []

    def meanwhile(request: Request, _: int) -> None:
        if "list-type=2" in request.path and not made:
            made.append(request.path)
            stepscope.ingest([logs / "run=fleet" / "host=h0"], url)

    proxy.fault = meanwhile
    stepscope.ingest([logs / "run=fleet" / "host=h1"], url)
    assert made
    with stepscope.open(url) as trace:
        assert trace.query("SELECT host_id FROM source ORDER BY 1").rows() == [("h0",), ("h1",)]


def test_a_damaged_timeline_stops_no_compaction(
    url: str, logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepscope.ingest([logs], url)
    wanted = everything(url)  # type: ignore[arg-type]
    bad, gone, good = sorted(key for key in keys(url) if key.endswith(".lod"))
    (tmp_path / "other").write_bytes(b"damaged")
    Store(url, LakeError).put(bad, tmp_path / "other")
    Store(url, LakeError).delete([gone])
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "of another machine"))
    _forget()
    (done,) = compact(url)
    assert done.timelines_lost == 2
    assert everything(url) == wanted  # type: ignore[arg-type]
    assert {key for key in listed(url) if key.endswith(".lod")} == {good}
    assert compared(url, mapped=False) == 10 + 11 + 12


def test_several_writers_at_once(url: str, logs: Path, tmp_path: Path) -> None:
    """Three processes add overlapping parts at the same time, each with a mirror of its own."""
    parts = [["host=h0", "host=h1"], ["host=h1", "host=h2"], ["host=h2", "host=h0"]]
    code = "import sys, stepscope; stepscope.ingest(sys.argv[2:], sys.argv[1])"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", code, url, *(str(logs / "run=fleet" / host) for host in part)],
            env={**os.environ, "STEPSCOPE_CACHE_DIR": str(tmp_path / f"cache{number}")},
        )
        for number, part in enumerate(parts)
    ]
    assert [one.wait(240) for one in writers] == [0, 0, 0]
    stepscope.ingest([logs], tmp_path / "disk")
    assert everything(url) == everything(tmp_path / "disk")  # type: ignore[arg-type]
    assert len([key for key in keys(url) if key.startswith("_manifest")]) == HOSTS


def _dead_after(count: int, proxy: Proxy) -> Fault:
    """Nobody hears anything more after so many requests: what a killed process leaves."""
    first = len(proxy.asked)
    return lambda _, number: "cut" if number > first + count else None


@pytest.mark.parametrize("what", ["ingest", "compact"])
def test_killed_after_any_request(
    what: str, url: str, logs: Path, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(stores, "_RETRIES", 1)
    one = logs / "run=fleet" / "host=h0"
    stepscope.ingest([one], url)
    if what == "compact":
        stepscope.ingest([logs], url)
    stepscope.ingest([logs], tmp_path / "disk")
    wanted = everything(tmp_path / "disk")
    step, before = 0, Store(url, LakeError).objects()
    data = {one.key: Store(url, LakeError).get(one.key) for one in before}
    every = {f"h{host}": 10 + host for host in range(HOSTS)}
    finished = False
    while not finished:
        step += STRIDE
        own = f"{url}{step}"
        for key, held in data.items():
            Store(own, LakeError).put(key, held)
        work = partial(stepscope.ingest, [logs], own) if what == "ingest" else partial(compact, own)
        _forget()
        proxy.fault = _dead_after(step, proxy)
        with contextlib.suppress(LakeError):
            work()
            finished = True
        proxy.fault = lambda _, __: None
        _forget()
        found = _slices(own)
        assert found["h0"] == 10
        assert found.items() <= every.items(), step
        assert what == "ingest" or found == every, step
    # What comes next is the same whenever it was killed: twice will do.
    for own in (f"{url}{STRIDE}", f"{url}{step - STRIDE}"):
        _ = stepscope.ingest([logs], own) if what == "ingest" else compact(own)
        assert everything(own) == wanted  # type: ignore[arg-type]
        mirror = lakes.store_mirror(own)
        assert mirror is not None
        store_writer.sweep(mirror, datetime.now(timezone.utc) + timedelta(days=2))
        assert tables(own) == listed(own)
    assert step > STRIDE


def _slices(url: str) -> dict[str, int]:
    """Slices of each host that count, as any reader of Parquet finds them."""
    mirror = Mirror(url, None)
    try:
        lake = mirror.lake()
        found: Counter[str] = Counter()
        files = lake.files_of("slice")
        mirror.bring(files)
        for file in files:
            table = pq.read_table(lake.folder / file.path, columns=["host_id", "source_id"])
            for row in table.to_pylist():
                if all((row[one.column] in one.values) != one.negated for one in file.where):
                    found[row["host_id"]] += 1
        return dict(found)
    finally:
        mirror.close()


@pytest.mark.parametrize("after", [3, 9])
def test_a_process_is_killed(url: str, logs: Path, proxy: Proxy, tmp_path: Path, after: int) -> None:
    """SIGKILL in the middle of uploads: nothing of the source is in the lake, or all."""
    code = "import sys, stepscope; stepscope.ingest(sys.argv[2:], sys.argv[1])"
    writer: list[subprocess.Popen[bytes]] = []
    puts = 0

    def kill(request: Request, _: int) -> str | None:
        nonlocal puts
        puts += request.method == "PUT" and ".parquet" in request.path
        if puts == after:
            writer[0].kill()
            return "cut"
        return None

    proxy.fault = kill
    writer.append(subprocess.Popen([sys.executable, "-c", code, url, str(logs)]))
    assert writer[0].wait(240) == -9
    proxy.fault = lambda _, __: None
    rows = stepscope.ingest([logs], url)
    stepscope.ingest([logs], tmp_path / "disk")
    assert len(rows) == HOSTS
    assert everything(url) == everything(tmp_path / "disk")  # type: ignore[arg-type]


def test_a_store_that_fails_now_and_then(url: str, logs: Path, tmp_path: Path, proxy: Proxy) -> None:
    kinds = ("503", "lost", "half", "cut")
    proxy.fault = lambda request, number: kinds[number // 4 % 4] if number % 4 == 0 else None
    stepscope.ingest([logs], url)
    compact(url)
    _forget()
    found = everything(url, cache=False)  # type: ignore[arg-type]
    proxy.fault = lambda _, __: None
    stepscope.ingest([logs], tmp_path / "disk")
    assert found == everything(tmp_path / "disk")
    assert len([key for key in keys(url) if key.startswith("_snapshot/") and key.endswith(".json")]) == 1


def _fails(command: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(command) == 2
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert "to do:" in said.err
    return said.err


def test_what_cannot_work_is_said(
    url: str,
    logs: Path,
    proxy: Proxy,
    port: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ingest = ["ingest", str(logs), "--lake", url]
    monkeypatch.setattr(stores, "_RETRIES", 1)
    proxy.fault = lambda _, __: "403"
    for command in (ingest, ["summary", url], ["compact", url], ["verify", url], ["query", url, "SELECT 1"]):
        _forget()
        assert "The store refuses access." in _fails(command, capsys)
    proxy.fault = lambda _, __: "unconditional"
    _forget()
    assert "cannot write only if absent" in _fails(ingest, capsys)
    assert keys(url) == []
    proxy.fault = lambda _, __: "503"
    _forget()
    assert "does not answer" in _fails(ingest, capsys)
    proxy.fault = lambda _, __: None
    _forget()
    assert "The bucket does not exist." in _fails(
        ["ingest", str(logs), "--lake", "s3://no-such/lake"], capsys
    )
    assert "The bucket does not exist." in _fails(["s3://no-such/lake"], capsys)
    Store(url, LakeError).put("notes.txt", b"nothing")
    assert "is not a lake, and it is not empty" in _fails(ingest, capsys)
    assert keys(url) == ["notes.txt"]
    assert "no recording" in _fails(["summary", url], capsys).lower()
    assert "There is nothing at" in _fails(["summary", f"{url}/none"], capsys)
    assert "is not a lake" in _fails(["query", "--lake", f"{url}/none", "SELECT 1"], capsys)
    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.setitem(sys.modules, "obstore.exceptions", None)
    _forget()
    assert "stepscope[stores]" in _fails(ingest, capsys)
    with pytest.raises(UsageError, match="local folder, or lie in an object store"):
        stepscope.ingest([logs], "http://127.0.0.1/lake")


def test_damage_in_the_store_and_in_the_copy(url: str, logs: Path, tmp_path: Path) -> None:
    stepscope.ingest([logs], url)
    wanted = everything(url)  # type: ignore[arg-type]
    mirror = lakes.store_mirror(url)
    (file,) = mirror.lake().files_of("slice", hosts=["h1"])
    held = (mirror.folder / file.path).read_bytes()
    spoiled = bytes([*held[:100], held[100] ^ 1, *held[101:]])
    (mirror.folder / file.path).write_bytes(spoiled)
    assert everything(url) == wanted  # type: ignore[arg-type]  # the copy is fetched again
    Store(url, LakeError).put(file.path, spoiled)
    with pytest.raises(LakeError, match="missing or damaged"):
        everything(url, cache=False)  # type: ignore[arg-type]
    Store(url, LakeError).delete([file.path])
    with pytest.raises(LakeError, match="missing or damaged"):
        everything(url, cache=False)  # type: ignore[arg-type]
    Store(url, LakeError).delete([key for key in keys(url) if key.startswith("_manifest/")])
    stepscope.ingest([logs], url)
    assert everything(url, cache=False) == wanted  # type: ignore[arg-type]


def test_recordings_there_are_those_on_the_disk(proxy: Proxy, tmp_path: Path) -> None:
    root = tree(tmp_path / "store")
    (root / "large.bin").write_bytes(bytes(1 << 20))
    store = Store(f"s3://{bucket(tmp_path)}/x/store", LakeError)
    for path in sorted(root.rglob("*")):
        if path.is_file():
            store.put(path.relative_to(root).as_posix(), path)
    for part in ("", "run1", "fleet/run=base/host=h1", "tb", "more.zip", "run1/rank-1.json"):
        assert facts(f"{store.url}/{part}".rstrip("/")) == facts(root / part), part
    whole = stepscope.ingest([store.url], tmp_path / "lake")
    asked = [one for one in proxy.asked if "large.bin" in one.path and one.method == "GET"]
    assert {one.range for one in asked} == {"bytes=0-65535"}
    # Known ones are not fetched again, and what changed is.
    before = len(proxy.asked)
    assert stepscope.ingest([store.url], tmp_path / "lake") == whole
    again = {one.path.rpartition("/")[2] for one in proxy.asked[before:] if one.method == "GET"}
    assert not [name for name in again if "rank-" in name or "xplane" in name or "more.zip" in name]
    store.put("run1/rank-1.json", chrome(tmp_path / "new.json", "changed", count=7))
    changed = stepscope.ingest([store.url], tmp_path / "lake")
    assert len(changed) == len(whole)
    assert set(changed) - set(whole) == {one for one in changed if one.events_stored == 7}
    assert len(set(changed) - set(whole)) == 1
