"""Decoded stores kept in the user's cache folder, keyed by what the files hold.

    stepscope-cache.json                 the mark: see cache_folder.py
    index/<digest of the path>.json      what was seen in a file of that size, times and inode
    entries/<size>-<hash>-<version>-<digest of hints>/   a decoded store, uncompressed columns
    stage/<name>/ + <name>.lock          an entry being made or removed; the lock dies with its process
    checked/<digest of the path>.json    which files of a lake hold what was written: see hash_checks.py

An unchanged file is known by path, size, mtime, ctime and inode, so a second look does not read it; a
copy under another name is known by its hash. A reader of an entry holds a shared lock on its folder, and
only entries that nobody holds are evicted. Stores compare what they read with hashes, so that damage is
found and the entry made anew. Entries are not forced to the disk when they are made, which would cost as
much as decoding: one that may have been in flight when the machine went down is not believed.

A little over 400 lines: finding, making, holding and evicting entries are one protocol over the same locks.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from stepscope import _core, strict_json
from stepscope.errors import LakeError
from stepscope.lake import cache_folder, disk
from stepscope.sources.inspection import Identity, InspectedItem, Inspection, is_lasting
from stepscope.sources.source import ByteLocation, Codec, Skipped, Source

try:
    import fcntl
except ModuleNotFoundError:  # Windows, where there is no cache: see disk.py
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from stepscope._core import Store

_SETTLED_SECONDS = 120
"""The kernel has written what it was given by then, so forcing it costs little."""
_MOST_HELD = 256
"""Entries that one process locks; of more it may lose some to others, and decodes these again."""
_ENTRY = "entry.json"
_LAYOUT = 1
"""Raised when stores are written in another way; entries of another layout are made anew."""


class _Entry(NamedTuple):
    """The file entry.json."""

    bytes: int
    boot: str | None
    """The run of the machine that made it; None once it was forced to the disk."""
    made: float
    path: str


class Content(NamedTuple):
    """A recording in the cache."""

    used: float
    """When it was used last, in seconds since 1970; 0 where that is not known."""
    bytes: int
    path: str
    """Where the recording was read; empty for what was made of several."""
    folder: Path


class _CacheIndex(NamedTuple):
    """A file of the index."""

    key: list[Any]
    items: list[Any]
    skipped: list[Any]
    hashes: dict[str, Any]
    version: str


class Cache:
    """A cache folder. OSError when it cannot be made or written; damage is never an error."""

    def __init__(self, folder: Path, most_bytes: int, version: int) -> None:
        """version: of the decoders; entries of others are made anew."""
        self.folder = cache_folder.claim(folder)
        self._most = most_bytes
        self._decoders = version
        self._seen: dict[Identity, dict[str, Any]] = {}
        """What is to be remembered of files; written once the hash of what they hold is known."""
        self._learning = threading.Lock()
        self._held: dict[Path, int] = {}

    @cached_property
    def _version(self) -> str:
        # Looked up when it is compared or written, which for a new file is after its decoding began.
        from stepscope.lake.schema import schema

        return f"d{self._decoders}s{schema().version}l{_LAYOUT}"

    # What was seen in files: see stepscope.sources.inspection.Memory.

    def recall(self, identity: Identity) -> Inspection | None:
        """What was seen in an unchanged file."""
        found = self._index(identity)
        if found is None:
            return None
        try:
            # It may have been seen by another name, from another folder: relative, or through a link.
            items = tuple(_item(one, identity[0]) for one in found["items"])
            return Inspection(items, tuple(strict_json.record(Skipped, one) for one in found["skipped"]))
        except strict_json.OddJson:
            return None

    def remember(self, identity: Identity, look: Inspection) -> None:
        """Keeps what was seen in a file, from the moment on when it was decoded, too."""
        if not is_lasting(identity):
            return
        items = [{**item._asdict(), "bytes": item.bytes._asdict(), "spooled": None} for item in look.items]
        skipped = [one._asdict() for one in look.skipped]
        self._seen[identity] = {"key": list(identity), "items": items, "skipped": skipped, "hashes": {}}

    def content_hash(self, source: Source) -> str | None:
        """The hash of the source's bytes, if the file is unchanged since it was last decoded."""
        found = self._index(source.identity) if source.identity else None
        known = found.get("hashes", {}).get(source.member) if found else None
        return known if isinstance(known, str) else None

    def learn(self, source: Source, content_hash: str) -> None:
        """Keeps the hash of a source's bytes. Members of one archive are learned by several threads."""
        if source.identity is None:
            return
        with self._learning:
            found = self._index(source.identity)
            if found is not None and found.get("hashes", {}).get(source.member) != content_hash:
                found.setdefault("hashes", {})[source.member] = content_hash
                self._write_index(source.identity, {**found, "version": self._version})
            self._seen.pop(source.identity, None)

    def _index(self, identity: Identity) -> dict[str, Any] | None:
        if identity in self._seen:
            return self._seen[identity]
        try:
            found = strict_json.unsealed(strict_json.read(self._index_path(identity)))
            strict_json.record(_CacheIndex, found)
        except (OSError, strict_json.OddJson):
            return None
        return found if (found["key"], found["version"]) == (list(identity), self._version) else None

    def _index_path(self, identity: Identity) -> Path:
        return self.folder / "index" / f"{_digest(identity[0])}.json"

    def _write_index(self, identity: Identity, found: dict[str, Any]) -> None:
        # What is not remembered is looked up again the next time.
        with contextlib.suppress(OSError):
            disk.write_whole(self._index_path(identity), strict_json.sealed(found))

    # Decoded stores.

    def find(self, source: Source) -> Store | None:
        """The decoded store of a source; None when there is none that can be believed."""
        content_hash = self.content_hash(source) or self._hash(source)
        if content_hash is None:
            return None
        entry = self._entry(source, content_hash)
        if not self._hold(entry):
            return None
        if not self._believed(entry):
            self._let_go(entry)
            return None
        try:
            store = _core.open(str(entry))
        except _core.CoreError:
            self.drop(source, content_hash)
            return None
        with contextlib.suppress(OSError):
            os.utime(entry / _ENTRY)  # used just now: the last to be evicted
        self.learn(source, content_hash)
        return store

    def _hash(self, source: Source) -> str | None:
        """The hash of a file never seen, unless no entry is of its size anyway."""
        place = source.spooled or source.bytes
        if place.unpack or place.offset or place.length not in (None, source.size):
            return None
        if not any((self.folder / "entries").glob(f"{source.size:x}-*")):
            return None
        try:
            return _core.hash_file(place.path)
        except _core.CoreError:
            return None

    @contextlib.contextmanager
    def making(self) -> Iterator[Path]:
        """A folder to decode into; gone at the end unless put() took it."""
        name = os.urandom(16).hex()
        stage, lock = self.folder / "stage" / name, self.folder / "stage" / f"{name}.lock"
        with disk.locked(lock):
            stage.mkdir()
            try:
                yield stage
            finally:
                with contextlib.suppress(OSError):
                    disk.remove(stage)
                    lock.unlink(missing_ok=True)

    def put(self, stage: Path, source: Source, content_hash: str) -> Path:
        """Makes a finished folder an entry; returns where it is now. An entry already there stays."""
        entry = self._entry(source, content_hash)
        self._enter(stage, entry, source.path)
        self.learn(source, content_hash)
        return entry

    def made(self, of: str, tables: Sequence[str]) -> dict[str, list[dict[str, Any]]] | None:
        """Rows of tables that were made of others and kept, by what they were made of; None when there are
        none that can be believed."""
        entry = self._made_entry(of)
        if not self._hold(entry) or not self._believed(entry):
            return None
        try:
            store = _core.open(str(entry))
            stored = store.tables()
            found = {name: store.rows(name) if name in stored else [] for name in tables}
        except _core.CoreError:
            self._let_go(entry)
            with contextlib.suppress(OSError):
                self._remove(entry, held=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(entry / _ENTRY)
        return found

    def keep(self, of: str, tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Keeps tables, as columns, by what they were made of. What cannot be kept is made again."""
        with contextlib.suppress(OSError, LakeError, _core.CoreError), self.making() as stage:
            store = _core.build(str(stage))
            for table, columns in tables.items():
                store.replace(table, dict(columns))
            del store  # lets go before the folder moves
            self._enter(stage, self._made_entry(of), "")

    def _made_entry(self, of: str) -> Path:
        return self.folder / "entries" / f"0-{_digest(of)}-{self._version}-{_digest(self._version)[:8]}"

    def _enter(self, stage: Path, entry: Path, path: str) -> None:
        """Gives a finished folder its name, unless there is an entry already."""
        size = sum(part.stat().st_size for part in stage.iterdir())
        boot = _boot()
        if boot is None:
            for part in stage.iterdir():
                disk.sync_file(part)
        known = _Entry(size, boot, time.time(), path)
        (stage / _ENTRY).write_text(json.dumps(known._asdict()), encoding="utf-8")
        if entry.exists() and not self._believed(entry):
            self._remove(entry, held=True)
        # The lock goes with the folder to its new name.
        held = self._hold(stage)
        try:
            stage.rename(entry)
        except OSError:
            self._let_go(stage)
            if not self._hold(entry):
                raise
        else:
            if held and stage in self._held:
                self._held[entry] = self._held.pop(stage)

    def drop(self, source: Source, content_hash: str) -> None:
        """Removes an entry that turned out to be damaged."""
        entry = self._entry(source, content_hash)
        self._let_go(entry)
        with contextlib.suppress(OSError):
            self._remove(entry, held=True)

    def release(self) -> None:
        """Lets others remove what was found or put here."""
        for entry in list(self._held):
            self._let_go(entry)

    def lost(self) -> bool:
        """Whether somebody removed, in spite of the locks, what was found or put here."""
        return any(not disk.is_still(entry, descriptor) for entry, descriptor in self._held.items())

    def _hold(self, entry: Path) -> bool:
        """Keeps others from evicting an entry; False when it is not there, or going."""
        try:
            descriptor = os.open(entry, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return False
        keep = False
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            except OSError:
                pass  # no locks on folders here: what goes while it is read is decoded again
            is_still_there = disk.is_still(entry, descriptor)
            keep = is_still_there and entry not in self._held and len(self._held) < _MOST_HELD
            return is_still_there
        finally:
            if keep:
                self._held[entry] = descriptor
            else:
                os.close(descriptor)

    def _let_go(self, entry: Path) -> None:
        descriptor = self._held.pop(entry, None)
        if descriptor is not None:
            os.close(descriptor)

    def _remove(self, entry: Path, *, held: bool = False) -> bool:
        """Removes an entry at once for everybody who looks for it; False when somebody reads it, unless
        `held` says that does not matter. OSError when it cannot."""
        descriptor = os.open(entry, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if not held:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    return False
                except OSError:
                    pass  # no locks on folders here: see _hold()
            with self.making() as stage:
                entry.rename(stage)
            return True
        finally:
            os.close(descriptor)

    def _entry(self, source: Source, content_hash: str) -> Path:
        # The same bytes give other tables as another format, and other steps under another name.
        known = [source.format, source.name, str(source.step), str(source.rank)]
        for piece in source.pieces:
            known.append(piece.name)
            with contextlib.suppress(OSError):
                status = os.stat(piece.bytes.path)  # noqa: PTH116 - paths are kept as text
                known.append(f"{status.st_size} {status.st_mtime_ns}")
        hints = _digest("\0".join(known))[:8]
        return self.folder / "entries" / f"{source.size:x}-{content_hash}-{self._version}-{hints}"

    def _believed(self, entry: Path) -> bool:
        """False for an entry that is missing, unfinished, or may have been cut by a crash of the machine."""
        try:
            known = strict_json.record(_Entry, strict_json.read(entry / _ENTRY))
        except (OSError, strict_json.OddJson):
            return False
        if known.boot is None:
            return True
        if known.boot != _boot():
            return False
        if time.time() - known.made > _SETTLED_SECONDS:
            with contextlib.suppress(OSError):
                for path in entry.iterdir():
                    disk.sync_file(path)
                settled = known._replace(boot=None)
                disk.write_whole(entry / _ENTRY, json.dumps(settled._asdict()).encode())
        return True

    # Tidying.

    def tidy(self) -> None:
        """Sweeps what dead processes and other versions left; evicts what was used longest ago."""
        with contextlib.suppress(OSError):
            self._sweep()
            self._evict()

    def _sweep(self) -> None:
        stage = self.folder / "stage"
        for lock in stage.glob("*.lock"):
            if cache_folder.is_own("stage", lock.name):
                with contextlib.suppress(OSError), disk.locked(lock, wait=False) as ours:
                    if ours:
                        disk.remove(stage / lock.stem)
                        lock.unlink(missing_ok=True)

    def _evict(self) -> None:
        found = []
        for content in self.contents():
            if content.folder.name.split("-")[2:3] != [self._version]:
                with contextlib.suppress(OSError):
                    self._remove(content.folder)
                continue
            found.append(content)
        total = sum(content.bytes for content in found)
        # The one used last is being looked at; removing it would not even free its space.
        for content in found[:-1]:
            if total <= self._most and content.used > 0:
                break
            with contextlib.suppress(OSError):  # another process was quicker, or it is not a folder
                if self._remove(content.folder):
                    total -= content.bytes

    def contents(self) -> list[Content]:
        """What is in the cache, by when it was used last. OSError when the folder cannot be listed."""
        found = []
        for entry in (self.folder / "entries").iterdir():
            if not cache_folder.is_own("entries", entry.name):
                continue
            used, size, path = 0.0, 0, ""
            with contextlib.suppress(OSError, strict_json.OddJson):
                used = (entry / _ENTRY).stat().st_mtime
                record = strict_json.record(_Entry, strict_json.read(entry / _ENTRY))
                size, path = record.bytes, record.path
            found.append(Content(used, size, path, entry))
        return sorted(found)

    def clear(self) -> list[Content]:
        """Removes all that nobody reads just now, and what was noted of files. Returns what stays."""
        with contextlib.suppress(OSError):
            self._sweep()
        kept = []
        for content in self.contents():
            try:
                gone = self._remove(content.folder)
            except FileNotFoundError:  # another process was quicker
                gone = True
            if not gone:
                kept.append(content)
        for inner in ("index", "checked"):
            for path in (self.folder / inner).glob("*.json"):
                path.unlink(missing_ok=True)
        return kept


def _item(found: Any, path: str) -> InspectedItem:
    """What was seen in a file, which is at this path now."""
    place = found.get("bytes") if isinstance(found, dict) else None
    unpack = place.get("unpack") if isinstance(place, dict) else None
    if not isinstance(place, dict) or place.get("codec") not in get_args(Codec):
        raise strict_json.OddJson("'bytes' does not say how they are packed")
    if not isinstance(unpack, list) or not all(isinstance(one, str) for one in unpack):
        raise strict_json.OddJson("'unpack' is not a list of names")
    parts = {"path": path, "codec": place["codec"], "unpack": tuple(unpack)}
    known = strict_json.record(ByteLocation, place, parts)
    if known.crc is not None and known.crc >= 1 << 32:
        raise strict_json.OddJson("'crc' has more than 32 bits")
    item = strict_json.record(InspectedItem, found, {"bytes": known, "spooled": None})
    if not (item.decoder.isascii() and item.kind.isascii()):
        raise strict_json.OddJson(f"no format is called {item.kind}")
    return item


def _digest(text: str) -> str:
    return _core.hash_bytes(text.encode("utf-8", "surrogateescape"))


def _boot() -> str | None:
    """What tells this run of the machine from the others; None where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return None
