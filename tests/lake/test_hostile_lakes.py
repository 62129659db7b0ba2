"""A lake that somebody crafted: an ingest into it touches nothing but the lake's own files, and succeeds."""

import json
import os
import shutil
import sys
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import strict_json
from stepscope.errors import LakeError, StepscopeError, UsageError
from stepscope.lake import disk, leftovers, reader
from stepscope.lake.schema import schema
from tests.lake.recordings import chrome
from tests.tiers import cases, some

HEX = "0123456789abcdef" * 2
OLD = f"old-{HEX}.json"
COUNT = "SELECT count(*) FROM slice"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    stepscope.ingest([chrome(tmp_path / "in" / "a.json")], tmp_path / "lake", run="a")
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / f"{HEX}.lock").write_text("precious")
    return tmp_path / "lake"


ODD_NAMES = ("../../victim", "/etc/x", "", "..", "A", "a/b", "a\n", "x" * 200)
NOT_OURS = ("dead", "..", "-", HEX.upper(), HEX + "0", "x" * 32, HEX[:31])
LINKED = ("slice", "slice/run=a", "slice/run=a/host=unknown")


def dead(lake: Path, plan: bytes, name: str = HEX) -> Path:
    """The stage of a writer that died."""
    stage = lake / "_stage" / name
    stage.mkdir()
    (stage / "plan.json").write_bytes(plan)
    (lake / "_stage" / f"{name}.lock").touch()
    return stage


def aged(path: Path) -> Path:
    """A file as it is two hours later."""
    before = time.time() - 2 * leftovers.OLD_SECONDS
    os.utime(path, (before, before))
    return path


def listing(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def slice_of(lake: Path) -> str:
    (path,) = (lake / "slice").rglob("*.parquet")
    return str(path.relative_to(lake))


def ingests(lake: Path, name: str = "b") -> list[tuple[object, ...]]:
    """Another ingest, which must succeed; the number of slices afterwards."""
    (row,) = stepscope.ingest([chrome(lake.parent / "in" / f"{name}.json", name)], lake)
    assert row.error is None
    with stepscope.open(lake) as trace:
        return trace.query(COUNT).rows()


OUTSIDE = [
    "../victim", "../../victim", "{tmp}/victim", "slice/run=a/host=h/../../../../victim",
    "slice/../../victim", "./../victim", "_manifest/{manifest}", "stepscope-lake.json", "_stage/commit.lock",
    "slice/run=a/host=unknown/other.parquet",
    "slice/run=a/host=unknown/0123456789abcdef0123456789abcdef-4.parquet/x",
    "slice//run=a/host=unknown/0123456789abcdef0123456789abcdef-4.parquet",
    "other/run=a/host=unknown/0123456789abcdef0123456789abcdef-4.parquet",
    "slice/run=A/host=unknown/0123456789abcdef0123456789abcdef-4.parquet",
    "slice/run=a/host=unknown/0123456789abcdef0123456789abcdef-4.parquet\n",
    "slice/run=a/host=unknown/0123456789abcdef0123456789abcdef-4.lod",
    "timeline/run=a/host=unknown/0123456789abcdef0123456789abcdef-4.parquet",
    "timeline/run=a/host=../0123456789abcdef0123456789abcdef-4.lod", "", "\0",
]  # fmt: skip


@pytest.mark.parametrize("where", ["stage", "old"])
def test_a_plan_reaches_nothing_but_files_of_tables(lake: Path, where: str) -> None:
    (announced,) = (lake / "_manifest").iterdir()
    (lake / "slice/run=a/host=unknown/other.parquet").write_text("somebody's")
    for path in OUTSIDE:
        text = path.format(tmp=lake.parent, manifest=announced.name)
        plan = json.dumps({"manifest": "000000001.json", "files": [text]}).encode()
        if where == "stage":
            dead(lake, plan)
        else:
            (lake / "_stage" / OLD).write_bytes(plan)
            aged(lake / "_stage" / OLD)
        before = listing(lake.parent)
        swept = leftovers.sweep(lake)
        after = listing(lake.parent)
        assert {name for name in before if "_stage" not in name} <= after.keys(), text
        assert swept.removed == 1
        assert [name for name, _ in swept.refused] == [OLD if where == "old" else f"{HEX}.lock"], text
    assert ingests(lake) == [(40,)]


def test_a_plan_does_not_remove_what_another_source_lists(lake: Path) -> None:
    dead(lake, json.dumps({"manifest": "000000001.json", "files": [slice_of(lake)]}).encode())
    leftovers.sweep(lake)
    assert ingests(lake) == [(40,)]


def test_a_plan_removes_what_nobody_lists(lake: Path) -> None:
    orphan = lake / "slice/run=a/host=unknown" / f"{HEX}-4.parquet"
    orphan.write_bytes(b"half")
    dead(lake, json.dumps({"manifest": "1", "files": [str(orphan.relative_to(lake))]}).encode())
    assert leftovers.sweep(lake) == (1, ())
    assert not orphan.exists()


@pytest.mark.parametrize("part", some(LINKED, LINKED[1:2], "three depths"))
def test_no_file_behind_a_link_is_removed(lake: Path, part: str) -> None:
    outside = lake.parent / "outside"
    inner = f"slice/run=a/host=unknown/{HEX}-4.parquet"
    target = outside / Path(inner).relative_to(part)
    target.parent.mkdir(parents=True)
    target.write_text("precious")
    shutil.rmtree(lake / part)
    (lake / part).symlink_to(outside)
    dead(lake, json.dumps({"manifest": "000000001.json", "files": [inner]}).encode())
    swept = leftovers.sweep(lake)
    assert target.read_text() == "precious"
    assert swept.removed == 1
    assert len(swept.refused) == 1


@pytest.mark.parametrize("part", ["slice", "slice/run=b", "_stage", "_manifest"])
def test_nothing_is_written_behind_a_link(lake: Path, part: str) -> None:
    home = lake.parent / "home"
    if (lake / part).exists():
        shutil.rmtree(lake / part)
    (lake / part).symlink_to(home)
    before = listing(home)
    with pytest.raises(LakeError, match="is a link"):
        stepscope.ingest([chrome(lake.parent / "in" / "b.json", "b")], lake, run="b")
    assert listing(home) == before


def test_links_in_the_stage_are_not_followed(lake: Path) -> None:
    stage, tmp = lake / "_stage", lake.parent
    (stage / HEX).symlink_to(tmp / "home")
    (stage / f"{HEX}.lock").touch()
    (stage / f"{'b' * 32}.lock").symlink_to(tmp / "victim")
    (stage / f"{'c' * 32}.lock").symlink_to(tmp / "made")
    (stage / f"{'d' * 32}.mark").symlink_to(tmp / "victim")
    (stage / f"old-{'e' * 32}.json").symlink_to(tmp / "victim")
    inner = stage / ("f" * 32)
    inner.mkdir()
    (stage / f"{'f' * 32}.lock").touch()
    (inner / "store").symlink_to(tmp / "home")
    before = listing(tmp / "home")
    swept = leftovers.sweep(lake)
    assert (tmp / "victim").read_text() == "precious"
    assert not (tmp / "made").exists()
    assert listing(tmp / "home") == before
    assert not (stage / HEX).is_symlink()
    assert not inner.exists()
    assert swept.removed == 2
    assert {name[:1] for name, _ in swept.refused} == {"b", "c", "d", "o"}
    assert ingests(lake) == [(40,)]


@pytest.mark.parametrize("name", some(NOT_OURS, ("..", HEX + "0"), "seven names of somebody else"))
def test_only_own_names_are_swept(lake: Path, name: str) -> None:
    """Somebody else's folders, locks and marks in _stage are left where they are."""
    stage = lake / "_stage"
    if name != "..":
        (stage / name).mkdir()
        (stage / name / "plan.json").write_text('{"manifest": "1", "files": []}')
    for ending in (".lock", ".mark"):
        aged_file = stage / f"{name}{ending}"
        aged_file.touch()
        aged(aged_file)
    (stage / f"old-{name}.json").write_text("{}")
    aged(stage / f"old-{name}.json")
    before = listing(lake)
    assert leftovers.sweep(lake).removed == 0
    assert listing(lake) == before


def test_what_is_not_a_file_blocks_nothing(lake: Path) -> None:
    stage = lake / "_stage"
    (stage / f"{'a' * 32}.lock").mkdir()
    (stage / f"{'b' * 32}.mark").mkdir()
    (stage / f"old-{'c' * 32}.json").mkdir()
    os.mkfifo(stage / f"old-{'d' * 32}.json")
    for path in stage.iterdir():
        aged(path)
    deep = stage / ("e" * 32)
    deep.mkdir()
    (stage / f"{'e' * 32}.lock").touch()
    os.mkfifo(deep / "plan.json")
    many = stage / ("f" * 32)
    (many / "/".join("x" * 60)).mkdir(parents=True)
    (stage / f"{'f' * 32}.lock").touch()
    assert ingests(lake) == [(40,)]
    left = {path.name for path in stage.iterdir()}
    assert "e" * 32 not in left
    assert "f" * 32 in left, "a tree deeper than any of ours is not ours"


PLANS: list[Any] = [
    b"",
    b"{",
    b"[" * 100_000,
    b'{"manifest":' * 50_000,
    b'{"manifest": 1e400, "files": []}',
    b'{"manifest": NaN, "files": NaN}',
    b'{"manifest": "1", "files": 7}',
    b'{"manifest": "1", "files": [7, null, [], {}, true, 1e9]}',
    b'{"manifest": ["1"], "files": {"a": 1}}',
    b'{"files": ["slice/run=a/host=unknown/%s"]}' % (b"x" * 5000),
    b'{"manifest": "../../victim", "files": ["\\ud800"]}',
    b'{"manifest": "1", "files": [], "files": ["../victim"]}',
    b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}",
    b"null",
    b'"text"',
    b"9" * 10_000,
    b" " * (2 << 20),
]


@pytest.mark.parametrize("plan", some(PLANS, PLANS[2:5:2], "eighteen broken plans"), ids=range(len(PLANS)))
def test_malformed_plans_block_nothing_and_are_counted(lake: Path, plan: bytes) -> None:
    dead(lake, plan)
    (lake / "_stage" / OLD).write_bytes(plan)
    aged(lake / "_stage" / OLD)
    before = listing(lake / "slice")
    swept = leftovers.sweep(lake)
    assert swept.removed == 2
    assert {name for name, _ in swept.refused} == {f"{HEX}.lock", OLD}
    assert listing(lake / "slice") == before
    assert ingests(lake) == [(40,)]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(OUTSIDE),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(
    max_examples=cases(20, 150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.fixed_dictionaries({}, optional={"manifest": values, "files": values}) | values)
def test_any_plan_ends_in_a_sweep(lake: Path, plan: Any) -> None:
    dead(lake, json.dumps(plan).encode())
    before = listing(lake.parent)
    assert leftovers.sweep(lake).removed == 1
    lost = before.keys() - listing(lake.parent).keys()
    assert all(name.startswith("lake/_stage/") for name in lost), lost


def test_an_ingest_says_what_it_left(lake: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from stepscope.cli import main

    dead(lake, b'{"manifest": "1", "files": ["../victim"]}')
    assert main(["ingest", str(chrome(lake.parent / "in" / "b.json", "b")), "--lake", str(lake)]) == 0
    assert f"_stage/{HEX}.lock: it names files that are not a table's" in capsys.readouterr().err


def test_a_damaged_manifest_stops_the_removal_only(lake: Path) -> None:
    orphan = lake / "slice/run=a/host=unknown" / f"{HEX}-4.parquet"
    orphan.write_bytes(b"half")
    dead(lake, json.dumps({"manifest": "1", "files": [str(orphan.relative_to(lake))]}).encode())
    (lake / "_manifest" / "000000007.json").write_text("{")
    swept = leftovers.sweep(lake)
    assert orphan.exists()
    assert swept.removed == 0
    assert swept.refused == ((f"{HEX}.lock", "A manifest of the lake is damaged."),)


def test_manifests_and_plans_agree_about_paths(lake: Path) -> None:
    (path,) = (lake / "_manifest").iterdir()
    found = json.loads(path.read_text())
    del found["digest"]
    for outside in OUTSIDE:
        found["files"][0]["path"] = outside
        path.write_bytes(strict_json.sealed(found))
        with pytest.raises(LakeError, match="not a file of table"):
            reader.open_lake(lake)


@pytest.mark.parametrize("name", some(ODD_NAMES, ("../../victim", "a\n"), "eight odd names"))
@pytest.mark.parametrize("field", ["run_id", "host_id"])
def test_names_of_runs_and_hosts_are_names(lake: Path, field: str, name: str) -> None:
    """The derived tables of a run are announced by a file of its name."""
    (path,) = (lake / "_manifest").iterdir()
    found = json.loads(path.read_text())
    del found["digest"]
    found["files"] = []
    found["source"][field] = name
    path.write_bytes(strict_json.sealed(found))
    before = listing(lake.parent)
    with pytest.raises(LakeError, match="is called"):
        stepscope.ingest([lake.parent / "in" / "a.json"], lake)
    assert listing(lake.parent) == before


def test_a_folder_that_is_exchanged_for_a_link_is_not_followed(tmp_path: Path) -> None:
    """What is done by an open folder happens there, wherever its name leads meanwhile."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").touch()
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x").touch()
    with disk.opened_folder(tmp_path, ("a",)) as opened:
        assert opened is not None
        (tmp_path / "a").rename(tmp_path / "c")
        (tmp_path / "a").symlink_to("b")
        disk.remove_within(opened, "x")
    assert (tmp_path / "b" / "x").exists()
    assert not (tmp_path / "c" / "x").exists()


ABOVE = [
    "name=foo", "dur_ps=7", "track_id=0", "run_id=x", "run=x", "a[b]*?", "back\\slash[", "it's", "\udcff",
]  # fmt: skip


@pytest.mark.repeats("every folder above in turn")
def test_folders_above_a_lake_change_no_answer(tmp_path: Path) -> None:
    for run in ("p", "q"):
        chrome(tmp_path / "in" / f"run={run}" / "t.json", run)
    stepscope.ingest([tmp_path / "in"], tmp_path / "lake")
    tables = [table.name for table in schema().tables]

    def rows(lake: Path) -> dict[str, list[tuple[object, ...]]]:
        with stepscope.open(lake) as trace:
            found = {name: sorted(trace.query(f"SELECT * FROM {name}").rows(), key=repr) for name in tables}
            one_run = (
                "SELECT run_id, host_id, count(*), sum(dur_ps) FROM slice WHERE run_id = 'q' GROUP BY ALL"
            )
            return {**found, "one run": trace.query(one_run).rows()}

    first = rows(tmp_path / "lake")
    assert first["one run"] == [("q", "unknown", 20, 40_000_000)]
    for name in [*ABOVE, "/".join(ABOVE)]:
        above = tmp_path / "above" / name
        above.mkdir(parents=True)
        shutil.copytree(tmp_path / "lake", above / "lake")
        # What the names would match, were they patterns.
        for other in ("ab-x", "ab..", "[x]", "\\[x]"):
            shutil.copytree(tmp_path / "in", above.parent / other / "lake", dirs_exist_ok=True)
        assert rows(above / "lake") == first, name
        shutil.rmtree(tmp_path / "above")


def test_a_lake_with_an_odd_path_can_be_filled_and_exported(tmp_path: Path) -> None:
    lake = tmp_path / "name=foo" / "a[b]*?" / "lake"
    for name in ("a", "b"):
        stepscope.ingest([chrome(tmp_path / "in" / f"{name}.json", name)], lake)
    from stepscope.cli import main

    assert main(["export", str(lake), "-o", str(tmp_path / "out.parquet"), "--table", "slice"]) == 0
    import pyarrow.parquet as pq

    assert sorted(set(pq.read_table(tmp_path / "out.parquet")["name"].to_pylist())) == [
        f"{run}{number}" for run in "ab" for number in range(3)
    ]


def test_no_place_for_a_plain_name_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = tmp_path / "a*" / "lake"
    stepscope.ingest([chrome(tmp_path / "a.json")], lake)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "a*"))
    with pytest.raises(LakeError, match="rename"):
        stepscope.open(lake)


@pytest.mark.parametrize(
    "url", ["http://bucket/lake", "s3:/bucket/lake", "ftp://b", "file:///tmp/x", "abfs+x://y"]
)
def test_a_url_is_not_a_lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.chdir(tmp_path)
    chrome(tmp_path / "a.json")
    works: list[Callable[[], object]] = [
        lambda: stepscope.ingest(["a.json"], url),
        lambda: stepscope.ingest([url], url),
        lambda: stepscope.open(lake=url),
    ]
    for work in works:
        with pytest.raises(UsageError, match="local folder"):
            work()
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_folder_may_be_called_like_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    stepscope.ingest([chrome(tmp_path / "a.json")], "./s3:/bucket/lake")
    with stepscope.open(lake="./s3:/bucket/lake") as trace:
        assert trace.query(COUNT).rows() == [(20,)]


class Storage:
    """What fsspec gives for a bucket, as far as it is asked before anything is read."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def find(self, root: str) -> list[str]:
        return list(self.names)

    def unstrip_protocol(self, name: str) -> str:
        return f"ftp://{name}"


def test_a_lake_elsewhere_says_where_lakes_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["b/lake/stepscope-lake.json", "b/lake/slice/run=a/host=h/x.parquet"]
    core = types.SimpleNamespace(url_to_fs=lambda url: (Storage(*names), url.removeprefix("ftp://")))
    monkeypatch.setitem(sys.modules, "fsspec", types.ModuleType("fsspec"))
    monkeypatch.setitem(sys.modules, "fsspec.core", core)  # type: ignore[arg-type]
    for url in ("ftp://b/lake", "ftp://b/lake/"):
        with pytest.raises(UsageError, match="local folder"):
            stepscope.open(url)
    with pytest.raises(StepscopeError, match="1 x stepscope lake"):
        stepscope.open("ftp://b")
