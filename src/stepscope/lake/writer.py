"""Writing a lake: stage, sync, publish, announce.

A source is written under _stage, every file synced, then given its names, and announced by its manifest.
Whatever ends the process in between leaves the lake as it was; the next ingest sweeps what no living
process owns. Folders:

    stepscope-lake.json                  version of the schema
    _manifest/<source_id>.json           one a source, the commit
    _snapshot/<number>.json              what compaction made of many, see stepscope.lake.snapshot
    _derived/<run>.json                  one a run, see stepscope.lake.derived_tables
    _stage/<name>/ + <name>.lock         a source being written; the lock dies with its writer
    _stage/commit.lock                   held while files get their names
    <table>/run=<run>/host=<host>/<content-hash>-<decoder-version>.parquet
    timeline/run=<run>/host=<host>/<content-hash>-<decoder-version>.lod     slices as the page draws them
"""

import contextlib
import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from stepscope import _core, config
from stepscope.errors import LakeError
from stepscope.lake import disk, leftovers, manifest, marker_file, reader
from stepscope.lake.claims import check_free, claim, manifest_of
from stepscope.lake.decoded_source import Decoded
from stepscope.lake.leftovers import COMMIT_LOCK, PLAN, STAGE, Swept
from stepscope.lake.manifest import TIMELINE, Manifest, ManifestFile
from stepscope.lake.placement import place
from stepscope.lake.reader import MANIFESTS
from stepscope.lake.relation import plain_columns, stored_columns
from stepscope.lake.rows import placed, small_tables, source_row
from stepscope.lake.schema import schema
from stepscope.sources.user_paths import LAKE_MARK, is_lake


def create(folder: Path) -> Swept:
    """Makes a lake, or checks that the one there is of this version. Sweeps leftovers."""
    disk.need_keeping(folder)
    with telling(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for inner in (MANIFESTS, STAGE):
            (folder / inner).mkdir(exist_ok=True)
            with disk.opened_folder(folder, (inner,)) as opened:
                if opened is None:
                    raise leftovers.linked(folder / inner)
        disk.sync_folder(folder)
        if not is_lake(folder):
            others = any(path.name not in (MANIFESTS, STAGE) for path in folder.iterdir())
            # Another writer may have made the lake since; the mark is always the first file.
            if others and not is_lake(folder):
                raise marker_file.other_contents(str(folder), "files")
            part = folder / STAGE / f"{os.urandom(16).hex()}.mark"
            disk.write_synced(part, marker_file.written())
            if not disk.put_if_absent(part, folder / LAKE_MARK):
                part.unlink()
            disk.sync_folder(folder)
        marker_file.check(folder)
        return leftovers.sweep(folder)


@contextlib.contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A folder of this process under _stage, removed at the end in any case."""
    name = os.urandom(16).hex()
    stage = folder / STAGE / name
    lock = folder / STAGE / f"{name}.lock"
    with telling(folder), disk.locked(lock):
        stage.mkdir()
        try:
            yield stage
        finally:
            # Files that cannot be removed now (a full or failing disk) are left for the next sweep.
            with contextlib.suppress(OSError, LakeError):
                leftovers.undo(folder, name)
                lock.unlink(missing_ok=True)


def write(folder: Path, stage: Path, decoded: Decoded, threads: int = 0) -> Manifest:
    """Writes a decoded source and announces it. Returns the manifest that is in the lake then.

    Nothing is written when the lake has the same bytes under the same run and host already, and their files
    are there: what somebody removed is written again. LakeError
    when writing fails or the ids of two sources clash: the source is not in the lake then, and what was
    written of it is taken back.
    """
    with telling(folder):
        source = placed(decoded.source, decoded.facts)
        wanted = decoded._replace(source=source)
        while True:
            source_id, known = claim(partial(manifest_of, folder), wanted)
            if known is not None and not is_older(known, wanted) and reader.is_whole(folder, known):
                return known
            files = write_tables(stage, wanted, source_id, threads)
            row = source_row(source, source_id, wanted.facts, wanted.error)
            made = Manifest(schema().version, row, tuple(files), source.identity, source.member)
            if _publish(folder, stage, made, replacing=known):
                return made
            # Another writer has written the same source since its number was claimed.


def is_older(known: Manifest, decoded: Decoded) -> bool:
    """Whether the lake has a source from an older decoder."""
    return known.source.decoder_version < int(decoded.facts.get("decoder_version", 0))


def write_tables(stage: Path, decoded: Decoded, source_id: int, threads: int) -> list[ManifestFile]:
    """Writes and syncs the tables of a source under the stage, and its timeline."""
    source, store = decoded.source, decoded.store
    small = _core.build()
    for name, rows in small_tables(source, source_id, decoded.facts, decoded.error).items():
        if rows:
            small.replace(name, dict(zip(schema().table(name).names, zip(*rows, strict=True), strict=True)))
    row = source_row(source, source_id, decoded.facts, decoded.error)
    # The hash of an unreadable source may be unknown; its number serves as its name.
    base = f"{row.content_hash or f'{source_id}'}-{row.decoder_version}"
    place = f"run={source.run_id}/host={source.host_id}/{base}"
    parts, paths = [], []
    for table in schema().tables:
        if small.tables().get(table.name):
            columns, where = plain_columns(table), small
        elif store is not None and store.tables().get(table.name):
            columns, where = stored_columns(table, source_id, source.run_id, source.host_id), store
        else:
            continue
        part = stage / f"{table.name}.parquet"
        part.unlink(missing_ok=True)
        parts.append((str(part), where, table.name, columns))
        paths.append((table.name, f"{table.name}/{place}.parquet"))
    done = _core.write_parquet(parts, threads=threads or config.threads())
    if store is not None and store.tables().get("slice"):
        # The page's timeline maps it. Made of the Parquet files it takes 4 s for 10 M slices at each opening.
        part = stage / f"{TIMELINE}.lod"
        part.unlink(missing_ok=True)
        done.append(_core.write_lod(str(part), store))
        paths.append((TIMELINE, f"{TIMELINE}/{place}.lod"))
    return [
        ManifestFile(table, path, size, rows, digest)
        for (table, path), (size, rows, digest) in zip(paths, done, strict=True)
    ]


def staged_as(stage: Path, file: ManifestFile) -> Path:
    """The path of a file from write_tables()."""
    return stage / f"{file.table}{Path(file.path).suffix}"


def _publish(folder: Path, stage: Path, made: Manifest, replacing: Manifest | None) -> bool:
    """Gives the staged files their names and announces them; False when the number was taken meanwhile."""
    name = manifest.file_name(made.source.source_id)
    announced = folder / MANIFESTS / name
    plan = json.dumps({"manifest": name, "files": [file.path for file in made.files]}).encode()
    staged_manifest = stage / name
    for leftover in (stage / PLAN, staged_manifest):
        leftover.unlink(missing_ok=True)
    disk.write_synced(stage / PLAN, plan)
    disk.write_synced(staged_manifest, made.to_json())
    disk.sync_folder(stage)
    with disk.locked(folder / STAGE / COMMIT_LOCK):
        existing = manifest_of(folder, made.source.source_id)
        if existing != replacing:
            (stage / PLAN).unlink()
            return False
        if replacing is None:
            check_free(partial(manifest_of, folder), made)
        place(folder, ((file.path, staged_as(stage, file)) for file in made.files))
        if replacing is not None and replacing.packed is None:
            leftovers.retire(folder, [file.path for file in replacing.files])
            staged_manifest.replace(announced)
        elif not disk.put_if_absent(staged_manifest, announced):
            raise disk.written_without_lock(name, announced)
        try:
            disk.sync_folder(announced.parent)
        except OSError:
            # It may not survive a power cut, so it must not be announced.
            if replacing is None:
                announced.unlink(missing_ok=True)
            raise
        (stage / PLAN).unlink(missing_ok=True)
    return True


@contextlib.contextmanager
def telling(folder: Path) -> Iterator[None]:
    """Turns failures of the disk and of the core into LakeError, while the lake is written."""
    try:
        yield
    except OSError as error:
        raise _unwritable(folder, f"{error.strerror or error}: {error.filename or folder}") from error
    except _core.CoreError as error:
        raise _unwritable(folder, error.seen) from error


def _unwritable(folder: Path, seen: str) -> LakeError:
    return LakeError(
        "The lake cannot be written.",
        seen=seen,
        todo="check that its disk has space and that you may write there; what is in the lake is whole, "
        "so run the same command again",
        path=str(folder),
    )
