"""Remote paths: object stores (s3://, gs://, az://) through obstore, all others (http://) through fsspec.

Where obstore is not installed, fsspec reads stores as well; their objects have no identity then, and each
ingest reads them anew.
"""

import contextlib
import hashlib
import importlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from stepscope.errors import UnreadableSource, UsageError
from stepscope.sources import limits, stores
from stepscope.sources.head import HEAD_BYTES, Peek, is_tar, is_zip, kind, peek
from stepscope.sources.inspection import Identity, InspectionCache
from stepscope.sources.names import packless, place_of
from stepscope.sources.spool import Spool
from stepscope.sources.stores import Object, Store
from stepscope.sources.user_paths import LAKE_MARK, remote_lake


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
    identity: Identity | None = None
    """What tells it from another, and from itself after a change."""


Wanted = Callable[[bytes, str], bool]


def fetch(
    url: str, spool: Spool, seen: Counter[str], wanted: Wanted, remembered: InspectionCache
) -> Iterator[Fetched]:
    """Copies what lies under a URL to the spool: archives, and files that are `wanted` by their first bytes
    and their path; of the others only the first bytes are read. What is remembered is not copied.

    UsageError when what reads this kind of URL is not installed, or for a lake; UnreadableSource when the
    storage does not answer.
    """
    if stores.is_store(url) and stores.is_installed():
        yield from _fetch_from_store(url, spool, seen, wanted, remembered)
        return
    try:
        core = importlib.import_module("fsspec.core")
    except ImportError:
        raise _missing(url, "the package fsspec is not installed") from None
    try:
        system, root = core.url_to_fs(url)
        names = _drop_lakes(sorted(system.find(root)) or [root], root, url, seen)
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


def _fetch_from_store(
    url: str, spool: Spool, seen: Counter[str], wanted: Wanted, remembered: InspectionCache
) -> Iterator[Fetched]:
    """fetch() for a store: with the first bytes of each object, and the rest of those that are wanted."""
    store = stores.store(url.rstrip("/"), UnreadableSource)
    objects = {f"{store.url}/{object_.key}": (store, object_) for object_ in store.objects()}
    root = store.url
    if not objects:
        # The URL may name one object: it is what its folder has of that name.
        above, _, name = store.url.rpartition("/")
        if above.partition("://")[2]:
            store = stores.store(above, UnreadableSource)
            with contextlib.suppress(stores.MissingObject):
                objects = {f"{above}/{name}": (store, store.head(name))}
        if not objects:
            raise UsageError(
                f"There is nothing at {url}.",
                seen="no object of that name, and none below it",
                todo="check the spelling: names in stores have capitals and spaces of their own",
                path=url,
            )
    names = _drop_lakes(sorted(objects), root, url, seen)
    folder = None if names == [root] else place_of(root)
    for name in names:
        place = place_of(name)
        if folder is not None and any(part.startswith(".") for part in place.relative_to(folder).parts[:-1]):
            seen["hidden folder (not entered)"] += 1
            continue
        owner, object_ = objects[name]
        identity = (name, object_.size, _number(object_.etag), time_ns(object_.modified), 0)
        if remembered.recall(identity) is not None:
            yield Fetched(Path(name), name, folder, place, identity)
            continue
        path = _copied(_Ranges(owner, object_), name, spool, seen, wanted)
        if path is not None:
            yield Fetched(path, name, folder, place, identity)


def _number(etag: str) -> int:
    """A version of an object as a number."""
    return int.from_bytes(hashlib.blake2b(etag.encode(), digest_size=7).digest(), "big")


def time_ns(moment: datetime) -> int:
    """A moment in Unix nanoseconds."""
    return round(moment.timestamp() * 1_000_000) * 1000


class _Ranges:
    """An object as a stream that asks for what is read of it, and a little more each time."""

    def __init__(self, store: Store, object_: Object) -> None:
        self._store, self._one = store, object_
        self._at, self._held = 0, b""
        self._next = HEAD_BYTES

    def read(self, size: int = -1) -> bytes:
        """The next bytes, at most `size` of them; none at the end."""
        if not self._held and self._at < self._one.size:
            length = min(self._next, self._one.size - self._at)
            self._held = self._store.range(self._one.key, self._at, length)
            self._at += length
            self._next = min(self._next * 4, _MOST_AT_ONCE)
        found = self._held if size < 0 else self._held[:size]
        self._held = self._held[len(found) :]
        return found


_MOST_AT_ONCE = 8 << 20


def _drop_lakes(names: list[str], root: str, url: str, seen: Counter[str]) -> list[str]:
    """The names that are not in a lake; UsageError when the URL itself is one."""
    lakes = {str(PurePosixPath(name).parent) for name in names if PurePosixPath(name).name == LAKE_MARK}
    if str(PurePosixPath(root)) in lakes:
        raise remote_lake(url)
    if lakes:
        seen["stepscope lake (give its own path)"] += len(lakes)
    return [name for name in names if lakes.isdisjoint(map(str, PurePosixPath(name).parents))]


def _copy(
    system: Any, name: str, shown: str, spool: Spool, seen: Counter[str], wanted: Wanted
) -> Path | None:
    try:
        with system.open(name, "rb") as stream:
            return _copied(stream, name, spool, seen, wanted)
    except (OSError, ValueError, RuntimeError) as error:
        raise _unreachable(shown, error) from error


def _copied(stream: Any, name: str, spool: Spool, seen: Counter[str], wanted: Wanted) -> Path | None:
    """The copy of a stream; None, and no more read than its beginning, when it is not wanted."""
    start = peek(stream)
    base = packless(PurePosixPath(name).name)
    path = str(PurePosixPath(name).with_name(base))
    if not (is_zip(start.taken) or is_tar(start.head) or wanted(start.head, path)):
        seen[kind(start.head, base)] += 1
        return None
    raw = Peek(start.taken, None, start.taken)
    return Path(spool.keep(raw, stream, shown=name, packed=limits.DISK_BYTES).path)


def _missing(url: str, seen: str) -> UsageError:
    return UsageError(
        f"{url} is a remote path, and what reads such paths is not installed.",
        seen=seen,
        todo="pip install 'stepscope[stores]' for s3://, gs:// and az://, or 'stepscope[remote]' and the "
        "package for another storage, or copy the file here first",
        path=url,
    )


def _unreachable(url: str, error: Exception) -> UnreadableSource:
    return UnreadableSource(
        "A remote file could not be read.",
        seen=f"{type(error).__name__}: {error}",
        todo="check the address and your access to it, or copy the file here first",
        path=url,
    )
