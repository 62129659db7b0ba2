"""The manifest of a source in a lake: what was read, and every file that holds its rows.

A lake's manifests are its truth: readers read the files they list and no others. A manifest is written
last, so a source is in the lake wholly or not at all.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from stepscope.errors import LakeError
from stepscope.lake.rows import SourceRow

SOURCE_BITS = 27
"""Numbers of sources fit in so many bits, so that ids fit in 63 (see rows.ID_BITS)."""


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
        return (json.dumps(told, indent=1, sort_keys=True) + "\n").encode()


def wanted_id(content_hash: str, run_id: str, host_id: str, path: str = "") -> int:
    """The number a source gets unless another one has it already. `path` only for unreadable sources."""
    digest = hashlib.blake2b("\0".join((content_hash, run_id, host_id, path)).encode(), digest_size=8)
    return int.from_bytes(digest.digest(), "big") >> (64 - SOURCE_BITS)


def file_name(source_id: int) -> str:
    """Name of the manifest of a source."""
    return f"{source_id:09d}.json"


def read(path: Path) -> Manifest:
    """Reads a manifest. LakeError when it is damaged."""
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        manifest = Manifest(
            schema_version=int(found["schema_version"]),
            source=SourceRow(**found["source"]),
            files=tuple(File(**one) for one in found["files"]),
            identity=tuple(found["identity"]) if found["identity"] else None,
            member=found["member"],
        )
    except (ValueError, TypeError, KeyError, UnicodeDecodeError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from None
    except OSError as error:
        raise _damaged(path, error.strerror or str(error)) from None
    if path.name != file_name(manifest.source.source_id):
        raise _damaged(path, f"it speaks of source {manifest.source.source_id}")
    for file in manifest.files:
        parts = PurePosixPath(file.path)
        if parts.is_absolute() or ".." in parts.parts or parts.parts[:1] != (file.table,):
            raise _damaged(path, f"it lists {file.path}, which is not a file of table {file.table}")
    return manifest


def _damaged(path: Path, seen: str) -> LakeError:
    return LakeError(
        "A manifest of the lake is damaged.",
        seen=seen,
        todo=f"remove {path.name} and ingest its source again; the other sources are not affected",
        path=str(path),
    )
