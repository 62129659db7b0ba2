"""Decoded stores kept in the user's cache folder, keyed by what the files hold.

    stepscope-cache.json                 the mark: see cache_folder.py
    index/<digest of the path>.json      what was seen in a file: see cache_index.py
    entries/<size>-<hash>-<version>-<digest of hints>/   a decoded store, uncompressed columns
    stage/<name>/ + <name>.lock          an entry being made or removed; the lock dies with its process
    checked/<digest of the path>.json    which files of a lake hold what was written: see hash_checks.py

An unchanged file is known by path, size, mtime, ctime and inode, so a second look does not read it; a
copy under another name is known by its hash. A reader of an entry holds a shared lock on its folder (see
entry_locks.py), and only entries that nobody holds are evicted. Stores compare what they read with hashes,
so that damage is found and the entry made anew. Entries are not forced to the disk when they are made,
which would cost as much as decoding: one that may have been in flight when the machine went down is not
believed.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from stepscope import _core, strict_json
from stepscope._core import Store
from stepscope.errors import LakeError
from stepscope.lake import cache_folder, disk
from stepscope.lake.cache_index import FileIndex, digest_of
from stepscope.lake.entry_locks import EntryLocks
from stepscope.sources.source import Source

_SETTLED_SECONDS = 120
"""By then, the kernel has written the data, so forcing it costs little."""
_ENTRY = "entry.json"
_LAYOUT = 1
"""Raised when the layout of stores changes; entries of another layout are made anew."""


class _Entry(NamedTuple):
    """The file entry.json."""

    bytes: int
    boot: str | None
    """The boot of the machine that made it; None once it was forced to the disk."""
    made: float
    path: str


class Content(NamedTuple):
    """A recording in the cache."""

    used: float
    """Time of the last use, in seconds since 1970; 0 when unknown."""
    bytes: int
    path: str
    """Where the recording was read; empty for an entry made of several."""
    folder: Path


class Cache:
    """A cache folder. OSError when it cannot be made or written; damage is never an error."""

    def __init__(self, folder: Path, most_bytes: int, version: int) -> None:
        """version: of the decoders; entries of other versions are made anew."""
        self.folder = cache_folder.claim(folder)
        self._most = most_bytes
        self._decoders = version
        self.files = FileIndex(self.folder, lambda: self._version)
        """Facts about files, and hashes of their contents."""
        self.locks = EntryLocks()

    @cached_property
    def _version(self) -> str:
        # Computed on comparison or writing, which for a new file is after its decoding began.
        from stepscope.lake.schema import schema

        return f"d{self._decoders}s{schema().version}l{_LAYOUT}"

    # Decoded stores.

    def find(self, source: Source) -> Store | None:
        """The decoded store of a source; None without a trustworthy one."""
        content_hash = self.files.content_hash(source) or self._hash(source)
        if content_hash is None:
            return None
        entry = self._entry(source, content_hash)
        if not self.locks.hold(entry):
            return None
        if not self._believed(entry):
            self.locks.let_go(entry)
            return None
        try:
            store = _core.open(str(entry))
        except _core.CoreError:
            self.drop(source, content_hash)
            return None
        with contextlib.suppress(OSError):
            os.utime(entry / _ENTRY)  # used just now: the last to be evicted
        self.files.learn(source, content_hash)
        return store

    def _hash(self, source: Source) -> str | None:
        """The hash of a file not seen before, unless no entry has its size."""
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
        """A folder to decode into; removed at the end unless put() took it."""
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
        """Makes a finished folder an entry; returns its path. An existing entry stays."""
        entry = self._entry(source, content_hash)
        self._enter(stage, entry, source.path)
        self.files.learn(source, content_hash)
        return entry

    def made(self, of: str) -> Store | None:
        """The store of derived tables, by the key of their inputs; None without a trustworthy one."""
        entry = self._made_entry(of)
        if not self.locks.hold(entry) or not self._believed(entry):
            return None
        try:
            store = _core.open(str(entry))
        except _core.CoreError:
            self.locks.let_go(entry)
            with contextlib.suppress(OSError):
                self._remove(entry, held=True)
            return None
        with contextlib.suppress(OSError):
            os.utime(entry / _ENTRY)
        return store

    def keep(self, of: str, tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Stores derived tables, as columns, by the key of their inputs. If that fails, they are made
        again."""
        with contextlib.suppress(OSError, LakeError, _core.CoreError), self.making() as stage:
            store = _core.build(str(stage))
            for table, columns in tables.items():
                store.replace(table, dict(columns))
            del store  # released before the folder moves
            self._enter(stage, self._made_entry(of), "")

    def _made_entry(self, of: str) -> Path:
        return self.folder / "entries" / f"0-{digest_of(of)}-{self._version}-{digest_of(self._version)[:8]}"

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
        held = self.locks.hold(stage)
        try:
            stage.rename(entry)
        except OSError:
            self.locks.let_go(stage)
            if not self.locks.hold(entry):
                raise
        else:
            if held:
                self.locks.move(stage, entry)

    def drop(self, source: Source, content_hash: str) -> None:
        """Removes an entry that turned out to be damaged."""
        entry = self._entry(source, content_hash)
        self.locks.let_go(entry)
        with contextlib.suppress(OSError):
            self._remove(entry, held=True)

    def _remove(self, entry: Path, *, held: bool = False) -> bool:
        """Removes an entry at once for everybody who looks for it; False when another process reads it,
        unless `held` allows that. OSError when it cannot."""
        descriptor = disk.open_folder(entry)
        try:
            if not held and not disk.try_lock(descriptor, alone=True):
                return False
            with self.making() as stage:
                entry.rename(stage)
            return True
        finally:
            os.close(descriptor)

    def _entry(self, source: Source, content_hash: str) -> Path:
        # The same bytes give other tables in another format, and other steps under another name.
        known = [source.format, source.name, str(source.step), str(source.step_counted), str(source.rank)]
        for piece in source.pieces:
            known.append(piece.name)
            with contextlib.suppress(OSError):
                status = os.stat(piece.bytes.path)  # noqa: PTH116 - paths are kept as text
                known.append(f"{status.st_size} {status.st_mtime_ns}")
        hints = digest_of("\0".join(known))[:8]
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
        """Removes leftovers of dead processes and other versions; evicts the least recently used entries."""
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
        # The one used last is in use; removing it would not even free its space.
        for content in found[:-1]:
            if total <= self._most and content.used > 0:
                break
            with contextlib.suppress(OSError):  # another process was faster, or it is not a folder
                if self._remove(content.folder):
                    total -= content.bytes

    def contents(self) -> list[Content]:
        """The entries of the cache, by last use. OSError when the folder cannot be listed."""
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
        """Removes all entries that are not in use, and the facts about files. Returns the entries that
        stay."""
        with contextlib.suppress(OSError):
            self._sweep()
        kept = []
        for content in self.contents():
            try:
                gone = self._remove(content.folder)
            except FileNotFoundError:  # another process was faster
                gone = True
            if not gone:
                kept.append(content)
        for inner in ("index", "checked"):
            for path in (self.folder / inner).glob("*.json"):
                path.unlink(missing_ok=True)
        return kept


def _boot() -> str | None:
    """An identity of this boot of the machine; None where the system has none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return None
