"""From what the user gives to files: folders walked, captures whole, pipes and remote files copied."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stepscope.errors import UnreadableSource, UsageError
from stepscope.sources import capture_folder
from stepscope.sources.inspection import Formats, Identity, InspectionCache, is_regular
from stepscope.sources.spool import Spool, is_pipe, open_pipe, spool_pipe, standard_input
from stepscope.sources.user_paths import LAKE_MARK, checkpoint_index, is_url


class FoundFile(NamedTuple):
    """A file to be looked at."""

    path: Path
    """Where its bytes are."""
    shown: str
    root: PurePosixPath | None
    """The folder that led to it, absolute; None when it was itself named."""
    place: PurePosixPath
    """The path that it is known by, absolute: that on the disk, or in the store it was fetched from."""
    lasting: bool = True
    """Whether the bytes will be there when this process has ended."""
    identity: Identity | None = None
    """What tells an object of a store from another, and from itself after a change: its URL and size, and
    what stands for its version."""


_MOST_NEIGHBOURS = 10_000
"""Names of a folder that are compared with one that is not there."""
PIPE = PurePosixPath("/stdin")
"""The place of what came through a pipe."""


def _disk_file(path: Path, shown: str, root: Path | None) -> FoundFile:
    place = PurePosixPath(os.path.abspath(path))  # noqa: PTH100 - links keep the name the user gave
    folder = None if root is None else PurePosixPath(os.path.abspath(root))  # noqa: PTH100
    return FoundFile(path, shown, folder, place)


def files_of(
    paths: Sequence[str], formats: Formats, spool: Spool, seen: Counter[str], remembered: InspectionCache
) -> Iterator[FoundFile]:
    for given in (path.removeprefix("file://") for path in paths):
        if given == "-":
            yield FoundFile(spool_pipe(standard_input(), spool, "-"), "-", None, PIPE, lasting=False)
        elif is_url(given):
            yield from _fetched(given, formats, spool, seen, remembered)
        elif Path(given).is_dir():
            for path in _walk(Path(given), seen):
                yield _disk_file(path, str(path), Path(given))
        elif _is_capture(Path(given), formats):
            for path in _walk(Path(given).parent, seen):
                yield _disk_file(path, str(path), Path(given).parent)
        elif (index := checkpoint_index(Path(given))) is not None:
            yield _disk_file(index, str(index), None)
        elif is_regular(Path(given)):
            yield _disk_file(Path(given), str(given), None)
        elif Path(given).exists() and is_pipe(given):
            with open_pipe(given) as stream:
                yield FoundFile(spool_pipe(stream, spool, given), given, None, PIPE, lasting=False)
        else:
            raise UsageError(
                f"There is no file or folder {given}.",
                seen=f"nothing of that name in {Path(given).absolute().parent}",
                todo=_suggestion(Path(given))
                or "check the spelling; a pattern such as *.json is for the shell to expand",
                path=given,
            )


def _fetched(
    url: str, formats: Formats, spool: Spool, seen: Counter[str], remembered: InspectionCache
) -> Iterator[FoundFile]:
    """The files of a remote folder that may be part of a recording."""
    from stepscope.sources.remote import fetch

    def wanted(head: bytes, name: str) -> bool:
        return (
            capture_folder.may_be_piece(name) or formats.recognise(head, PurePosixPath(name).name) is not None
        )

    for fetched in fetch(url, spool, seen, wanted, remembered):
        yield FoundFile(
            fetched.path, fetched.shown, fetched.root, fetched.place, lasting=False, identity=fetched.identity
        )


def _suggestion(path: Path) -> str:
    """A question, where a neighbour's name is almost that of a path that is not there."""
    from difflib import get_close_matches

    try:
        names = [found.name for found in islice(os.scandir(path.parent), _MOST_NEIGHBOURS)]
    except OSError:  # no such folder, or a closed one
        return ""
    near = get_close_matches(path.name, names, 1, cutoff=0.75)
    return f"did you mean {path.with_name(near[0])}?" if near else ""


def _is_capture(path: Path, formats: Formats) -> bool:
    """Whether a named file stands for the whole folder it lies in."""
    if path.name != capture_folder.MARK or not is_regular(path):
        return False
    try:
        with path.open("rb") as file:
            found = formats.recognise(file.read(4096), path.name)
    except OSError:  # looking at it like at any other file tells why
        return False
    return found is not None and formats.traits(found.NAME).kind == capture_folder.KIND


def _walk(root: Path, seen: Counter[str]) -> Iterator[Path]:
    """Plain files under a folder, sorted; linked folders once; hidden ones and lakes not at all."""
    visited: set[tuple[int, int]] = set()

    def closed(error: OSError) -> None:
        if error.filename == str(root):
            raise UnreadableSource(
                f"{root} cannot be read: {(error.strerror or str(error)).lower()}.",
                seen="a folder that may not be listed",
                todo="change its permissions, or copy it to where you may read it",
                slug="no-access",
                path=str(root),
            ) from error
        seen["folder that may not be listed"] += 1

    for folder, inner, files in os.walk(root, followlinks=True, onerror=closed):
        status = Path(folder).stat()
        if (status.st_dev, status.st_ino) in visited:
            inner.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        if LAKE_MARK in files:
            seen["stepscope lake (give its own path)"] += 1
            inner.clear()
            continue
        hidden = [name for name in inner if name.startswith(".")]
        if hidden:
            seen["hidden folder (not entered)"] += len(hidden)
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if is_regular(path):
                yield path
            else:
                seen["dead link, pipe or device"] += 1


def once(files: Iterable[FoundFile]) -> list[FoundFile]:
    """Each file on disk once; the one that was named explicitly stays."""
    found: dict[str, FoundFile] = {}
    for file in files:
        key = os.path.realpath(file.path)
        known = found.get(key)
        if known is None or (file.root is None, known.shown) > (known.root is None, file.shown):
            found[key] = file
    return list(found.values())
