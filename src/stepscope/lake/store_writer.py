"""Writing a lake in an object store, which has neither locks nor rename.

    stepscope-lake.json                       version of the schema, put if absent
    _manifest/<source_id>.json                one a source, the commit, put if absent
    _manifest/<source_id>-<decoder>.json      the same source decoded by a newer version: the newest counts
    _derived/<run>.json                       one a run, replaced; used only while its run is as it says
    _snapshot/<number>.json                   what compaction made, put if absent: the highest number counts
    _stage/<name>.json                        files that a writer is about to put, or that are replaced
    <table>/run=<run>/host=<host>/<hash>-<decoder>.parquet
    timeline/run=<run>/host=<host>/<hash>-<decoder>.lod

A file is named after its own content, so putting it again changes nothing. It counts once a manifest
that lists it was put where none was. Whatever ends a writer in between leaves a list under _stage: a day
later, by the store's own clock, the next ingest removes what that list names and no manifest does. A writer
that took half as long puts its files anew before it commits, so that nobody sweeps them under its hands.
"""

import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from stepscope import strict_json
from stepscope.errors import LakeError
from stepscope.lake import derived_tables, manifest, marker_file, snapshot_writer
from stepscope.lake import snapshot as snapshots
from stepscope.lake.claims import check_free, claim, manifest_of
from stepscope.lake.decoded_source import Decoded
from stepscope.lake.leftovers import STAGE, Swept
from stepscope.lake.manifest import Manifest, ManifestFile
from stepscope.lake.mirror import Mirror
from stepscope.lake.reader import MANIFESTS, content_hash
from stepscope.lake.rows import placed, source_row
from stepscope.lake.schema import schema
from stepscope.lake.snapshot import Packed
from stepscope.lake.writer import is_older, staged_as, write_tables
from stepscope.sources import stores
from stepscope.sources.stores import MissingObject, Object, Store
from stepscope.sources.user_paths import LAKE_MARK

OLD = timedelta(days=1)
_PATIENCE_SECONDS = 12 * 3600
_PLAN = re.compile(rf"{STAGE}/[0-9a-f]{{32}}\.json")
_MOST_PLAN_BYTES = 16 << 20


def create(mirror: Mirror) -> Swept:
    """Makes a lake at the mirror's URL, or checks that the one there is of this version. Sweeps leftovers.
    LakeError when the store does not refuse to replace what is there, which commits depend on."""
    store = mirror.store
    now = _probe(store)
    if not _is_lake(store):
        others = any(not stored.key.startswith(f"{STAGE}/") for stored in store.objects())
        # Another writer may have made the lake since; the mark is always the first object.
        if others and not _is_lake(store):
            raise marker_file.other_contents(mirror.url, "objects")
        store.put_if_absent(LAKE_MARK, marker_file.written())
    mirror.lake()
    return sweep(mirror, now)


def _is_lake(store: Store) -> bool:
    try:
        store.head(LAKE_MARK)
    except MissingObject:
        return False
    return True


def _probe(store: Store) -> datetime:
    """The store's time. LakeError when it replaces an object that it must not replace."""
    key = f"{STAGE}/{os.urandom(16).hex()}.json"
    try:
        if not store.put_if_absent(key, b'{"files": []}'):
            raise _unconditional(store, "an object that nobody had written was there")
        now = store.head(key).modified
        if store.put_if_absent(key, b'{"files": [ ]}'):
            raise _unconditional(store, "a second object took the place of the first")
        return now
    finally:
        store.delete([key])


def _unconditional(store: Store, seen: str) -> LakeError:
    return LakeError(
        "The store cannot write only if absent, so a lake there would lose what two writers commit at once.",
        seen=seen,
        todo="use a store or a version of it with conditional writes (If-None-Match), or make the lake on a "
        "disk and copy it",
        path=store.url,
    )


def write(mirror: Mirror, stage: Path, decoded: Decoded, threads: int = 0) -> Manifest:
    """Writes a decoded source and announces it. Returns the manifest that is in the lake then. stage: a
    folder here for its files. LakeError when writing fails or the ids of two sources clash: the source is not
    in the lake then."""
    source = placed(decoded.source, decoded.facts)
    wanted = decoded._replace(source=source)
    find = _found_by(mirror)
    source_id, known = claim(find, wanted)
    if known is not None and not is_older(known, wanted) and not _is_gone(mirror, known):
        return known
    files = [_named_by_content(file) for file in write_tables(stage, wanted, source_id, threads)]
    row = source_row(source, source_id, wanted.facts, wanted.error)
    made = Manifest(schema().version, row, tuple(files), source.identity, source.member)
    if known is None:
        check_free(partial(manifest_of, mirror.folder), made)
    elif not is_older(known, wanted) and (broken := _key_of(mirror, known)) is not None:
        # Its files are gone, so it is no longer true.
        mirror.store.delete([broken])
    parts = [(file.path, staged_as(stage, file)) for file in files]
    key = f"{MANIFESTS}/{_name(made, first=known is None)}"
    put_files(mirror.store, parts, lambda: mirror.store.put_if_absent(key, made.to_json()))
    _keep(mirror, parts)
    # Another writer may have been first, with the same rows and names, or with a newer decoder.
    existing = find(source_id)
    return made if existing is None else existing


def _name(made: Manifest, *, first: bool) -> str:
    name = manifest.file_name(made.source.source_id)
    return name if first else f"{name.removesuffix('.json')}-{made.source.decoder_version}.json"


def _named_by_content(file: ManifestFile) -> ManifestFile:
    """The file under a name from its bytes: the same source may give other bytes with another writer."""
    above, _, name = file.path.rpartition("/")
    return file._replace(path=f"{above}/{file.hash}-{name.rpartition('-')[2]}")


def _found_by(mirror: Mirror) -> Callable[[int], Manifest | None]:
    """Finds the manifest of a source in the store as it is now, or in the snapshot that is here."""

    def find(source_id: int) -> Manifest | None:
        name = manifest.file_name(source_id)
        listed = mirror.store.keys_from(f"{MANIFESTS}/{name.removesuffix('.json')}")
        newest: tuple[int, str] | None = None
        for key in listed:
            version = key.removesuffix(".json").partition("-")[2]
            if newest is None or int(version or 0) > newest[0]:
                newest = int(version or 0), key
        if newest is not None:
            try:
                return manifest.parsed(mirror.store.get(newest[1]), source_id, f"{mirror.url}/{newest[1]}")
            except MissingObject:
                pass  # it moved into a snapshot, which the next listing has
        current = snapshots.current(mirror.folder)
        return None if current is None else current.by_id.get(source_id)

    return find


def _key_of(mirror: Mirror, known: Manifest) -> str | None:
    if known.packed is not None:
        return None
    name = manifest.file_name(known.source.source_id).removesuffix(".json")
    return max(mirror.store.keys_from(f"{MANIFESTS}/{name}"), default=None)


def _is_gone(mirror: Mirror, known: Manifest) -> bool:
    """Whether a file of a source is no longer in the store."""
    for file in known.files:
        try:
            if mirror.store.head(file.path).size != file.bytes:
                return True
        except MissingObject:
            return True
    return False


def put_files(store: Store, parts: Sequence[tuple[str, Path]], commit: Callable[[], bool]) -> bool:
    """Puts files, then commits; returns the result of the commit. Their list under _stage remains only if the
    process dies."""
    while True:
        plan, begun = _listed(store, [path for path, _ in parts]), time.monotonic()
        for _ in stores.parallel(lambda part: store.put(*part), parts):
            pass
        if time.monotonic() - begun < _PATIENCE_SECONDS:
            break
        # So slow that a sweep may come before the commit: the files are put again, under a new list.
    done = commit()
    store.delete([plan])
    return done


def _listed(store: Store, paths: Sequence[str]) -> str:
    """Puts a list of files under _stage; its key."""
    key = f"{STAGE}/{os.urandom(16).hex()}.json"
    store.put(key, json.dumps({"files": list(paths)}).encode())
    return key


def _keep(mirror: Mirror, parts: Iterable[tuple[str, Path]]) -> None:
    """Keeps uploaded files in the mirror: they will be read soon."""
    for path, part in parts:
        target = mirror.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        part.replace(target)


def sweep(mirror: Mirror, now: datetime) -> Swept:
    """Removes what dead writers left, and what was replaced, a day ago by the store's clock."""
    store = mirror.store
    old = [stored for stored in store.objects(STAGE) if now - stored.modified > OLD]
    refused = [(stored.key, "it is not a list of files") for stored in old if not _PLAN.fullmatch(stored.key)]
    plans = [stored for stored in old if _PLAN.fullmatch(stored.key)]
    removed = _sweep_plans(mirror, plans, refused, now) if plans else 0
    return Swept(removed + _past_snapshots(mirror, now), tuple(refused))


def _sweep_plans(
    mirror: Mirror, plans: Sequence[Object], refused: list[tuple[str, str]], now: datetime
) -> int:
    """Removes old files that plans name and no manifest lists, and the plans: how many. refused: plans that
    cannot be read, which is added to."""
    store = mirror.store
    named: set[str] = set()
    for plan in plans:
        paths = _paths(store, plan.key)
        if paths is None:
            refused.append((plan.key, "it is not a list of files"))
        named.update(paths or ())
    lake = mirror.lake()
    listed = {file.path for file in lake.files_of()}
    listed |= {file.path for derived in derived_tables.read_all(mirror.folder) for file in derived.files}
    gone = [path for path in sorted(named - listed) if _is_old(store, path, now)]
    store.delete(gone)
    store.delete([plan.key for plan in plans if plan.key not in dict(refused)])
    return len(plans) - sum(plan.key in dict(refused) for plan in plans)


def _is_old(store: Store, path: str, now: datetime) -> bool:
    """Whether a file is so old that no writer will announce it."""
    try:
        return now - store.head(path).modified > OLD
    except MissingObject:
        return False


def _paths(store: Store, key: str) -> list[str] | None:
    """The files of a list under _stage; None when the object is no such list."""
    try:
        found = strict_json.parse(store.get(key)[:_MOST_PLAN_BYTES])
    except (MissingObject, strict_json.OddJson):
        return None
    paths = found.get("files") if isinstance(found, dict) else None
    if not isinstance(paths, list):
        return None
    return [path for path in paths if isinstance(path, str) and manifest.table_of(path) is not None]


def _past_snapshots(mirror: Mirror, now: datetime) -> int:
    """Removes the files of snapshots that another one followed a day ago or more."""
    current = snapshots.current(mirror.folder)
    if current is None:
        return 0
    parts = {current.commit.sources.name, current.commit.files.name}
    gone = []
    for stored in mirror.store.objects(snapshots.FOLDER):
        name = stored.key.rpartition("/")[2]
        number = snapshots.number_of(name)
        past = number is not None and number < current.number
        past |= snapshots.is_part(name) and name not in parts
        if past and now - stored.modified > OLD:
            gone.append(stored.key)
    mirror.store.delete(gone)
    return len(gone)


def publish_derived(mirror: Mirror, run_id: str, before: derived_tables.Derived | None) -> None:
    """Puts the local derived tables of a run into the store. before: those of the store."""
    made = derived_tables.read(mirror.folder, run_id)
    if made is None or made == before:
        return
    store = mirror.store
    key = f"{derived_tables.FOLDER}/{run_id}.json"

    def announce() -> bool:
        store.put(key, made.to_json())
        return True

    put_files(store, [(file.path, mirror.folder / file.path) for file in made.files], announce)
    past = {file.path for file in before.files} - {file.path for file in made.files} if before else ()
    if past:
        _listed(store, sorted(past))


def write_snapshot(
    mirror: Mirror,
    stage: Path,
    run_id: str,
    absorbed: Sequence[Manifest],
    made: Sequence[tuple[Packed, Path]],
    lost: Collection[str] = (),
) -> bool:
    """Announces the files of a compacted run, which lie under the stage. lost: paths of timelines that are to
    be left out. False when somebody else committed a
    snapshot meanwhile: then nothing was done. A source that was decoded anew meanwhile has a manifest that
    the snapshot does not have; that one counts."""
    store = mirror.store
    before = snapshots.current(mirror.folder)
    after = snapshot_writer.next_of(before, run_id, absorbed, [file for file, _ in made], lost)
    keys = [key for past in absorbed if past.packed is None and (key := mirror.key_of(past.source.source_id))]
    found = []
    for kind, rows in (
        ("sources", snapshot_writer.source_rows(after)),
        ("files", snapshot_writer.file_rows(after)),
    ):
        path = stage / f"{kind}.parquet"
        snapshot_writer.write_part(path, *rows)
        digest = content_hash(path)
        part = snapshots.SnapshotFile(f"{digest}-{kind}.parquet", path.stat().st_size, digest)
        store.put(f"{snapshots.FOLDER}/{part.name}", path)
        found.append(part)
    commit = snapshots.Commit(schema().version, *found).to_json()
    past = snapshot_writer.past_of(before, run_id, absorbed, made, lost)
    # Before the commit: files in it are removed a day later, and only if no manifest lists them then.
    retired = _listed(store, past) if past else None
    key = f"{snapshots.FOLDER}/{snapshots.name_of(after.number)}"
    parts = [(file.path, path) for file, path in made]
    if not put_files(store, parts, lambda: store.put_if_absent(key, commit)):
        if retired is not None:
            store.delete([retired])
        return False
    store.delete(keys)
    _keep(mirror, parts)
    return True
