"""A snapshot: the manifests of many sources in one place, and the files that hold their rows together.

Compaction (see stepscope.lake.snapshot_writer) makes one file for each table and run of the files of its
sources. What a lake holds is then said by

    _snapshot/<number>.json               the commit: the highest number counts
    _snapshot/<hash>-sources.parquet      one row a source: what its manifest said
    _snapshot/<hash>-files.parquet        one row a file, with its run and its first and last host
    <table>/run=<run>/host=all/<hash>-<version>.parquet

Timelines stay files of their sources, see stepscope.lake.manifest.TIMELINE. What came after the snapshot
has single manifests. A source that has a manifest of its own (a newer decoder read it, or a file of the
snapshot is gone) is read from that one's files; its rows in the files of the snapshot do not count, see
reader.Lake.files_of. Manifests are read before the snapshot: a source that moves into it meanwhile is then
seen twice, which does no harm, and never not at all.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core, strict_json
from stepscope.engines.duckdb.parquet import Odd, rows_of_file
from stepscope.errors import LakeError
from stepscope.lake.manifest import TIMELINE, Manifest, ManifestFile, identity_of, is_name, table_of
from stepscope.lake.patterns import plain_folder
from stepscope.lake.rows import SourceRow
from stepscope.lake.schema import schema

FOLDER = "_snapshot"
ALL_HOSTS = "all"
"""The host in the paths of files with rows of several hosts."""
_NAME = re.compile(r"([0-9]{12})\.json")
_PART = re.compile(r"[0-9a-f]{16,64}-(?:sources|files)\.parquet")
_ROWS = re.compile(r"(?:[a-z_]{1,64}=[0-9]{1,18}(?: [a-z_]{1,64}=[0-9]{1,18})*)?")

FILE_COLUMNS = (
    ("table_name", "VARCHAR"), ("path", "VARCHAR"), ("bytes", "BIGINT"), ("row_count", "BIGINT"),
    ("hash", "VARCHAR"), ("run_id", "VARCHAR"), ("first_host", "VARCHAR"), ("last_host", "VARCHAR"),
)  # fmt: skip
SOURCE_COLUMNS = (
    *((column.name, column.type) for column in schema().table("source").columns),
    *(("identity", "VARCHAR"), ("member", "VARCHAR"), ("rows_by_table", "VARCHAR")),
    ("timeline", "VARCHAR"),
)
"""The last is JSON: path, bytes, rows and hash of the timeline of a source; NULL where it has none."""


class Packed(NamedTuple):
    """A file that holds rows of several sources of a run, sorted by host."""

    table: str
    path: str
    bytes: int
    rows: int
    hash: str
    run_id: str
    first_host: str
    last_host: str


class SnapshotFile(NamedTuple):
    """A Parquet file of the snapshot itself."""

    name: str
    bytes: int
    hash: str


class Commit(NamedTuple):
    """The content of a snapshot's file."""

    schema_version: int
    sources: SnapshotFile
    files: SnapshotFile

    def to_json(self) -> bytes:
        """The file's bytes."""
        members = {"sources": self.sources._asdict(), "files": self.files._asdict()}
        return strict_json.sealed({"schema_version": self.schema_version, **members})


@dataclass(frozen=True)
class Snapshot:
    """A snapshot, read."""

    number: int
    commit: Commit
    manifests: tuple[Manifest, ...]
    files: tuple[Packed, ...]

    @cached_property
    def by_id(self) -> Mapping[int, Manifest]:
        """The manifests by source_id."""
        return {manifest.source.source_id: manifest for manifest in self.manifests}

    @cached_property
    def by_run(self) -> Mapping[str, Sequence[Packed]]:
        """The files of each run."""
        found: dict[str, list[Packed]] = {}
        for file in self.files:
            found.setdefault(file.run_id, []).append(file)
        return found


def name_of(number: int) -> str:
    """Name of the file of a snapshot."""
    return f"{number:012d}.json"


def number_of(name: str) -> int | None:
    """The number of the snapshot with this file name."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


def parts_named(path: Path) -> tuple[str, str]:
    """The names of the Parquet files that a snapshot's own file names. LakeError when it is damaged."""
    commit = _commit(path)
    return commit.sources.name, commit.files.name


def is_part(name: str) -> bool:
    """Whether a Parquet file of a snapshot may have this name."""
    return _PART.fullmatch(name) is not None


def current(folder: Path) -> Snapshot | None:
    """The snapshot of a lake; None when there is none. LakeError when it is damaged."""
    while True:
        try:
            names = os.listdir(folder / FOLDER)  # noqa: PTH208 - many, and only names
        except (FileNotFoundError, NotADirectoryError):
            return None
        number = max((number for name in names if (number := number_of(name)) is not None), default=None)
        if number is None:
            return None
        path = folder / FOLDER / name_of(number)
        try:
            status = path.stat()
        except FileNotFoundError:
            continue  # a newer one replaced it in between
        try:
            return _read(folder, number, (status.st_size, status.st_mtime_ns, status.st_ino))
        except LakeError:
            if path.exists():
                raise


@lru_cache(maxsize=4)
def _read(folder: Path, number: int, _: tuple[int, ...]) -> Snapshot:
    """The snapshot of that number. The last argument distinguishes it from another one of the same name."""
    path = folder / FOLDER / name_of(number)
    commit = _commit(path)
    files = tuple(Packed(*row) for row in _rows(folder, commit.files, FILE_COLUMNS))
    for file in files:
        _check(path, file)
    sources = _rows(folder, commit.sources, SOURCE_COLUMNS)
    manifests = tuple(_manifest(path, commit.schema_version, row) for row in sources)
    return Snapshot(number, commit, manifests, files)


def _commit(path: Path) -> Commit:
    try:
        found = strict_json.unsealed(strict_json.read(path))
        parts = {key: strict_json.record(SnapshotFile, found.get(key)) for key in ("sources", "files")}
        commit = strict_json.record(Commit, found, parts)
    except strict_json.OddJson as error:
        raise _damaged(path, str(error)) from None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    for part in (commit.sources, commit.files):
        if not is_part(part.name):
            raise _damaged(path, f"{part.name!r} is not the name of a snapshot's file")
    return commit


def _rows(folder: Path, part: SnapshotFile, columns: Sequence[tuple[str, str]]) -> list[tuple[Any, ...]]:
    """The rows of a Parquet file of the snapshot, after comparison with its hash."""
    path = folder / FOLDER / part.name
    try:
        if _core.hash_file(str(path)) != part.hash:
            raise _damaged(path, "its bytes are not those that were written")
        with plain_folder(folder) as plain:
            return rows_of_file(plain / FOLDER / part.name, columns)
    except (Odd, _core.CoreError) as error:
        raise _damaged(path, str(error)) from None


def _check(path: Path, file: Packed) -> None:
    if any(value is None for value in file) or file.bytes < 0 or file.rows < 0:
        raise _damaged(path, f"it lists a file with nothing where a value belongs: {file.path}")
    place = f"{file.table}/run={file.run_id}/host={ALL_HOSTS}/"
    is_table_file = table_of(file.path) == file.table != TIMELINE
    if not is_table_file or not file.path.startswith(place):
        raise _damaged(path, f"it lists {file.path}, which is not a file of table {file.table}")


_SOURCE_FIELDS = len(SourceRow._fields)
_NEEDED = [at for at, hint in enumerate(SourceRow.__annotations__.values()) if "None" not in str(hint)]
"""Indexes of the fields that always have a value."""


def _manifest(path: Path, version: int, row: tuple[Any, ...]) -> Manifest:
    source = SourceRow(*row[:_SOURCE_FIELDS])
    identity, member, rows, timeline = row[_SOURCE_FIELDS:]
    if any(value is None for value in (*(source[at] for at in _NEEDED), member, rows)):
        raise _damaged(path, f"source {source.source_id} has nothing where a value belongs")
    if not (is_name(source.run_id) and is_name(source.host_id)):
        raise _damaged(path, f"a run or host is called {source.run_id!r}, {source.host_id!r}")
    if not _ROWS.fullmatch(rows):
        raise _damaged(path, f"source {source.source_id} has rows {rows[:40]!r}")
    try:
        known = identity_of(None if identity is None else strict_json.parse(identity.encode()))
        files = () if timeline is None else (_timeline(strict_json.parse(timeline.encode()), source),)
    except strict_json.OddJson as error:
        raise _damaged(path, str(error)) from None
    return Manifest(version, source, files, known, member, rows)


def _timeline(found: object, source: SourceRow) -> ManifestFile:
    """The file of a source's timeline. OddJson when it is none."""
    if not isinstance(found, list) or [type(member) for member in found] != [str, int, int, str]:
        raise strict_json.OddJson(f"the timeline of source {source.source_id} is not a file")
    file = ManifestFile(TIMELINE, *found)
    place = f"{TIMELINE}/run={source.run_id}/host={source.host_id}/"
    if table_of(file.path) != TIMELINE or not file.path.startswith(place) or min(file.bytes, file.rows) < 0:
        raise strict_json.OddJson(f"it lists {file.path}, which is not a timeline of its source")
    return file


def _damaged(path: Path, seen: str) -> LakeError:
    return LakeError(
        "The snapshot of the lake is damaged.",
        seen=seen,
        todo=f"restore the folder {FOLDER} from a copy of the lake, or remove it and ingest the compacted "
        "runs again; what was ingested since is not affected",
        path=str(path),
    )
