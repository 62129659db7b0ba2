"""Changes that other processes make to the lakes of a page while it is open."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stepscope.lake.reader import MANIFESTS


class News:
    """Counts sources that came into lakes since their page was opened. Any number of threads may ask."""

    def __init__(self, lakes: Iterable[Path] = ()) -> None:
        """lakes: folders; lakes in object stores are not asked."""
        self._lakes = tuple(lakes)
        self._known = self._there()

    def count(self) -> int:
        """How many sources are new. Those that were compacted or removed are not."""
        return len(self._there() - self._known)

    def opened(self) -> None:
        """Forgets: the lakes are opened again after this."""
        self._known = self._there()

    def _there(self) -> set[tuple[Path, str]]:
        """Manifests: a source is in a lake once it has one."""
        found = set()
        for lake in self._lakes:
            try:
                names = [path.name for path in (lake / MANIFESTS).iterdir()]
            except OSError:
                continue  # the lake is gone; a query for its tables says so
            found |= {(lake, name) for name in names if name[:1].isdecimal() and name.endswith(".json")}
        return found
