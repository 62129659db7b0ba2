"""Writing the derived tables of a run into a lake: staged, synced, named and announced as sources are."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from stepscope import _core, config
from stepscope._core import Store
from stepscope.lake import derived_tables, disk, leftovers, reader
from stepscope.lake.derived_tables import FOLDER, Derived, DerivedTable
from stepscope.lake.leftovers import COMMIT_LOCK, PLAN, STAGE
from stepscope.lake.manifest import Manifest, ManifestFile
from stepscope.lake.placement import place
from stepscope.lake.relation import Columns, plain_columns
from stepscope.lake.schema import schema
from stepscope.lake.snapshot import ALL_HOSTS
from stepscope.lake.writer import staged, telling
from stepscope.store_rows import put

Row = Mapping[str, Any]
Merging = Callable[[Path], Iterable[tuple[str, Path, int]]]
"""Writes files under a stage; returns the table of each, its path and rows."""
MANY_HOSTS = 32
MERGED_VERSION = 1
"""The merged tables, whose rows are copies."""


def write(
    folder: Path,
    run_id: str,
    manifests: Sequence[Manifest],
    tables: Mapping[str, Sequence[Row] | None],
    versions: Mapping[str, int],
    merging: Merging | None = None,
) -> None:
    """Stores the derived tables of a run. manifests: of its sources, of which the tables were made. tables:
    rows by table; None for one that is not to be stored. versions: of what made them. merging: writes tables
    of all sources into one file each.

    Nothing is announced when the run has changed meanwhile: the tables would be of other sources. LakeError
    when the lake cannot be written.
    """
    made_of = derived_tables.digest(manifests)
    with telling(folder), staged(folder) as stage:
        files = _write_tables(stage, run_id, made_of, tables, versions)
        made = [DerivedTable(table, versions[table], rows is not None) for table, rows in tables.items()]
        for table, part, rows in merging(stage) if merging else ():
            disk.sync_file(part)
            path = _place(table, run_id, ALL_HOSTS, made_of, MERGED_VERSION)
            files.append(
                (ManifestFile(table, path, part.stat().st_size, rows, reader.content_hash(part)), part)
            )
            made.append(DerivedTable(table, MERGED_VERSION, True))
        found = Derived(run_id, made_of, tuple(made), tuple(file for file, _ in files))
        plan = json.dumps({"files": [file.path for file in found.files]}).encode()
        disk.write_synced(stage / PLAN, plan)
        announcement = stage / f"{run_id}.json"
        disk.write_synced(announcement, found.to_json())
        disk.sync_folder(stage)
        with disk.locked(folder / STAGE / COMMIT_LOCK):
            current = derived_tables.group_by_run(reader.read_manifests(folder)).get(run_id, [])
            if derived_tables.digest(current) == made_of:
                _announce(folder, announcement, found, [part for _, part in files])
                (stage / PLAN).unlink()


def _write_tables(
    stage: Path,
    run_id: str,
    made_of: str,
    tables: Mapping[str, Sequence[Row] | None],
    versions: Mapping[str, int],
) -> list[tuple[ManifestFile, Path]]:
    """Writes and syncs one file for each table and host that has rows; each with its part under the stage.

    Tables of many hosts have one file for all: their rows say of which host they are."""
    parts: list[tuple[str, Store, str, Columns]] = []
    places = []
    for table, rows in tables.items():
        by_host: dict[str, list[Row]] = {}
        for row in rows or ():
            by_host.setdefault(row["host_id"], []).append(row)
        if len(by_host) > MANY_HOSTS:
            by_host = {ALL_HOSTS: list(rows or ())}
        for host_id, host_rows in sorted(by_host.items()):
            store = _core.build()
            put(store, table, host_rows, schema().table(table).names)
            part = stage / f"{len(parts)}.parquet"
            parts.append((str(part), store, table, plain_columns(schema().table(table))))
            places.append((table, _place(table, run_id, host_id, made_of, versions[table]), part))
    done = _core.write_parquet(parts, threads=config.threads()) if parts else []
    return [
        (ManifestFile(table, path, size, rows, digest), part)
        for (table, path, part), (size, rows, digest) in zip(places, done, strict=True)
    ]


def _place(table: str, run_id: str, host_id: str, made_of: str, version: int) -> str:
    """The path of a file within the lake. Readers may have the files of another version, or of fewer sources,
    open under their names."""
    identity = json.dumps([table, run_id, host_id, made_of]).encode()
    name = f"{hashlib.blake2b(identity, digest_size=16).hexdigest()}-{version}.parquet"
    return f"{table}/run={run_id}/host={host_id}/{name}"


def _announce(folder: Path, announcement: Path, found: Derived, parts: Sequence[Path]) -> None:
    """Gives the files their names and the run its derived tables. Under the commit lock."""
    (folder / FOLDER).mkdir(exist_ok=True)
    paths = (file.path for file in found.files)
    place(folder, zip(paths, parts, strict=True), changed=(folder / FOLDER,))
    old = derived_tables.read(folder, found.run_id)
    if old is not None and (gone := {file.path for file in old.files} - {file.path for file in found.files}):
        # Readers that opened the lake before may still read them.
        leftovers.retire(folder, sorted(gone))
    with disk.opened_folder(folder, (FOLDER,)) as opened:
        if opened is None:
            raise leftovers.linked(folder / FOLDER)
        os.replace(announcement, f"{found.run_id}.json", dst_dir_fd=opened)
    disk.sync_folder(folder / FOLDER)
