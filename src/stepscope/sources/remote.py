"""Remote paths (gs://, s3://, http://), through fsspec when it is installed."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from stepscope.errors import UnreadableSource, UsageError
from stepscope.sources import limits
from stepscope.sources.head import Peek, is_tar, is_zip, kind, peek
from stepscope.sources.names import packless, stem
from stepscope.sources.spool import Spool


def fetch(
    url: str, spool: Spool, seen: Counter[str], wanted: Callable[[bytes, str], bool]
) -> Iterator[tuple[Path, str, str]]:
    """Copies the archives and recordings (`wanted`) that lie under a URL to the spool.

    Yields file, how to show it, and name of the run. UsageError when fsspec, or the package for this kind
    of URL, is not installed; UnreadableSource when the storage does not answer.
    """
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError:
        raise _missing(url, "the package fsspec is not installed") from None
    try:
        system, root = core.url_to_fs(url)
        names = sorted(system.find(root)) or [root]
    except ImportError as error:
        raise _missing(url, str(error)) from None
    except (OSError, ValueError, RuntimeError) as error:
        raise _unreachable(url, error) from error
    for name in names:
        shown = system.unstrip_protocol(name)
        folder = PurePosixPath(name).parent
        run = folder.name if len(names) > 1 or name != root else stem(PurePosixPath(name).name)
        path = _copy(system, name, shown, spool, seen, wanted)
        if path is not None:
            yield path, shown, run or "remote"


def _copy(
    system: Any, name: str, shown: str, spool: Spool, seen: Counter[str], wanted: Callable[[bytes, str], bool]
) -> Path | None:
    try:
        with system.open(name, "rb") as stream:
            start = peek(stream)
            base = packless(PurePosixPath(name).name)
            if not (is_zip(start.taken) or is_tar(start.head) or wanted(start.head, base)):
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
