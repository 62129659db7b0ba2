"""A lake: what goes in comes out, again is nothing, damage is told, and several may write at once."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Collection
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import stepscope
from stepscope import strict_json
from stepscope.cli import main
from stepscope.errors import LakeError, StepscopeError, UsageError
from stepscope.lake import derived_tables, leftovers, reader, writer
from stepscope.lake.manifest import TIMELINE
from stepscope.lake.schema import schema
from stepscope.session.table_makers import VERSIONS
from stepscope.sources.user_paths import is_lake
from tests.lake.recordings import chrome
from tests.tiers import ALL, some

LAKE = "lake"


def everything(
    *paths: Path, made: bool = False, tables: Collection[str] = (), **options: bool
) -> dict[str, list[tuple[object, ...]]]:
    """All rows of some tables, or of all, without what numbers the sources. made: also of the tables that are
    derived from the others, which takes most of the time; session/test_deriving.py is about those."""
    numbers = {"id", "source_id", "capture_id"}
    found = {}
    with stepscope.open(*paths, **options) as trace:  # type: ignore[arg-type]
        asked = tables or [one.name for one in trace.schema.tables if made or one.name not in VERSIONS]
        for table in map(trace.schema.table, asked):
            columns = [name for name in table.names if name not in numbers and not name.endswith("_id")]
            columns += [name for name in ("run_id", "host_id") if name in table.names]
            rows = trace.query(f"SELECT {', '.join(columns)} FROM {table.name}").rows()
            found[table.name] = sorted(rows, key=repr)
    return found


def in_use(lake: Path) -> set[str]:
    """The files that readers of a lake open, and none of those that wait to be swept."""
    announced = [*reader.read_manifests(lake), *derived_tables.read_all(lake)]
    return {file.path for one in announced for file in one.files}


def snapshot(lake: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.stat().st_ino, path.stat().st_mtime_ns)
        for path in lake.rglob("*")
        if path.is_file() and "_stage" not in path.parts
    }


GONE = ("slice", "slice/run={a}", "*/run={b}", "*", "t*/run={a}/host=unknown/*")


def test_a_lake_holds_the_same_rows_as_its_sources(tmp_path: Path) -> None:
    for run in ("a", "b"):
        for step in (5, 10):
            chrome(tmp_path / "logs" / f"run={run}" / f"timeline-{step}.json", f"{run}{step}_")
    rows = stepscope.ingest([tmp_path / "logs"], tmp_path / LAKE)
    assert [(row.run_id, row.events_stored, row.error) for row in rows] == [
        ("a", 20, None),
        ("a", 20, None),
        ("b", 20, None),
        ("b", 20, None),
    ]
    found = everything(tmp_path / LAKE, made=ALL)
    wanted = everything(tmp_path / "logs", made=ALL, cache=False)
    # A lake has the tree of each run on its own; what is opened together without one is one tree.
    found |= everything(tmp_path / LAKE, tables=["tfprof_node"])
    wanted.pop("tfprof_node", None)
    logs = [tmp_path / "logs" / f"run={run}" for run in ("a", "b")]
    trees = [everything(one, tables=["tfprof_node"], cache=False)["tfprof_node"] for one in logs]
    assert found.pop("tfprof_node") == sorted([row for tree in trees for row in tree], key=repr)
    assert all(trees)
    assert found == wanted
    with stepscope.open(lake=tmp_path / LAKE) as trace:
        counts = trace.query(
            "SELECT count(*), count(DISTINCT s.id), count(DISTINCT s.source_id), count(t.id) "
            "FROM slice s LEFT JOIN track t ON t.id = s.track_id AND t.source_id = s.source_id"
        ).rows()
        assert counts == [(80, 80, 4, 80)]
        one_run = "SELECT count(*) FROM slice WHERE run_id = 'a' AND host_id = 'unknown'"
        assert trace.query(one_run).rows() == [(40,)]


def test_ingesting_again_changes_nothing(tmp_path: Path) -> None:
    for name in "abc":
        chrome(tmp_path / "in" / f"{name}.json", name)
    first = stepscope.ingest([tmp_path / "in"], tmp_path / LAKE)
    before = snapshot(tmp_path / LAKE)
    assert stepscope.ingest([tmp_path / "in"], tmp_path / LAKE) == first
    assert snapshot(tmp_path / LAKE) == before
    # Touched files have to be read to be known again; they are not written again.
    for path in (tmp_path / "in").iterdir():
        shutil.copy(path, tmp_path / "copy")
        (tmp_path / "copy").replace(path)
    assert stepscope.ingest([tmp_path / "in"], tmp_path / LAKE) == first
    assert snapshot(tmp_path / LAKE) == before


@pytest.mark.parametrize("gone", some(GONE, GONE[1:2], "five patterns"))
def test_files_that_are_gone_are_written_again(tmp_path: Path, gone: str) -> None:
    paths = [chrome(tmp_path / name / "trace.json", name) for name in "ab"]
    first = stepscope.ingest(paths, tmp_path / LAKE)
    gone = gone.format(a=first[0].run_id, b=first[1].run_id)
    rows, before = everything(tmp_path / LAKE), snapshot(tmp_path / LAKE)
    for path in (tmp_path / LAKE).glob(gone):
        if path.is_file() and path.suffix in (".parquet", ".lod"):
            path.unlink()
        elif path.is_dir() and not path.name.startswith("_"):
            shutil.rmtree(path)
    with pytest.raises(LakeError):
        stepscope.open(tmp_path / LAKE)
    assert stepscope.ingest(paths, tmp_path / LAKE) == first
    assert everything(tmp_path / LAKE) == rows
    assert snapshot(tmp_path / LAKE).keys() == before.keys()
    # The files that took their names are not swept as those they replaced.
    for path in (tmp_path / LAKE / "_stage").glob("old-*.json"):
        os.utime(path, (0, 0))
    assert writer.create(tmp_path / LAKE).refused == ()
    assert everything(tmp_path / LAKE) == rows


def test_a_file_that_was_cut_is_written_again(tmp_path: Path) -> None:
    path = chrome(tmp_path / "a.json")
    stepscope.ingest([path], tmp_path / LAKE)
    rows = everything(tmp_path / LAKE)
    (cut,) = (tmp_path / LAKE / "slice").rglob("*.parquet")
    cut.write_bytes(cut.read_bytes()[:-1])
    stepscope.ingest([path], tmp_path / LAKE)
    assert everything(tmp_path / LAKE) == rows


@pytest.mark.repeats("files in another order")
def test_order_does_not_matter(tmp_path: Path) -> None:
    paths = [chrome(tmp_path / "in" / f"{name}.json", name) for name in "abcd"]
    stepscope.ingest(paths, tmp_path / "one")
    for path in reversed(paths):
        stepscope.ingest([path], tmp_path / "two")
    names = {folder: in_use(tmp_path / folder) for folder in ("one", "two")}
    assert names["one"] == names["two"]
    found = [*(tmp_path / "one").rglob("*.parquet"), *(tmp_path / "one").rglob("*.lod")]
    assert names["one"] == {str(path.relative_to(tmp_path / "one")) for path in found}
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


def test_files_are_what_others_can_read(tmp_path: Path) -> None:
    stepscope.ingest([chrome(tmp_path / "a.json")], tmp_path / LAKE, run="a")
    (one,) = reader.read_manifests(tmp_path / LAKE)
    for file in one.files:
        assert file.path.startswith(f"{file.table}/run=a/host=unknown/")
        if file.table == TIMELINE:
            continue  # see tests.lake.test_timelines
        table = pq.read_table(tmp_path / LAKE / file.path, partitioning=None)
        assert table.num_rows == file.rows
        assert tuple(table.column_names) == schema().table(file.table).names
    (path,) = (tmp_path / LAKE / "slice").rglob("*.parquet")
    group = pq.ParquetFile(path).metadata.row_group(0)
    assert {group.column(at).compression for at in range(group.num_columns)} == {"ZSTD"}
    slices = pq.read_table(path, partitioning=None)
    keys = list(zip(slices["track_id"].to_pylist(), slices["ts_ps"].to_pylist(), strict=True))
    assert keys == sorted(keys)


def test_an_unreadable_source_is_a_row_with_its_error(tmp_path: Path) -> None:
    chrome(tmp_path / "in" / "good.json")
    (tmp_path / "in" / "bad.xplane.pb").write_bytes(
        (Path(__file__).parents[1] / "samples/tf_data/map_py_function.xplane.pb").read_bytes()[:40]
    )
    rows = stepscope.ingest([tmp_path / "in"], tmp_path / LAKE)
    assert stepscope.ingest([tmp_path / "in"], tmp_path / LAKE) == rows
    with stepscope.open(tmp_path / LAKE) as trace:
        found = trace.query("SELECT path, error IS NULL, complete FROM source ORDER BY path").rows()
    assert len(found) == len(rows)


@pytest.mark.repeats("bits of the same files are flipped in test_flipped_bits.py")
def test_every_damaged_byte_is_found(tmp_path: Path) -> None:
    stepscope.ingest([chrome(tmp_path / "a.json", count=3)], tmp_path / LAKE)
    kinds = ("slice", "track", "timeline")
    files = [path for path in (tmp_path / LAKE).glob("*/run=*/host=*/*") if path.parts[-4] in kinds]
    assert len(files) == 3
    for path in files:
        data = path.read_bytes()
        for at in range(0, len(data), max(1, len(data) // 200)):
            path.write_bytes(data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1 :])
            with pytest.raises(LakeError) as caught:
                reader.open_lake(tmp_path / LAKE)
            assert caught.value.path == str(path)
            assert "ingest" in caught.value.todo
        path.write_bytes(data[:-1])
        with pytest.raises(LakeError, match="instead of"):
            reader.open_lake(tmp_path / LAKE)
        path.unlink()
        with pytest.raises(LakeError, match="No such file"):
            reader.open_lake(tmp_path / LAKE)
        path.write_bytes(data)
    reader.open_lake(tmp_path / LAKE)


def test_damage_in_a_large_lake_is_told_when_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stepscope.ingest([chrome(tmp_path / "a.json")], tmp_path / LAKE)
    monkeypatch.setattr(reader, "CHECKED_BYTES", 0)
    (path,) = (tmp_path / LAKE / "slice").rglob("*.parquet")
    path.write_bytes(b"\x00" * path.stat().st_size)
    with stepscope.open(tmp_path / LAKE) as trace, pytest.raises(LakeError) as caught:
        trace.query("SELECT sum(dur_ps) FROM slice").rows()
    assert caught.value.path == str(path)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"schema_version": 1}', b"\xff\xfe"])
def test_damaged_manifests_are_told(tmp_path: Path, data: bytes) -> None:
    stepscope.ingest([chrome(tmp_path / "a.json")], tmp_path / LAKE)
    (path,) = (tmp_path / LAKE / "_manifest").iterdir()
    path.write_bytes(data)
    with pytest.raises(LakeError) as caught:
        stepscope.open(tmp_path / LAKE)
    assert caught.value.path == str(path)


def test_a_manifest_cannot_point_outside(tmp_path: Path) -> None:
    stepscope.ingest([chrome(tmp_path / "a.json")], tmp_path / LAKE)
    (path,) = (tmp_path / LAKE / "_manifest").iterdir()
    found = json.loads(path.read_text())
    del found["digest"]
    for outside in ("/etc/passwd", "slice/../../x.parquet", "other/x.parquet"):
        found["files"][0]["path"] = outside
        path.write_bytes(strict_json.sealed(found))
        with pytest.raises(LakeError, match="not a file of table"):
            reader.open_lake(tmp_path / LAKE)


def test_other_versions_are_refused_and_left_alone(tmp_path: Path) -> None:
    stepscope.ingest([chrome(tmp_path / "a.json")], tmp_path / LAKE)
    mark = tmp_path / LAKE / "stepscope-lake.json"
    for version, word in ((schema().version + 1, "upgrade"), (0, "new lake")):
        mark.write_text(json.dumps({"schema_version": version, "made_by": "stepscope 9.8.7"}))
        before = snapshot(tmp_path / LAKE)
        for work in (
            lambda: stepscope.open(tmp_path / LAKE),
            lambda: stepscope.ingest([tmp_path / "a.json"], tmp_path / LAKE),
        ):
            with pytest.raises(LakeError) as caught:
                work()
            assert word in caught.value.todo
            assert "by stepscope 9.8.7" in caught.value.seen
        assert snapshot(tmp_path / LAKE) == before


@pytest.mark.parametrize("version", [1, 22])
def test_lakes_from_before_the_first_release_are_refused_and_made_anew(
    tmp_path: Path, version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """Versions count from the first release: a 1 from before it is another version, not this one."""
    path, old = chrome(tmp_path / "a.json"), tmp_path / LAKE
    stepscope.ingest([path], old)
    assert json.loads((old / "stepscope-lake.json").read_text()) == {
        "schema_version": schema().version, "made_by": f"stepscope {stepscope.__version__}"
    }  # fmt: skip
    (old / "stepscope-lake.json").write_text(json.dumps({"schema_version": version}))
    before = snapshot(old)
    for words in (
        ["query", str(old), "SELECT 1"],
        ["ingest", str(path), "--lake", str(old)],
        ["compact", str(old)],
        ["verify", str(old)],
        ["summary", str(old)],
    ):
        assert main(words) == 2
        said = capsys.readouterr().err
        assert "The lake was written by a stepscope from before its first release." in said
        assert f"schema version {version}, counted as before 0.1.0" in said
        assert "make a new lake of its recordings: stepscope ingest PATH --lake DIR" in said
    assert snapshot(old) == before
    assert main(["ingest", str(path), "--lake", str(tmp_path / "new")]) == 0
    question = "SELECT name, ts_ps, dur_ps, args_json FROM slice ORDER BY ALL"
    with stepscope.open(tmp_path / "new") as new, stepscope.open(path) as given:
        assert new.query(question).rows() == given.query(question).rows()


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ('{"schema_version": 1, "made_by": "somebody"}', "somebody"),
        ('{"schema_version": 1, "made_by": "stepscope 1\\n"}', "made_by"),
        ('{"schema_version": "1"}', "schema_version"),
        ('{"made_by": "stepscope 0.1.0"}', "schema_version"),
        ("{}", "made_by"),
        ("7", "instead of an object"),
    ],
)
def test_odd_marks_are_told(tmp_path: Path, text: str, seen: str) -> None:
    stepscope.ingest([chrome(tmp_path / "a.json")], tmp_path / LAKE)
    path = tmp_path / LAKE / "stepscope-lake.json"
    told = path.read_text()
    path.write_text(text)
    with pytest.raises(LakeError, match="mark of the lake cannot be read") as caught:
        stepscope.open(tmp_path / LAKE)
    assert seen in caught.value.seen
    assert told in caught.value.todo  # what is to be written into it


def test_folders_that_are_no_lake_are_left_alone(tmp_path: Path) -> None:
    chrome(tmp_path / "data" / "a.json")
    with pytest.raises(LakeError, match="not empty"):
        stepscope.ingest([tmp_path / "data"], tmp_path / "data")
    with pytest.raises(LakeError, match="not a lake"):
        stepscope.open(lake=tmp_path / "data")
    with pytest.raises(UsageError):
        stepscope.open(tmp_path / "data", lake=tmp_path / "data")
    stepscope.ingest([tmp_path / "data"], tmp_path / LAKE)
    with pytest.raises(UsageError, match="alone"):
        stepscope.open(tmp_path / LAKE, tmp_path / "data")


def test_a_lake_that_another_writer_makes_meanwhile_is_a_lake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the question whether it is one and the list of what lies there."""
    chrome(tmp_path / "a.json")
    chrome(tmp_path / "b.json", "other")
    asked: list[Path] = []

    def meanwhile(folder: Path) -> bool:
        asked.append(folder)
        was = is_lake(folder)
        if len(asked) == 1:
            stepscope.ingest([tmp_path / "a.json"], tmp_path / LAKE)
        return was

    monkeypatch.setattr(writer, "is_lake", meanwhile)
    stepscope.ingest([tmp_path / "b.json"], tmp_path / LAKE)
    with stepscope.open(tmp_path / LAKE) as trace:
        assert trace.query("SELECT count(*) FROM source").rows() == [(2,)]


def test_a_newer_decoder_replaces_what_an_older_one_wrote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from stepscope import _core

    path = chrome(tmp_path / "a.json")
    (first,) = stepscope.ingest([path], tmp_path / LAKE)
    opened = reader.open_lake(tmp_path / LAKE)
    monkeypatch.setattr(_core, "DECODER_VERSION", _core.DECODER_VERSION + 1)
    (second,) = stepscope.ingest([path], tmp_path / LAKE)
    assert (second.source_id, second.decoder_version) == (first.source_id, first.decoder_version + 1)
    with stepscope.open(tmp_path / LAKE) as trace:
        assert trace.query("SELECT count(*), count(DISTINCT id) FROM slice").rows() == [(20, 20)]
    # Who opened the lake before may still read; an hour later the old files go.
    opened.verify(contents=True)
    monkeypatch.setattr(leftovers, "OLD_SECONDS", -1)
    writer.create(tmp_path / LAKE)
    with pytest.raises(LakeError):
        opened.verify(contents=False)
    reader.open_lake(tmp_path / LAKE).verify(contents=True)


@pytest.mark.repeats("a race of four processes")
def test_two_writers_and_readers_at_once(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys
        import stepscope
        for name in sys.argv[2:]:
            stepscope.ingest([name], sys.argv[1])
    """)
    paths = [str(chrome(tmp_path / "in" / f"n{i}.json", f"n{i}_")) for i in range(12)]
    lake = tmp_path / LAKE
    # Both ingest everything, in opposite order: half the way they write what the other writes too.
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(lake), *order], stderr=subprocess.PIPE)
        for order in (paths, paths[::-1])
    ]
    seen = [0]
    while any(one.poll() is None for one in writers):
        if not is_lake(lake):
            continue
        try:
            with stepscope.open(lake) as trace:
                ((sources, slices, whole),) = trace.query(
                    "SELECT (SELECT count(*) FROM source), count(*), count(DISTINCT id) FROM slice"
                ).rows()
        except StepscopeError as error:
            pytest.fail(f"a reader was disturbed: {error}")
        assert slices == whole == 20 * sources
        assert sources >= seen[-1]
        seen.append(sources)
    for one in writers:
        assert one.communicate()[1] == b""
        assert one.returncode == 0
    assert len(seen) > 3
    with stepscope.open(lake) as trace:
        assert trace.query("SELECT count(*), count(DISTINCT id) FROM slice").rows() == [(240, 240)]
        assert trace.query("SELECT count(*) FROM source").rows() == [(12,)]
    # Derived tables that were made of fewer sources stay for readers from before, until they are swept.
    left = [path for path in (lake / "_stage").iterdir() if path.suffix != ".lock"]
    assert all(path.name.startswith("old-") for path in left), left
    for path in left:
        os.utime(path, (0, 0))
    writer.create(lake)
    assert [path.name for path in (lake / "_stage").iterdir() if path.suffix != ".lock"] == []
    found = [*lake.rglob("*.parquet"), *lake.rglob("*.lod")]
    assert {str(path.relative_to(lake)) for path in found} == in_use(lake)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LakeError, match="cannot be written"):
        stepscope.ingest([chrome(tmp_path / "a.json")], tmp_path / "file" / LAKE)
