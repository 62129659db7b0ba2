"""The paths that an agent may open: those under the roots that the user named."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from stepscope.errors import UsageError
from stepscope.sources.user_paths import is_url


class Roots:
    """Folders and files that the user named; all that is under them may be opened, wherever links lead."""

    def __init__(self, given: Sequence[str]) -> None:
        """given: existing paths. UsageError for others."""
        self.given = tuple(given)
        for path in given:
            if is_url(path) or path == "-" or not Path(path).exists():
                raise UsageError(
                    "A root must be a folder or file of this machine.",
                    seen=f"{path} is " + ("a URL" if is_url(path) else "not there"),
                    todo="stepscope mcp DIR…, with the folders that recordings are in",
                    path=path,
                )
        self._real = tuple(Path(os.path.realpath(path)) for path in given)

    def path(self, asked: str) -> str:
        """The path as it can be opened: relative ones are below the first root that has them. UsageError for
        what is under no root."""
        if asked == "-" or is_url(asked) or "\0" in asked:
            raise self._refused(asked, "neither a folder nor a file")
        places = [Path(asked)] if Path(asked).is_absolute() else [root / asked for root in self._real]
        inside = [place for place in places if self.has(place)]
        if not inside:
            raise self._refused(asked, "a path under none of the roots")
        return str(next((place for place in inside if os.path.lexists(place)), inside[0]))

    def check(self, files: Iterable[str]) -> None:
        """UsageError when one of the files that were found lies elsewhere: a link led there."""
        for file in files:
            if not self.has(Path(file)):
                raise self._refused(file, "a link that leads out of the roots")

    def has(self, place: Path) -> bool:
        """Whether a path, links followed, is under a root."""
        try:
            real = Path(os.path.realpath(place))
        except (OSError, ValueError):
            return False
        return any(real.is_relative_to(root) for root in self._real)

    def _refused(self, asked: str, seen: str) -> UsageError:
        return UsageError(
            "This path may not be opened.",
            seen=f"{asked[:200]!r} is {seen}",
            todo=f"ask for paths under {', '.join(self.given)}; the user starts `stepscope mcp` with others",
            slug="path-outside-roots",
        )
