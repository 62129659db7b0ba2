"""Derived tables of a lake: made from the other tables of a run and stored beside them.

    _derived/<run>.json     what they were made of, by which version of their makers, and their files

Nothing depends on these files: where one is missing, odd or out of date, readers make the tables themselves,
and the next ingest writes them anew.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from stepscope import _core, strict_json
from stepscope.lake.manifest import TIMELINE, Manifest, ManifestFile, table_of

FOLDER = "_derived"


class DerivedTable(NamedTuple):
    """A derived table of a run: the version of what made it, and whether it was stored."""

    table: str
    version: int
    stored: bool


class Derived(NamedTuple):
    """The derived tables of a run."""

    run_id: str
    made_of: str
    """Digest of the sources of the run, see digest()."""
    made: tuple[DerivedTable, ...]
    files: tuple[ManifestFile, ...]

    def to_json(self) -> bytes:
        """The file's bytes."""
        members = self._asdict() | {
            "made": [table._asdict() for table in self.made],
            "files": [file._asdict() for file in self.files],
        }
        return strict_json.sealed(members)

    def current(self, manifests: Iterable[Manifest], versions: Mapping[str, int]) -> bool:
        """True when the tables were made of these sources, by these versions or newer ones."""
        made = {derived_table.table: derived_table.version for derived_table in self.made}
        known = all(made.get(table, 0) >= version for table, version in versions.items())
        return known and self.made_of == digest(manifests)

    def paths(self, table: str) -> list[str] | None:
        """Files of one table, within the lake; None when it was not stored."""
        if not any(derived_table.table == table and derived_table.stored for derived_table in self.made):
            return None
        return [file.path for file in self.files if file.table == table]


def digest(manifests: Iterable[Manifest]) -> str:
    """Tells the sources of a run from all others, and from the same sources decoded by another version."""
    rows = sorted(
        (manifest.source.source_id, manifest.source.content_hash, manifest.source.decoder_version)
        for manifest in manifests
    )
    return hashlib.blake2b(json.dumps(rows).encode(), digest_size=16).hexdigest()


def group_by_run(manifests: Sequence[Manifest]) -> dict[str, list[Manifest]]:
    """The manifests of each run, in their order."""
    found: dict[str, list[Manifest]] = {}
    for manifest in manifests:
        found.setdefault(manifest.source.run_id, []).append(manifest)
    return found


def read(folder: Path, run_id: str) -> Derived | None:
    """What a lake holds of a run; None when that is nothing, or odd."""
    try:
        found = strict_json.unsealed(strict_json.read(folder / FOLDER / f"{run_id}.json"))
        if not all(isinstance(found.get(key), list) for key in ("made", "files")):
            return None
        parts = {
            "made": tuple(strict_json.record(DerivedTable, record) for record in found["made"]),
            "files": tuple(strict_json.record(ManifestFile, record) for record in found["files"]),
        }
        derived = strict_json.record(Derived, found, parts)
    except (OSError, strict_json.OddJson):
        return None
    is_derived = all(
        table_of(file.path) == file.table != TIMELINE and file.path.startswith(f"{file.table}/run={run_id}/")
        for file in derived.files
    )
    return derived if is_derived and derived.run_id == run_id else None


def intact(folder: Path, found: Derived) -> bool:
    """True when the files are as they were written. They are small, so they are always hashed."""
    try:
        return all(
            (folder / file.path).stat().st_size == file.bytes
            and _core.hash_file(str(folder / file.path)) == file.hash
            for file in found.files
        )
    except (OSError, _core.CoreError):
        return False


def read_all(folder: Path) -> list[Derived]:
    """What a lake holds of all runs."""
    names = sorted(path.stem for path in (folder / FOLDER).glob("*.json"))
    return [found for name in names if (found := read(folder, name)) is not None]
