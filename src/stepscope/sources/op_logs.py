"""Op logs that belong to recordings: in the folder that `stepscope record` wrote, or beside a file."""

import re
from collections.abc import Sequence
from pathlib import Path

from stepscope.sources.source import ByteLocation, Source

PIECE = "op_log.pb"
"""What the recorder calls it."""
MOST = 50
"""Files of one run that are worth reading."""
_MOST_FOLDERS = 50
"""Folders that are looked into beside one file."""


def find(sources: Sequence[Source], names: re.Pattern[str]) -> dict[str, list[tuple[ByteLocation, str]]]:
    """Where the op logs of each run are, with what to call them, the nearest first.

    A capture's own comes first, and the recordings that say it themselves; then those that lie beside a
    recording of ops, or in a folder beside it, with one of these names.
    """
    found: dict[str, dict[str, tuple[ByteLocation, str]]] = {}
    for source in sources:
        for piece in source.pieces:
            if piece.name == PIECE:
                place = piece.spooled or piece.bytes
                shown = source.path.rpartition("/")[0] + "/" + piece.name
                found.setdefault(source.run_id, {})[repr(place)] = (place, shown)
        if source.traits.lines:
            place = source.spooled or source.bytes
            found.setdefault(source.run_id, {})[repr(place)] = (place, source.path)
    looked: set[tuple[str, Path]] = set()
    for source in sources:
        folder = Path(source.bytes.path).parent
        if not source.traits.op_logs or (source.run_id, folder) in looked or source.bytes.unpack:
            continue
        looked.add((source.run_id, folder))
        for path in _files_near(folder, names):
            place = ByteLocation(str(path))
            found.setdefault(source.run_id, {}).setdefault(repr(place), (place, str(path)))
    return {run: list(places.values()) for run, places in found.items()}


def _files_near(folder: Path, names: re.Pattern[str]) -> list[Path]:
    """Files of these names in a folder, then in the folders within it; nothing where that is forbidden."""
    try:
        inside = sorted(folder.iterdir())
        found = [entry for entry in inside if names.fullmatch(entry.name) and entry.is_file()]
        for entry in [entry for entry in inside if entry.is_dir() and not entry.is_symlink()][:_MOST_FOLDERS]:
            found += sorted(path for path in entry.iterdir() if names.fullmatch(path.name) and path.is_file())
    except OSError:
        return []
    return found
