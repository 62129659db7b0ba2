"""Remote paths (gs://, s3://, http://), through fsspec when it is installed."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from stepscope.errors import UnreadableSource, UsageError
from stepscope.sources import limits
from stepscope.sources.given import LAKE_MARK, remote_lake
from stepscope.sources.head import Peek, is_tar, is_zip, kind, peek
from stepscope.sources.names import packless, place_of
from stepscope.sources.spool import Spool


class Fetched(NamedTuple):
    """A remote file that was copied here."""

    path: Path
    """The copy."""
    shown: str
    """Its URL."""
    root: PurePosixPath | None
    """The folder that was given, as place_of() has it; None when the file itself was."""
    place: PurePosixPath
    """The path that it is known by, as place_of() has it."""


def fetch(
    url: str, spool: Spool, seen: Counter[str], wanted: Callable[[bytes, str], bool]
) -> Iterator[Fetched]:
    """Copies what lies under a URL to the spool: archives, and files that are `wanted` by their first bytes
    and their path.

    UsageError when fsspec, or the package for this kind of URL, is not installed, or for a lake;
    UnreadableSource when the storage does not answer.
    """
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError:
        raise _missing(url, "the package fsspec is not installed") from None
    try:
        system, root = core.url_to_fs(url)
        names = _without_lakes(sorted(system.find(root)) or [root], root, url, seen)
        shown = {name: system.unstrip_protocol(name) for name in names}
    except ImportError as error:
        raise _missing(url, str(error)) from None
    except (OSError, ValueError, RuntimeError) as error:
        raise _unreachable(url, error) from error
    folder = None if names == [root] else place_of(system.unstrip_protocol(root))
    for name in names:
        place = place_of(shown[name])
        if folder is not None and any(part.startswith(".") for part in place.relative_to(folder).parts[:-1]):
            seen["hidden folder (not entered)"] += 1
            continue
        path = _copy(system, name, shown[name], spool, seen, wanted)
        if path is not None:
            yield Fetched(path, shown[name], folder, place)


def _without_lakes(names: list[str], root: str, url: str, seen: Counter[str]) -> list[str]:
    """The names that are not in a lake; UsageError when the URL itself is one."""
    lakes = {str(PurePosixPath(name).parent) for name in names if PurePosixPath(name).name == LAKE_MARK}
    if str(PurePosixPath(root)) in lakes:
        raise remote_lake(url)
    if lakes:
        seen["stepscope lake (copy it to this machine)"] += len(lakes)
    return [name for name in names if lakes.isdisjoint(map(str, PurePosixPath(name).parents))]


def _copy(
    system: Any, name: str, shown: str, spool: Spool, seen: Counter[str], wanted: Callable[[bytes, str], bool]
) -> Path | None:
    try:
        with system.open(name, "rb") as stream:
            start = peek(stream)
            base = packless(PurePosixPath(name).name)
            path = str(PurePosixPath(name).with_name(base))
            if not (is_zip(start.taken) or is_tar(start.head) or wanted(start.head, path)):
                seen[kind(start.head, base)] += 1
                return None
            raw = Peek(start.taken, None, start.taken)
            return Path(spool.keep(raw, stream, shown=shown, packed=limits.DISK_BYTES).path)
    except (OSError, ValueError, RuntimeError) as error:
        raise _unreachable(shown, error) from error


def _missing(url: str, seen: str) -> UsageError:
    return UsageError(
        f"{url} is a remote path, and what reads such paths is not installed.",
        seen=seen,
        todo="pip install 'stepscope[remote]' and the package for the storage (gcsfs, s3fs), or copy the "
        "file here first",
        path=url,
    )


def _unreachable(url: str, error: Exception) -> UnreadableSource:
    return UnreadableSource(
        "A remote file could not be read.",
        seen=f"{type(error).__name__}: {error}",
        todo="check the address and your access to it, or copy the file here first",
        path=url,
    )
