"""Files of a lake that were compared with their hashes, remembered in the user's cache folder.

A file is known by size, times, inode and device. Nobody can set the time of the last change of the inode
(ctime), so a file that was changed is compared again, however it was dressed up afterwards. What a failing
disk changes does not show there: --no-cache compares everything anew.
"""

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from stepscope import _core, strict_json
from stepscope.lake import cache_folder, disk
from stepscope.sources.inspection import settled


class _CheckedFile(Protocol):
    """The file as it was written."""

    @property
    def path(self) -> str:
        """Within the lake."""

    @property
    def hash(self) -> str:
        """Of its bytes."""


class Checked:
    """The checks of one lake. Damage, or a folder that cannot be used, only costs another comparison."""

    def __init__(self, lake: Path, cache: Path) -> None:
        self._lake = os.path.realpath(lake)
        self._path: Path | None = None
        self._files: dict[str, Any] = {}
        with contextlib.suppress(OSError, strict_json.OddJson):
            digest = _core.hash_bytes(self._lake.encode("utf-8", "surrogateescape"))
            self._path = cache_folder.claim(cache) / "checked" / f"{digest}.json"
            found = strict_json.read(self._path)
            if isinstance(found, dict) and found.get("lake") == self._lake:
                files = found.get("files")
                self._files = files if isinstance(files, dict) else {}

    def knows(self, file: _CheckedFile, status: os.stat_result) -> bool:
        """Whether the file matched its hash, and has not changed since."""
        return self._files.get(file.path) == _known(file, status)

    def keep(self, found: Iterable[tuple[_CheckedFile, os.stat_result]]) -> None:
        """Stores that files matched their hashes, each with its state before the comparison."""
        new = {file.path: _known(file, status) for file, status in found if settled(status)}
        if not new or self._path is None:
            return
        self._files.update(new)
        members = {"lake": self._lake, "files": self._files}
        with contextlib.suppress(OSError):
            disk.write_whole(self._path, json.dumps(members).encode())


def _known(file: _CheckedFile, status: os.stat_result) -> list[Any]:
    return [file.hash, *times(status)]


def times(status: os.stat_result) -> tuple[int, ...]:
    """The identity and state of a file."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev
