"""Shared locks on entries of the cache: what a process reads, others do not evict."""

import os
from pathlib import Path

from stepscope.lake import disk

_MOST_HELD = 256
"""Most entries that one process locks; further ones may be evicted by others, and are then decoded again."""


class EntryLocks:
    """The entries that this process holds."""

    def __init__(self) -> None:
        self._held: dict[Path, int] = {}

    def release(self) -> None:
        """Lets others remove all entries of this process."""
        for entry in list(self._held):
            self.let_go(entry)

    def lost(self) -> bool:
        """Whether an entry of this process was removed in spite of the locks."""
        return any(not disk.is_still(entry, descriptor) for entry, descriptor in self._held.items())

    def hold(self, entry: Path) -> bool:
        """Keeps others from evicting an entry; False when it is missing, or being removed."""
        try:
            descriptor = disk.open_folder(entry)
        except OSError:
            return False
        keep = False
        try:
            if not disk.try_lock(descriptor, alone=False):
                return False
            is_still_there = disk.is_still(entry, descriptor)
            keep = is_still_there and entry not in self._held and len(self._held) < _MOST_HELD
            return is_still_there
        finally:
            if keep:
                self._held[entry] = descriptor
            else:
                os.close(descriptor)

    def let_go(self, entry: Path) -> None:
        """Lets others evict an entry."""
        descriptor = self._held.pop(entry, None)
        if descriptor is not None:
            os.close(descriptor)

    def move(self, entry: Path, to: Path) -> None:
        """The entry has another name now; its lock went with it."""
        if entry in self._held:
            self._held[to] = self._held.pop(entry)
