"""Reading a lake: which files hold which table, and whether they are as they were written."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from stepscope import strict_json
from stepscope.errors import LakeError
from stepscope.lake import manifest as manifests
from stepscope.lake.manifest import Manifest
from stepscope.lake.relation import quoted
from stepscope.lake.schema import Table, schema
from stepscope.sources.find import LAKE_MARK

MANIFESTS = "_manifest"
CHECKED_BYTES = 64 << 20
"""A lake up to this size is hashed when it is opened; of a larger one only the sizes are compared."""


class _Mark(NamedTuple):
    """The file stepscope-lake.json."""

    schema_version: int


@dataclass(frozen=True)
class Lake:
    """A lake as it was when it was opened: later ingests do not change it."""

    folder: Path
    manifests: tuple[Manifest, ...]

    def files(self) -> dict[str, list[str]]:
        """Absolute paths of the files of each table, in the order of the sources."""
        found: dict[str, list[str]] = defaultdict(list)
        for one in self.manifests:
            for file in one.files:
                found[file.table].append(str(self.folder / file.path))
        return dict(found)

    def verify(self, *, contents: bool) -> None:
        """Compares files with their manifests: sizes, and with `contents` also hashes.

        LakeError for the first that is missing or differs.
        """
        for one in self.manifests:
            for file in one.files:
                path = self.folder / file.path
                try:
                    size = path.stat().st_size
                except OSError as error:
                    raise _broken(path, one, error.strerror or str(error)) from None
                if size != file.bytes:
                    raise _broken(path, one, f"{size:,} bytes instead of {file.bytes:,}")
                if contents and content_hash(path) != file.hash:
                    raise _broken(path, one, "its bytes are not those that were written")


def content_hash(path: Path) -> str:
    """Hash of a whole file."""
    from stepscope import _core

    return _core.hash_file(str(path))


def open_lake(folder: Path) -> Lake:
    """Opens a lake for reading. LakeError when it is none, of another version, or damaged."""
    check_mark(folder)
    found = Lake(folder, read_manifests(folder))
    size = sum(file.bytes for one in found.manifests for file in one.files)
    found.verify(contents=size <= CHECKED_BYTES)
    return found


def check_mark(folder: Path) -> None:
    """LakeError unless the folder is a lake of this version's schema."""
    mark = folder / LAKE_MARK
    try:
        version = strict_json.record(_Mark, strict_json.read(mark)).schema_version
    except FileNotFoundError:
        raise LakeError(
            f"{folder} is no lake.",
            seen=f"no {LAKE_MARK} in it",
            todo="stepscope ingest PATH --lake DIR makes one",
            path=str(folder),
        ) from None
    except (OSError, strict_json.OddJson) as error:
        raise LakeError(
            "The mark of the lake cannot be read.",
            seen=str(error),
            todo=f'write {{"schema_version": {schema().version}}} into it if the lake is of this version',
            path=str(mark),
        ) from None
    if version != schema().version:
        newer = version > schema().version
        raise LakeError(
            f"The lake was written by {'a newer' if newer else 'an older'} stepscope.",
            seen=f"schema version {version}, this stepscope knows {schema().version}",
            todo="pip install --upgrade stepscope" if newer else "ingest its sources into a new lake",
            path=str(folder),
        )


def read_manifests(folder: Path) -> tuple[Manifest, ...]:
    """All manifests, in the order of source_id."""
    return tuple(manifests.read(path) for path in sorted((folder / MANIFESTS).glob("[0-9]*.json")))


def select(table: Table, paths: list[str]) -> str:
    """A SELECT of the schema's columns from Parquet files of one table.

    Run and host are taken from the folders' names, so that a question about one run opens only its files.
    """
    hive = {"run_id": "run", "host_id": "host"}
    picks = ", ".join(
        f"CAST({hive.get(column.name, column.name)} AS {column.type}) AS {column.name}"
        for column in table.columns
    )
    listed = ", ".join(quoted(path) for path in paths)
    rows = (
        f"SELECT {picks} FROM read_parquet([{listed}], hive_partitioning = true, "
        "hive_types = {'run': VARCHAR, 'host': VARCHAR}, hive_types_autocast = false)"
    )
    if table.name not in ("run", "host"):
        return rows
    # Every source brings the row of its run and of its host.
    keys = ("run_id",) if table.name == "run" else ("host_id", "run_id")
    rest = ", ".join(
        column.name if column.name in keys else f"min({column.name}) AS {column.name}"
        for column in table.columns
    )
    return f"SELECT {rest} FROM ({rows}) GROUP BY {', '.join(keys)}"


def _broken(path: Path, manifest: Manifest, seen: str) -> LakeError:
    return LakeError(
        "A file of the lake is missing or damaged.",
        seen=seen,
        todo=f"remove {MANIFESTS}/{manifests.file_name(manifest.source.source_id)} from the lake and ingest "
        f"{manifest.source.path} again; the other sources are not affected",
        path=str(path),
    )
