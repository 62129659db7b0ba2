"""The number of a source in a lake, and the check that no other source has ids among its own."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

from stepscope.errors import LakeError
from stepscope.lake import manifest, snapshot, source_ids
from stepscope.lake.decoded_source import Decoded
from stepscope.lake.manifest import Manifest
from stepscope.lake.reader import MANIFESTS
from stepscope.lake.rows import SourceRow, source_row

Find = Callable[[int], "Manifest | None"]
"""Finds the manifest of a lake for the number of a source."""


def claim(find: Find, decoded: Decoded) -> tuple[int, Manifest | None]:
    """The number for a decoded source, and its manifest when the lake has one. LakeError when another source
    has the number."""
    key = key_of(source_row(decoded.source, 0, decoded.facts, decoded.error))
    tables = {} if decoded.store is None else decoded.store.tables()
    rows = max(tables.values(), default=0)
    bits = source_ids.bits_for(decoded.source.size + sum(piece.size for piece in decoded.source.pieces))
    while True:
        source_id = source_ids.wanted(key, bits)
        holder = find(source_id)
        if holder is not None and key_of(holder.source) == key:
            return source_id, holder
        if rows <= 1 << bits:
            break
        bits += 1
    if holder is not None:
        raise _clash(decoded.source.path, holder)
    return source_id, None


def check_free(find: Find, made: Manifest) -> None:
    """LakeError when another source of the lake has ids among those of `made`, or the other way round."""
    source_id, rows = made.source.source_id, most_rows(made)
    for other in chain(source_ids.overlapping(source_id), source_ids.contained(source_id, rows)):
        holder = find(other)
        if holder is not None and (other > source_id or other + most_rows(holder) > source_id):
            raise _clash(made.source.path, holder)


def key_of(row: SourceRow) -> tuple[str, str, str, str]:
    """The identity of a source in a lake: its bytes, run and host; its path too when it has no hash."""
    return row.content_hash, row.run_id, row.host_id, "" if row.content_hash else row.path


def most_rows(made: Manifest) -> int:
    """Rows of the largest table of a source."""
    return max(made.rows.values(), default=0)


def manifest_of(folder: Path, source_id: int) -> Manifest | None:
    """The manifest of the source with that number: its own, or else that in the snapshot."""
    path = folder / MANIFESTS / manifest.file_name(source_id)
    if path.exists():
        return manifest.read(path)
    current = snapshot.current(folder)
    return None if current is None else current.by_id.get(source_id)


def _clash(path: str, holder: Manifest) -> LakeError:
    return LakeError(
        "The ids of two sources clash, so the second cannot be added to this lake.",
        seen=f"{holder.source.path} (run {holder.source.run_id}) has ids that {path} would have",
        todo="ingest it into another lake, or into this one with --run and another name for its run",
        path=path,
    )
