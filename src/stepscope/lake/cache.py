"""Decoded stores kept in the user's cache folder, keyed by what the files hold.

    index/<digest of the path>.json      what was seen in a file of that size, time and inode
    entries/<size>-<hash>-<version>-<digest of hints>/   a decoded store, uncompressed columns
    stage/<name>/ + <name>.lock          an entry being made; the lock dies with its maker

An unchanged file is known by path, size, mtime and inode, so a second look reads nothing of it; a copy
under another name is known by its hash. Stores compare what they read with hashes, so that damage is
found and the entry made anew. Entries are not forced to the disk when they are made, which would cost as
much as decoding: one that may have been in flight when the machine went down is not believed.
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
from typing import TYPE_CHECKING, Any

from stepscope.errors import LakeError
from stepscope.lake import disk
from stepscope.sources.look import Identity, Item, Look
from stepscope.sources.source import Bytes, Skipped, Source

if TYPE_CHECKING:
    from stepscope._core import Store

_SETTLED_SECONDS = 120
"""The kernel has written what it was given by then, so forcing it costs little."""
_ENTRY = "entry.json"
_LAYOUT = 3
"""Raised when stores are written in another way; entries of another layout are made anew."""


class Cache:
    """A cache folder. OSError when it cannot be made or written; damage is never an error."""

    def __init__(self, folder: Path, most_bytes: int, version: int) -> None:
        """version: of the decoders; entries of others are made anew."""
        self.folder = folder
        self._most = most_bytes
        self._decoders = version
        self._seen: dict[Identity, dict[str, Any]] = {}
        """What is to be remembered of files; written once the hash of what they hold is known."""
        self._learning = threading.Lock()
        for inner in ("index", "entries", "stage"):
            (folder / inner).mkdir(parents=True, exist_ok=True)

    @cached_property
    def _version(self) -> str:
        # Looked up when it is compared or written, which for a new file is after its decoding began.
        from stepscope.lake.schema import schema

        return f"{self._decoders}.{schema().version}.{_LAYOUT}"

    # What was seen in files: see stepscope.sources.look.Memory.

    def recall(self, identity: Identity) -> Look | None:
        """What was seen in an unchanged file."""
        found = self._index(identity)
        if found is None:
            return None
        try:
            # It may have been seen by another name, from another folder: relative, or through a link.
            items = tuple(
                Item(**{**one, "bytes": _place(one["bytes"], identity[0])}) for one in found["items"]
            )
            return Look(items, tuple(Skipped(**one) for one in found["skipped"]))
        except (KeyError, TypeError):
            return None

    def remember(self, identity: Identity, look: Look) -> None:
        """Keeps what was seen in a file, from the moment on when it was decoded, too."""
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
            found = json.loads(self._index_path(identity).read_bytes())
        except (OSError, ValueError):
            return None
        good = isinstance(found, dict) and found.get("key") == list(identity)
        return found if good and found.get("version") == self._version else None

    def _index_path(self, identity: Identity) -> Path:
        return self.folder / "index" / f"{_digest(identity[0])}.json"

    def _write_index(self, identity: Identity, found: dict[str, Any]) -> None:
        # What is not remembered is looked up again the next time.
        with contextlib.suppress(OSError):
            disk.write_whole(self._index_path(identity), json.dumps(found).encode())

    # Decoded stores.

    def find(self, source: Source) -> Store | None:
        """The decoded store of a source; None when there is none that can be believed."""
        from stepscope import _core

        content_hash = self.content_hash(source) or self._hash(source)
        if content_hash is None:
            return None
        entry = self._entry(source, content_hash)
        if not self._believed(entry):
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
        from stepscope import _core

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
        from stepscope import _core

        entry = self._made_entry(of)
        if not self._believed(entry):
            return None
        try:
            store = _core.open(str(entry))
            there = store.tables()
            found = {name: store.rows(name) if name in there else [] for name in tables}
        except _core.CoreError:
            with contextlib.suppress(OSError):
                disk.remove(entry)
            return None
        with contextlib.suppress(OSError):
            os.utime(entry / _ENTRY)
        return found

    def keep(self, of: str, tables: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Keeps tables, as columns, by what they were made of. What cannot be kept is made again."""
        from stepscope import _core

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
        known = {"bytes": size, "boot": boot, "made": time.time(), "path": path}
        (stage / _ENTRY).write_text(json.dumps(known), encoding="utf-8")
        if entry.exists() and not self._believed(entry):
            disk.remove(entry)
        try:
            stage.rename(entry)
        except OSError:
            if not (entry / _ENTRY).exists():
                raise

    def drop(self, source: Source, content_hash: str) -> None:
        """Removes an entry that turned out to be damaged."""
        with contextlib.suppress(OSError):
            disk.remove(self._entry(source, content_hash))

    def _entry(self, source: Source, content_hash: str) -> Path:
        # The same bytes give other tables as another format, and other steps under another name.
        known = [source.decoder, source.name, str(source.step), str(source.rank)]
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
            known = json.loads((entry / _ENTRY).read_bytes())
            boot, made = known["boot"], float(known["made"])
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if boot is None:
            return True
        if boot != _boot():
            return False
        if time.time() - made > _SETTLED_SECONDS:
            with contextlib.suppress(OSError):
                for path in entry.iterdir():
                    disk.sync_file(path)
                known["boot"] = None
                disk.write_whole(entry / _ENTRY, json.dumps(known).encode())
        return True

    # Tidying.

    def tidy(self) -> None:
        """Sweeps what dead processes and other versions left; evicts what was used longest ago."""
        with contextlib.suppress(OSError):
            self._sweep()
            self._evict()

    def _sweep(self) -> None:
        for lock in (self.folder / "stage").glob("*.lock"):
            with disk.locked(lock, wait=False) as ours:
                if ours:
                    disk.remove(self.folder / "stage" / lock.stem)
                    lock.unlink(missing_ok=True)

    def _evict(self) -> None:
        found = []
        for entry in (self.folder / "entries").iterdir():
            if entry.name.split("-")[2:3] != [self._version]:
                disk.remove(entry)
                continue
            used, size = 0.0, 0
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                used = (entry / _ENTRY).stat().st_mtime
                size = int(json.loads((entry / _ENTRY).read_bytes())["bytes"])
            found.append((used, size, entry))
        total = sum(size for _, size, _ in found)
        # The one used last is being looked at; removing it would not even free its space.
        for used, size, entry in sorted(found)[:-1]:
            if total <= self._most and used > 0:
                break
            disk.remove(entry)
            total -= size


def _place(known: dict[str, Any], path: str) -> Bytes:
    """Where bytes are that were seen in a file, which is at this path now."""
    return Bytes(**{**known, "path": path, "unpack": tuple(known["unpack"])})


def _digest(text: str) -> str:
    from stepscope import _core

    return _core.hash_bytes(text.encode("utf-8", "surrogateescape"))


def _boot() -> str | None:
    """What tells this run of the machine from the others; None where nothing does."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    except OSError:
        return None
