"""Timelines of a lake: what the page maps shows what the tables hold, and without it the tables are drawn."""

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import _core, strict_json
from stepscope.cli import main
from stepscope.engines import rows_of
from stepscope.errors import LakeError
from stepscope.lake import derived_tables, leftovers, manifest, reader, snapshot, snapshot_writer, writer
from stepscope.lake.manifest import TIMELINE, Manifest, ManifestFile
from stepscope.server import catalog
from stepscope.server.timeline import Timeline
from stepscope.session import trace
from stepscope.session.trace import Only, compact, verify
from tests.core.test_lod import unpack
from tests.lake import compacted
from tests.lake.recordings import chrome
from tests.lake.test_lake import everything
from tests.tiers import some

HOSTS = 3
NAMES = 40_000
"""So many that a store does not number them."""
COLUMNS = ("track", "depth", "id", "ts_ps", "dur_ps", "name")
Cells = list[dict[str, Any]]


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    for host in range(HOSTS):
        folder = tmp_path / "logs" / "run=fleet" / f"host=h{host}"
        chrome(folder / "t.json", f"h{host}_", count=40 + host, dur=5 + 9 * host)
    return tmp_path / "logs"


@pytest.fixture
def lake(logs: Path, tmp_path: Path) -> Path:
    stepscope.ingest([logs], tmp_path / "lake")
    return tmp_path / "lake"


def cells(lod: _core.Lod, tracks: list[int], window: tuple[int, int, int]) -> Cells:
    """The cells of a window, with the names that their numbers stand for."""
    header, columns = unpack(lod.cells(tracks, *window))
    found = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert header["events"] == sum(one["count"] for one in found)
    return [one | {"name": lod.names[one["name"]]} for one in found]


def compared(lake: Path | str, only: Only = (None, None), *, mapped: bool = True, cache: bool = True) -> int:
    """Compares the page's timeline with slices that SQL gives, in windows chosen at random; how many there
    are. mapped: whether it comes from files of the lake."""
    with trace.open(lake=lake, only=only, cache=cache) as opened:
        catalog.read(opened)
        wanted = _core.Lod(opened.stream(rows_of("_timeline_slice", COLUMNS)))
        lanes = opened.lanes()
        assert (lanes is not None) == mapped
        if lanes is not None:
            assert all(str(one.place[0]).endswith(".lod") for one in lanes.values())  # type: ignore[index]
        drawn = Timeline(opened)._lod
        assert drawn.tracks == wanted.tracks
        (count,) = opened.query("SELECT count(*) FROM slice").rows()[0]
        rows = opened.query("SELECT min(ts_ps), max(ts_ps + dur_ps) FROM slice").rows()
    tracks, chance = sorted(wanted.tracks), random.Random(5)
    first, last = rows[0]
    everywhere = (-(2**62), 2**62, 1)
    assert sum(one["count"] for one in cells(drawn, tracks, everywhere)) == count
    for _ in range(40):
        begin, end = sorted(chance.sample(range(first - 10**7, last + 10**7), 2))
        window = begin, end, chance.choice((1, 7, 400, 4000))
        assert cells(drawn, tracks, window) == cells(wanted, tracks, window)
    return int(count)


def rewritten(lake: Path, change: Any) -> None:
    """Changes all manifests of a lake, as if they had been written so."""
    for path in (lake / reader.MANIFESTS).iterdir():
        path.write_bytes(change(manifest.read(path)).to_json())


def without_timeline(one: Manifest) -> Manifest:
    return one._replace(files=tuple(file for file in one.files if file.table != TIMELINE))


def timelines(lake: Path) -> list[ManifestFile]:
    return [one.timeline for one in reader.contents(lake).manifests if one.timeline is not None]


def test_what_ingest_wrote_is_what_the_tables_hold(lake: Path) -> None:
    assert compared(lake) == 40 + 41 + 42
    assert [file.rows for file in timelines(lake)] == [
        one.rows["slice"] for one in reader.contents(lake).manifests
    ]
    assert all(TIMELINE not in one.rows for one in reader.contents(lake).manifests)
    assert verify(lake)[0] == len(reader.contents(lake).files_of())
    # Engines may read tables, and nothing else that lies in the lake.
    with trace.open(lake=lake) as opened, pytest.raises(stepscope.errors.StepscopeError):
        opened.query(f"SELECT * FROM read_blob('{lake / timelines(lake)[0].path}')").rows()


def test_a_part_of_a_lake(lake: Path) -> None:
    assert compared(lake, (None, ["h1"])) == 41
    assert compared(lake, (["fleet"], ["h0", "h2"])) == 82


@pytest.mark.repeats("a lake made twice")
def test_a_lake_without_timelines_is_drawn_from_its_tables(lake: Path, logs: Path) -> None:
    rewritten(lake, without_timeline)
    assert compared(lake, mapped=False) == 123
    # What is known is not read again; a source that comes later has its timeline, the others still have none.
    chrome(logs / "run=fleet" / "host=h9" / "t.json", "h9_", count=7)
    stepscope.ingest([logs], lake)
    assert len(timelines(lake)) == 1
    assert compared(lake, mapped=False) == 130
    assert compared(lake, (None, ["h9"])) == 7


def test_compaction_keeps_timelines(lake: Path, logs: Path) -> None:
    paths = [file.path for file in timelines(lake)]
    compact(lake)
    assert [file.path for file in timelines(lake)] == paths
    current = snapshot.current(lake)
    assert current is not None
    assert not [file for file in current.files if file.table == TIMELINE]
    assert not [one for one in current.manifests if TIMELINE in one.rows]
    assert compared(lake) == 40 + 41 + 42
    assert compared(lake, (None, ["h0", "h2"])) == 82
    assert verify(lake)[0] == len(reader.contents(lake).files_of())
    # One that comes after is drawn with them, and compacted with them.
    chrome(logs / "run=fleet" / "host=h9" / "t.json", "h9_", count=7)
    stepscope.ingest([logs], lake)
    assert compared(lake) == 130
    compact(lake)
    assert compared(lake) == 130
    kept = [file.path for file in timelines(lake)]
    assert set(paths) < set(kept)
    # Nothing that is still drawn is removed along with what compaction replaced.
    for plan in (lake / leftovers.STAGE).glob("old-*.json"):
        os.utime(plan, (1, 1))
    assert leftovers.sweep(lake).removed
    assert {str(path.relative_to(lake)) for path in lake.glob(f"{TIMELINE}/run=*/host=*/*")} == set(kept)
    assert compared(lake) == 130
    assert stepscope.ingest([logs], lake)
    assert len(list((lake / reader.MANIFESTS).iterdir())) == 0, "nothing was read again"


@pytest.mark.repeats("a lake made twice")
def test_a_source_decoded_anew_brings_its_timeline(tmp_path: Path) -> None:
    lake = compacted.with_a_source_decoded_anew(tmp_path)
    current = snapshot.current(lake)
    assert current is not None
    old, new = (
        {one.source.source_id: one.timeline for one in every}
        for every in (current.manifests, reader.contents(lake).manifests)
    )
    assert compared(lake) == 10 + 11 + 12 + 13 + 20
    compact(lake)
    assert {one.source.source_id: one.timeline for one in reader.contents(lake).manifests} == new
    assert compared(lake) == 10 + 11 + 12 + 13 + 20
    assert len([one for one in old if old[one] is not None]) == compacted.HOSTS


@pytest.mark.repeats("a lake made twice")
def test_a_compacted_lake_without_timelines_is_drawn_from_its_tables(lake: Path) -> None:
    rewritten(lake, without_timeline)
    compact(lake)
    assert compared(lake, mapped=False) == 123


def test_snapshots_that_lack_the_column_of_timelines_are_damaged(lake: Path) -> None:
    compact(lake)
    current = snapshot.current(lake)
    assert current is not None
    columns, rows = snapshot_writer.source_rows(current)
    assert columns[-1][0] == "timeline"
    with writer.staged(lake) as stage:
        part = snapshot_writer.store_part(lake, stage, "sources", columns[:-1], [row[:-1] for row in rows])
    _committed(lake, current.commit._replace(sources=part))
    with pytest.raises(stepscope.errors.LakeError, match="snapshot of the lake is damaged"):
        reader.contents(lake)


def _committed(lake: Path, commit: snapshot.Commit) -> None:
    """Has the snapshot say something else."""
    current = snapshot.current(lake)
    (lake / snapshot.FOLDER / snapshot.name_of(current.number)).write_bytes(commit.to_json())
    snapshot._read.cache_clear()  # as another process finds it


LISTED = '["timeline/run=fleet/host=h0/x.lod"]'
OUTSIDE = '["../../x.lod", 1, 1, "00"]'


@pytest.mark.parametrize(
    "told",
    some(
        (
            "7",
            "[",
            LISTED,
            '["{path}", 1, 1, 5]',
            '["{path}", true, 1, "00"]',
            '["{path}", -1, 1, "00"]',
            OUTSIDE,
            '["timeline/run=fleet/host=other/00000000000000000000000000000000-1.lod", 1, 1, "00"]',
            '["slice/run=fleet/host=h0/00000000000000000000000000000000-1.parquet", 1, 1, "00"]',
        ),
        (LISTED, OUTSIDE),
        "nine snapshots",
    ),
)
def test_a_hostile_snapshot_names_no_timeline(lake: Path, told: str) -> None:
    compact(lake)
    current = snapshot.current(lake)
    assert current is not None
    columns, rows = snapshot_writer.source_rows(current)
    path = timelines(lake)[0].path
    rows[0] = (*rows[0][:-1], told.replace("{path}", path))
    with writer.staged(lake) as stage:
        part = snapshot_writer.store_part(lake, stage, "sources", columns, rows)
    _committed(lake, current.commit._replace(sources=part))
    with pytest.raises(LakeError, match="snapshot"):
        trace.open(lake=lake)


@pytest.mark.parametrize("harm", some(("flip", "cut", "gone"), ("flip",), "three harms"))
@pytest.mark.parametrize("packed", some((False, True), (True,), "packed and loose"))
def test_a_damaged_timeline_stops_no_compaction(
    lake: Path, logs: Path, packed: bool, harm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Compaction leaves it out and says so; the page draws its slices from the tables."""
    if packed:
        compact(lake)
        chrome(logs / "run=fleet" / "host=h9" / "t.json", "h9_", count=7)
        stepscope.ingest([logs], lake)
    before, (bad, *good) = everything(lake), [file.path for file in timelines(lake)]
    damage(lake / bad, harm)
    assert main(["compact", str(lake), "--format", "json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)["rows"][0]["timelines_lost"] == 1
    assert "fleet: 1 timeline damaged and left out: the page draws its slices from the tables" in told.err
    assert [file.path for file in timelines(lake)] == good
    assert everything(lake) == before
    assert verify(lake)[0] == len(reader.contents(lake).files_of())
    assert compared(lake, mapped=False) == (130 if packed else 123)
    # The file goes with what else was replaced; its source is known as before.
    for plan in (lake / leftovers.STAGE).glob("old-*.json"):
        os.utime(plan, (1, 1))
    stepscope.ingest([logs], lake)
    assert not (lake / bad).exists()
    assert not reader.contents(lake).own
    assert main(["compact", str(lake)]) == 0
    assert "nothing to compact" in capsys.readouterr().err


def test_a_damaged_table_is_not_compacted_for_a_timeline_s_sake(lake: Path) -> None:
    one = reader.contents(lake).manifests[1]
    damage(lake / timelines(lake)[0].path, "flip")
    damage(lake / next(file.path for file in one.files if file.table == "slice"), "flip")
    before = reader.contents(lake)
    with pytest.raises(LakeError, match="damaged") as error:
        compact(lake)
    assert "slice/" in str(error.value.path)
    assert reader.contents(lake) == before


def damage(path: Path, harm: str) -> None:
    """Changes a bit of a file, cuts it off, or removes it."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(data if harm == "flip" else data[:-8])


@pytest.mark.parametrize("harm", some(("flip", "cut", "gone"), ("flip", "gone"), "three harms"))
@pytest.mark.parametrize("small", some((True, False), (True,), "small and large"))
def test_damage_is_told_and_mended(
    lake: Path, logs: Path, harm: str, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(reader, "CHECKED_FILES", 0)
    path = lake / timelines(lake)[1].path
    damage(path, harm)
    with pytest.raises(LakeError, match="damaged"):
        verify(lake)
    with pytest.raises(LakeError, match="damaged"):
        compared(lake)
    path.unlink(missing_ok=True)
    stepscope.ingest([logs], lake)
    assert compared(lake) == 123


@pytest.mark.repeats("another damage")
def test_what_is_no_timeline_is_drawn_from_the_tables(lake: Path) -> None:
    """Who makes a lake may give any bytes a right hash."""
    path = lake / timelines(lake)[0].path
    for data in (b"", b"SSLOD\0\0\x01" + b"\xff" * 40, path.read_bytes()[:-8]):
        path.write_bytes(data)
        digest = reader.content_hash(path)

        def change(one: Manifest, data: bytes = data, digest: str = digest) -> Manifest:
            files = [
                file._replace(bytes=len(data), hash=digest) if str(lake / file.path) == str(path) else file
                for file in one.files
            ]
            return one._replace(files=tuple(files))

        rewritten(lake, change)
        assert compared(lake) == 123


def test_a_timeline_is_listed_as_such_or_not_at_all(lake: Path) -> None:
    one = reader.contents(lake).manifests[0]
    path = lake / reader.MANIFESTS / manifest.file_name(one.source.source_id)
    good, listed = path.read_bytes(), one.files
    for table, was, now in (
        (TIMELINE, f"{TIMELINE}/", "slice/"),
        (TIMELINE, ".lod", ".parquet"),
        ("slice", ".parquet", ".lod"),
    ):
        files = tuple(
            file._replace(path=file.path.replace(was, now)) if file.table == table else file
            for file in listed
        )
        assert files != listed
        path.write_bytes(one._replace(files=files).to_json())
        with pytest.raises(LakeError, match="not a file of table"):
            trace.open(lake=lake)
    path.write_bytes(good)
    assert compared(lake) == 123


def test_no_file_of_several_sources_is_a_timeline(lake: Path) -> None:
    compact(lake)
    current = snapshot.current(lake)
    assert current is not None
    place = f"{TIMELINE}/run=fleet/host={snapshot.ALL_HOSTS}/{'0' * 32}-1.lod"
    assert manifest.table_of(place) == TIMELINE
    rows = [tuple(file) for file in current.files] + [(TIMELINE, place, 1, 1, "00", "fleet", "h0", "h1")]
    with writer.staged(lake) as stage:
        part = snapshot_writer.store_part(lake, stage, "files", snapshot.FILE_COLUMNS, rows)
    _committed(lake, current.commit._replace(files=part))
    with pytest.raises(LakeError, match="snapshot"):
        trace.open(lake=lake)
    kept = lake / derived_tables.FOLDER / "fleet.json"
    if kept.exists():
        found = json.loads(kept.read_text())
        del found["digest"]
        found["files"].append({"table": TIMELINE, "path": place, "bytes": 1, "rows": 1, "hash": "00"})
        kept.write_bytes(strict_json.sealed(found))
        assert derived_tables.read(lake, "fleet") is None


def test_a_sweep_takes_back_what_nobody_lists(lake: Path) -> None:
    left = lake / f"{TIMELINE}/run=fleet/host=h0/{'a' * 32}-1.lod"
    left.write_bytes(b"of a writer that died")
    mine = [file.path for file in timelines(lake)]
    plan = lake / leftovers.STAGE / f"old-{'b' * 32}.json"
    plan.write_text(json.dumps({"files": [str(left.relative_to(lake)), *mine]}))
    os.utime(plan, (1, 1))
    assert leftovers.sweep(lake).removed == 1
    assert not left.exists()
    assert compared(lake) == 123


@pytest.mark.repeats("only their number is new")
def test_more_names_than_are_numbered(tmp_path: Path) -> None:
    """A store holds names as they are where most differ, and op types by number all the same."""
    rows = (
        f'node_stats {{ node_name: "n{i}" all_start_micros: {10**15 + 9 * i} all_end_rel_micros: 5'
        f' timeline_label: "n{i} = Op{i % 3}()" }}\n'
        for i in range(NAMES)
    )
    path = tmp_path / "run_metadata.pbtxt"
    path.write_text(f'step_stats {{ dev_stats {{ device: "/device:CPU:0"\n{"".join(rows)}}} }}\n')
    stepscope.ingest([path], tmp_path / "lake")
    with trace.open(lake=tmp_path / "lake") as opened:
        catalog.read(opened)
        drawn = Timeline(opened)._lod
    sums = drawn.sums(sorted(drawn.tracks), 0, 2**62)
    assert sums.go_on(60.0)
    rows, _ = sums.rows(NAMES)
    assert {row[:3] for row in rows} == {(f"n{i}", f"Op{i % 3}", 1) for i in range(NAMES)}
