"""Sources that other processes add to the lakes of a page while it is open."""

from collections.abc import Iterable
from pathlib import Path

from stepscope.lake.reader import MANIFESTS


class News:
    """Counts sources added to lakes since their page was opened. Thread-safe."""

    def __init__(self, lakes: Iterable[Path] = ()) -> None:
        """lakes: folders; lakes in object stores are left out."""
        self._lakes = tuple(lakes)
        self._known = self._there()

    def count(self) -> int:
        """The number of new sources; compacted or removed ones do not count."""
        return len(self._there() - self._known)

    def opened(self) -> None:
        """Starts over: the lakes are opened again after this."""
        self._known = self._there()

    def _there(self) -> set[tuple[Path, str]]:
        """Manifests: a source belongs to a lake once it has one."""
        found = set()
        for lake in self._lakes:
            try:
                names = [path.name for path in (lake / MANIFESTS).iterdir()]
            except OSError:
                continue  # the lake is gone; a query of its tables reports that
            found |= {(lake, name) for name in names if name[:1].isdecimal() and name.endswith(".json")}
        return found
