"""The manifest of a source in a lake: what was read, and every file that holds its rows.

A lake's manifests are its truth: readers read the files they list and no others. A manifest is written
last, so a source is in the lake wholly or not at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import strict_json
from stepscope.errors import LakeError
from stepscope.lake.rows import SourceRow
from stepscope.lake.schema import schema

_OWN_PATH = re.compile(
    r"([a-z_]{1,64})/run=[a-z][a-z0-9._-]{0,150}/host=[a-z][a-z0-9._-]{0,150}/"
    r"(?:[0-9a-f]{16,64}|[0-9]{9,20})-[0-9]{1,9}\.parquet"
)


class File(NamedTuple):
    """A Parquet file of a source: its table, its path within the lake, size, rows and hash."""

    table: str
    path: str
    bytes: int
    rows: int
    hash: str


class Manifest(NamedTuple):
    """One source in a lake."""

    schema_version: int
    source: SourceRow
    files: tuple[File, ...]
    identity: tuple[str, int, int, int] | None
    """Absolute path, size, mtime_ns and inode of the file it was read from, to know it again."""
    member: str

    def to_json(self) -> bytes:
        """The file's bytes."""
        told = self._asdict() | {
            "source": self.source._asdict(),
            "files": [file._asdict() for file in self.files],
        }
        return sealed(told)


def file_name(source_id: int) -> str:
    """Name of the manifest of a source."""
    return f"{source_id:019d}.json"


def sealed(told: dict[str, Any]) -> bytes:
    """The bytes of a manifest with a digest of what it says: rows of sources are answers, too."""
    return (json.dumps({**told, "digest": _digest(told)}, indent=1, sort_keys=True) + "\n").encode()


def _digest(told: dict[str, Any]) -> str:
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def table_of(path: str) -> str | None:
    """The table whose file may be called so within a lake; None when stepscope gives no such name.

    Whatever is opened or removed by a path that a file of the lake names has been through this.
    """
    match = _OWN_PATH.fullmatch(path)
    return match[1] if match and match[1] in schema().names else None


def read(path: Path) -> Manifest:
    """Reads a manifest. LakeError when it is damaged."""
    try:
        found = strict_json.read(path)
        if not isinstance(found, dict) or not isinstance(found.get("files"), list):
            raise strict_json.OddJson("it is not a manifest")
        if found.pop("digest", None) != _digest(found):
            raise strict_json.OddJson("it does not say what was written")
        parts = {
            "source": strict_json.record(SourceRow, found.get("source")),
            "files": tuple(strict_json.record(File, one) for one in found["files"]),
            "identity": _identity(found.get("identity")),
        }
        manifest = strict_json.record(Manifest, found, parts)
    except strict_json.OddJson as error:
        raise _damaged(path, str(error)) from None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    source = manifest.source
    if path.name != file_name(source.source_id):
        raise _damaged(path, f"it speaks of source {source.source_id}")
    for file in manifest.files:
        place = f"{file.table}/run={source.run_id}/host={source.host_id}/"
        if table_of(file.path) != file.table or not file.path.startswith(place):
            raise _damaged(path, f"it lists {file.path}, which is not a file of table {file.table}")
    return manifest


def _identity(found: object) -> tuple[str, int, int, int] | None:
    if found is None:
        return None
    if isinstance(found, list) and len(found) == 4 and isinstance(found[0], str):
        path, *numbers = found
        if all(isinstance(one, int) and not isinstance(one, bool) for one in numbers):
            size, mtime_ns, inode = numbers
            return path, size, mtime_ns, inode
    raise strict_json.OddJson("'identity' is not a path and three numbers")


def _damaged(path: Path, seen: str) -> LakeError:
    return LakeError(
        "A manifest of the lake is damaged.",
        seen=seen,
        todo=f"remove {path.name} and ingest its source again; the other sources are not affected",
        path=str(path),
    )
