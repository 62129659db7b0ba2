"""Files beside the served recordings, which can be opened as well.

The page identifies them by numbers: no route takes a path.
"""

import itertools
from collections.abc import Callable
from pathlib import Path

from stepscope import formats
from stepscope.sources import head
from stepscope.sources.inspection import is_regular
from stepscope.sources.names import claims, packless

MOST_OFFERED = 300
_MOST_LOOKED_AT = 1000
"""Most files of a folder that are offered: each costs a read of its first bytes."""


class SiblingFiles:
    """Files and folders next to the given paths. Thread-safe."""

    def __init__(self, paths: list[str], check: Callable[[str], None]) -> None:
        """paths: those that are open; new ones are appended. check: opens a path and closes it again, and
        raises if it cannot."""
        self._paths, self._check = paths, check
        self._offered: list[Path] = []

    def offer(self) -> list[str]:
        """Names that can be added, grouped by folder: folders, archives, and files of a known format, which
        leaves out programs and notes. An unreadable folder offers nothing."""
        opened = {Path(path).resolve() for path in self._paths}
        folders = dict.fromkeys(path.parent for path in opened)
        found: list[Path] = []
        for folder in folders:
            try:
                entries = sorted(folder.iterdir())
            except OSError:
                continue
            others = (entry for entry in entries if entry not in opened and not entry.name.startswith("."))
            found += filter(_may_be_recording, itertools.islice(others, _MOST_LOOKED_AT))
        self._offered = found[:MOST_OFFERED]
        several = len(folders) > 1
        return [f"{path.parent.name}/{path.name}" if several else path.name for path in self._offered]

    def add(self, number: int) -> tuple[str, ...]:
        """All paths, with one of those offered. IndexError when it was not offered; StepscopeError when it
        cannot be opened."""
        path = str(self._offered[number])
        self._check(path)
        self._paths.append(path)
        return tuple(self._paths)


def _may_be_recording(entry: Path) -> bool:
    if entry.is_dir() or claims(entry.name):
        return True
    if head.is_code(entry.name) or not is_regular(entry):
        return False
    try:
        with entry.open("rb") as stream:
            seen = head.peek(stream)
    except OSError:
        return False
    is_archive = (head.is_zip(seen.head) or head.is_tar(seen.head)) and not head.is_known_archive(entry.name)
    return is_archive or formats.recognise(seen.head, packless(entry.name)) is not None
