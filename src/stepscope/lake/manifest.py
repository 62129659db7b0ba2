"""The manifest of a source in a lake: what was read, and every file that holds its rows.

A lake's manifests are its truth: readers read the files they list and no others. A manifest is written
last, so a source is in the lake wholly or not at all. Compaction puts the manifests of many sources into one
snapshot, see stepscope.lake.snapshot.
"""

import re
from pathlib import Path
from typing import NamedTuple

from stepscope import strict_json
from stepscope.errors import LakeError
from stepscope.lake.rows import SourceRow
from stepscope.lake.schema import schema

_NAME = re.compile(r"[a-z][a-z0-9._-]{0,150}")
_OWN_PATH = re.compile(
    r"([a-z_]{1,64})/run=[a-z][a-z0-9._-]{0,150}/host=[a-z][a-z0-9._-]{0,150}/"
    r"(?:[0-9a-f]{16,64}|[0-9]{9,20})-[0-9]{1,9}\.(parquet|lod)"
)
TIMELINE = "timeline"
"""The slices of a source in the form that the page's timeline maps, beside those in its table.

It is not a table: engines do not see it. It belongs to one source, since each clock is shifted by itself.
So compaction leaves it as it is, and the snapshot says whose it is. A source without one is drawn from the
table of slices.
"""


class ManifestFile(NamedTuple):
    """A file of a source: its table, or TIMELINE, its path within the lake, size, rows and hash."""

    table: str
    path: str
    bytes: int
    rows: int
    hash: str


class Manifest(NamedTuple):
    """One source in a lake."""

    schema_version: int
    source: SourceRow
    files: tuple[ManifestFile, ...]
    identity: tuple[str, int, int, int, int] | None
    """Absolute path, size, mtime_ns, ctime_ns and inode of the file it was read from, to know it again."""
    member: str
    packed: str | None = None
    """Rows by table (`slice=307 track=3`) of a source in the shared files of a snapshot, where only TIMELINE
    is its own; None for a source with files of its own."""

    @property
    def timeline(self) -> ManifestFile | None:
        """The file that the page's timeline maps, if the source has one."""
        return next((file for file in self.files if file.table == TIMELINE), None)

    @property
    def rows(self) -> dict[str, int]:
        """Rows by table."""
        if self.packed is None:
            return {file.table: file.rows for file in self.files if file.table != TIMELINE}
        return {table: int(rows) for table, _, rows in (part.partition("=") for part in self.packed.split())}

    def to_json(self) -> bytes:
        """The file's bytes."""
        members = {key: value for key, value in self._asdict().items() if key != "packed"} | {
            "source": self.source._asdict(),
            "files": [file._asdict() for file in self.files],
        }
        return strict_json.sealed(members)


def file_name(source_id: int) -> str:
    """Name of the manifest of a source."""
    return f"{source_id:019d}.json"


def table_of(path: str) -> str | None:
    """The table, or TIMELINE, whose file may have this name within a lake; None for names that stepscope does
    not give. Every path from a file of the lake passes this check before it is opened or removed."""
    match = _OWN_PATH.fullmatch(path)
    if match is None or (match[1] != TIMELINE if match[2] == "lod" else match[1] not in schema().names):
        return None
    return match[1]


def read(path: Path) -> Manifest:
    """Reads a manifest. LakeError when it is damaged."""
    try:
        return _manifest(strict_json.read(path), path.name, str(path))
    except strict_json.OddJson as error:
        raise _damaged(str(path), str(error)) from None
    except OSError as error:
        raise _damaged(str(path), error.strerror or str(error)) from None


def parsed(data: bytes, source_id: int, shown: str) -> Manifest:
    """The manifest of a source from the bytes of its file, which is shown as `shown`. LakeError when it is
    damaged."""
    try:
        return _manifest(strict_json.parse(data), file_name(source_id), shown)
    except strict_json.OddJson as error:
        raise _damaged(shown, str(error)) from None


def _manifest(value: object, name: str, shown: str) -> Manifest:
    """The manifest of a value of JSON in a file of that name. OddJson; LakeError."""
    found = strict_json.unsealed(value)
    if not isinstance(found.get("files"), list):
        raise strict_json.OddJson("it is not a manifest")
    parts = {
        "source": strict_json.record(SourceRow, found.get("source")),
        "files": tuple(strict_json.record(ManifestFile, record) for record in found["files"]),
        "identity": identity_of(found.get("identity")),
        "packed": None,
    }
    manifest = strict_json.record(Manifest, {**found, "packed": None}, parts)
    source = manifest.source
    if name != file_name(source.source_id):
        raise _damaged(shown, f"it speaks of source {source.source_id}")
    for id_ in (source.run_id, source.host_id):
        # They become names of folders and files, even if no file of the source shows them.
        if not is_name(id_):
            raise _damaged(shown, f"a run or host is called {id_!r}")
    for file in manifest.files:
        place = f"{file.table}/run={source.run_id}/host={source.host_id}/"
        if table_of(file.path) != file.table or not file.path.startswith(place):
            raise _damaged(shown, f"it lists {file.path}, which is not a file of table {file.table}")
    return manifest


def is_name(name: str) -> bool:
    """Whether a run or host may have this name in a lake."""
    return _NAME.fullmatch(name) is not None


def identity_of(found: object) -> tuple[str, int, int, int, int] | None:
    if found is None:
        return None
    if isinstance(found, list) and len(found) == 5 and isinstance(found[0], str):
        path, *numbers = found
        if all(isinstance(number, int) and not isinstance(number, bool) for number in numbers):
            size, mtime_ns, ctime_ns, inode = numbers
            return path, size, mtime_ns, ctime_ns, inode
    raise strict_json.OddJson("'identity' is not a path and four numbers")


def _damaged(shown: str, seen: str) -> LakeError:
    return LakeError(
        "A manifest of the lake is damaged.",
        seen=seen,
        todo=f"remove {shown.rpartition('/')[2]} and ingest its source again; the other sources are not "
        "affected",
        path=shown,
    )
