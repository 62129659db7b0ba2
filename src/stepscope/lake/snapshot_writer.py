"""Writing a snapshot: the files of a run get their names, then one commit says that they hold its sources.

What a crash leaves: before the commit, files that no one lists, which the next sweep takes back; after it,
manifests that the snapshot has as well, which readers prefer and the next compaction takes in again.
"""

import json
from collections.abc import Collection, Sequence
from pathlib import Path

from stepscope import _core
from stepscope.lake import disk, leftovers, manifest, reader
from stepscope.lake import snapshot as snapshots
from stepscope.lake.claims import manifest_of
from stepscope.lake.leftovers import COMMIT_LOCK, PLAN, STAGE
from stepscope.lake.manifest import Manifest, ManifestFile
from stepscope.lake.placement import place
from stepscope.lake.reader import MANIFESTS
from stepscope.lake.relation import Columns
from stepscope.lake.rows import SourceRow
from stepscope.lake.schema import schema
from stepscope.lake.snapshot import (
    FILE_COLUMNS,
    FOLDER,
    SOURCE_COLUMNS,
    Commit,
    Packed,
    Snapshot,
    SnapshotFile,
)

VERSION = 1
"""Version of the writer, in the names of files."""


def _own_files(manifest_: Manifest, lost: Collection[str]) -> tuple[ManifestFile, ...]:
    """The files that stay a source's own."""
    return () if manifest_.timeline is None or manifest_.timeline.path in lost else (manifest_.timeline,)


def path_of(table: str, run_id: str, digest: str) -> str:
    """The path of a file within the lake: its name is its content's."""
    return f"{table}/run={run_id}/host={snapshots.ALL_HOSTS}/{digest}-{VERSION}.parquet"


def write(
    folder: Path,
    stage: Path,
    run_id: str,
    absorbed: Sequence[Manifest],
    made: Sequence[tuple[Packed, Path]],
    lost: Collection[str] = (),
) -> bool:
    """Announces the files of a run, which lie synced under the stage. absorbed: the sources whose rows they
    hold, as the lake had them. lost: paths of timelines that are to be left out. False, and nothing done,
    when the lake has changed since. LakeError when it cannot be written."""
    plan = json.dumps({"files": [file.path for file, _ in made]}).encode()
    (stage / PLAN).unlink(missing_ok=True)
    disk.write_synced(stage / PLAN, plan)
    disk.sync_folder(stage)
    with disk.locked(folder / STAGE / COMMIT_LOCK):
        before = snapshots.current(folder)
        if any(manifest_of(folder, absorbed_.source.source_id) != absorbed_ for absorbed_ in absorbed):
            (stage / PLAN).unlink()
            return False
        place(folder, ((file.path, part) for file, part in made))
        (folder / FOLDER).mkdir(exist_ok=True)
        with disk.opened_folder(folder, (FOLDER,)) as opened:
            if opened is None:
                raise leftovers.linked(folder / FOLDER)
        after = next_of(before, run_id, absorbed, [file for file, _ in made], lost)
        commit = stage / "snapshot.json"
        commit.unlink(missing_ok=True)
        parts = (("sources", source_rows(after)), ("files", file_rows(after)))
        sources, files = (store_part(folder, stage, kind, *rows) for kind, rows in parts)
        disk.write_synced(commit, Commit(schema().version, sources, files).to_json())
        disk.sync_folders([folder, folder / FOLDER])
        # Before the commit: files in it are removed an hour later, and only if no manifest lists them then.
        leftovers.retire(folder, past_of(before, run_id, absorbed, made, lost))
        if not disk.put_if_absent(commit, folder / FOLDER / snapshots.name_of(after.number)):
            raise disk.written_without_lock(snapshots.name_of(after.number), folder)
        disk.sync_folder(folder / FOLDER)
        (stage / PLAN).unlink()
        for absorbed_ in absorbed:
            if absorbed_.packed is None:
                (folder / MANIFESTS / manifest.file_name(absorbed_.source.source_id)).unlink()
        disk.sync_folder(folder / MANIFESTS)
    return True


def next_of(
    before: Snapshot | None,
    run_id: str,
    absorbed: Sequence[Manifest],
    made: Sequence[Packed],
    lost: Collection[str] = (),
) -> Snapshot:
    """The snapshot that follows, with the sources of a run as they are in its new files."""
    others = [known for known in before.manifests if known.source.run_id != run_id] if before else []
    files = [file for file in before.files if file.run_id != run_id] if before else []
    packed = [
        manifest_._replace(
            files=_own_files(manifest_, lost),
            packed=" ".join(f"{table}={rows}" for table, rows in sorted(manifest_.rows.items())),
        )
        for manifest_ in absorbed
    ]
    manifests = sorted((*others, *packed), key=lambda manifest_: manifest_.source.source_id)
    number = before.number + 1 if before else 1
    nothing = SnapshotFile("", 0, "")
    commit = Commit(schema().version, nothing, nothing)
    return Snapshot(number, commit, tuple(manifests), (*files, *made))


def past_of(
    before: Snapshot | None,
    run_id: str,
    absorbed: Sequence[Manifest],
    made: Sequence[tuple[Packed, Path]] = (),
    lost: Collection[str] = (),
) -> list[str]:
    """The files that only readers of the previous state need once the new ones are announced."""
    past = {file.path for known in absorbed for file in known.files}
    if before is not None:
        past |= {file.path for file in before.by_run.get(run_id, ())}
        past |= {file.path for old in before.manifests if old.source.run_id == run_id for file in old.files}
    kept = {file.path for known in absorbed for file in _own_files(known, lost)}
    return sorted(past - kept - {file.path for file, _ in made})


Rows = tuple[Sequence[tuple[str, str]], list[tuple[object, ...]]]
"""Columns with their types, and rows."""


def source_rows(made: Snapshot) -> Rows:
    """The sources of a snapshot, as its Parquet file has them."""
    rows = [
        (
            *manifest_.source,
            None if manifest_.identity is None else json.dumps(manifest_.identity),
            *(manifest_.member, manifest_.packed),
            None if manifest_.timeline is None else json.dumps(manifest_.timeline[1:]),
        )
        for manifest_ in made.manifests
    ]
    assert len(SOURCE_COLUMNS) == len(SourceRow._fields) + 4
    return SOURCE_COLUMNS, list(rows)


def file_rows(made: Snapshot) -> Rows:
    """The files of a snapshot, as its Parquet file has them."""
    return FILE_COLUMNS, [tuple(file) for file in made.files]


def write_part(path: Path, columns: Sequence[tuple[str, str]], rows: list[tuple[object, ...]]) -> None:
    """Writes and syncs a Parquet file of a snapshot."""
    store = _core.build()
    values = zip(*rows, strict=True) if rows else ([] for _ in columns)
    store.replace("snapshot", dict(zip((name for name, _ in columns), values, strict=True)))
    wanted: Columns = [(name, kind, None, 0) for name, kind in columns]
    path.unlink(missing_ok=True)
    _core.write_parquet([(str(path), store, "snapshot", wanted)], threads=1)


def store_part(
    folder: Path, stage: Path, kind: str, columns: Sequence[tuple[str, str]], rows: list[tuple[object, ...]]
) -> SnapshotFile:
    """Writes a Parquet file of a snapshot into its folder, under the name of its content."""
    part = stage / f"{kind}.parquet"
    write_part(part, columns, rows)
    digest = reader.content_hash(part)
    found = SnapshotFile(f"{digest}-{kind}.parquet", part.stat().st_size, digest)
    part.replace(folder / FOLDER / found.name)
    return found
