"""The cache's facts about files: the results of inspection, and hashes of contents.

An unchanged file is recognised by path, size, mtime, ctime and inode, so it is not read again.
"""

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, get_args

from stepscope import _core, strict_json
from stepscope.lake import disk
from stepscope.sources.inspection import Identity, InspectedItem, Inspection, is_lasting
from stepscope.sources.source import ByteLocation, Codec, Skipped, Source


class _CacheIndex(NamedTuple):
    """A file of the index."""

    key: list[Any]
    items: list[Any]
    skipped: list[Any]
    hashes: dict[str, Any]
    version: str


class FileIndex:
    """The index of a cache: see stepscope.sources.inspection.InspectionCache."""

    def __init__(self, folder: Path, version: Callable[[], str]) -> None:
        """folder: of the cache. version: of the facts; those of other versions are ignored."""
        self._folder = folder
        self._version = version
        self._seen: dict[Identity, dict[str, Any]] = {}
        """Facts to store about files; written once the hash of their contents is known."""
        self._learning = threading.Lock()

    def recall(self, identity: Identity) -> Inspection | None:
        """The facts about an unchanged file."""
        found = self._index(identity)
        if found is None:
            return None
        try:
            # It may have been inspected under another name, from another folder: relative, or through a link.
            items = tuple(_item(item, identity[0]) for item in found["items"])
            return Inspection(items, tuple(strict_json.record(Skipped, item) for item in found["skipped"]))
        except strict_json.OddJson:
            return None

    def remember(self, identity: Identity, look: Inspection) -> None:
        """Stores the facts about a file, before and after it is decoded."""
        if not is_lasting(identity):
            return
        items = [{**item._asdict(), "bytes": item.bytes._asdict(), "spooled": None} for item in look.items]
        skipped = [item._asdict() for item in look.skipped]
        self._seen[identity] = {"key": list(identity), "items": items, "skipped": skipped, "hashes": {}}

    def content_hash(self, source: Source) -> str | None:
        """The hash of the source's bytes, if the file is unchanged since it was last decoded."""
        found = self._index(source.identity) if source.identity else None
        known = found.get("hashes", {}).get(source.member) if found else None
        return known if isinstance(known, str) else None

    def learn(self, source: Source, content_hash: str) -> None:
        """Stores the hash of a source's bytes. Several threads hash members of one archive."""
        if source.identity is None:
            return
        with self._learning:
            found = self._index(source.identity)
            if found is not None and found.get("hashes", {}).get(source.member) != content_hash:
                found.setdefault("hashes", {})[source.member] = content_hash
                self._write_index(source.identity, {**found, "version": self._version()})
            self._seen.pop(source.identity, None)

    def _index(self, identity: Identity) -> dict[str, Any] | None:
        if identity in self._seen:
            return self._seen[identity]
        try:
            found = strict_json.unsealed(strict_json.read(self._index_path(identity)))
            strict_json.record(_CacheIndex, found)
        except (OSError, strict_json.OddJson):
            return None
        return found if (found["key"], found["version"]) == (list(identity), self._version()) else None

    def _index_path(self, identity: Identity) -> Path:
        return self._folder / "index" / f"{digest_of(identity[0])}.json"

    def _write_index(self, identity: Identity, found: dict[str, Any]) -> None:
        # Anything not stored is computed again the next time.
        with contextlib.suppress(OSError):
            disk.write_whole(self._index_path(identity), strict_json.sealed(found))


def _item(found: Any, path: str) -> InspectedItem:
    """The facts about a file, which is at this path now."""
    place = found.get("bytes") if isinstance(found, dict) else None
    unpack = place.get("unpack") if isinstance(place, dict) else None
    if not isinstance(place, dict) or place.get("codec") not in get_args(Codec):
        raise strict_json.OddJson("'bytes' does not say how they are packed")
    if not isinstance(unpack, list) or not all(isinstance(name, str) for name in unpack):
        raise strict_json.OddJson("'unpack' is not a list of names")
    parts = {"path": path, "codec": place["codec"], "unpack": tuple(unpack)}
    known = strict_json.record(ByteLocation, place, parts)
    if known.crc is not None and known.crc >= 1 << 32:
        raise strict_json.OddJson("'crc' has more than 32 bits")
    item = strict_json.record(InspectedItem, found, {"bytes": known, "spooled": None})
    if not (item.decoder.isascii() and item.kind.isascii()):
        raise strict_json.OddJson(f"no format is called {item.kind}")
    return item


def digest_of(text: str) -> str:
    """The digest under which a path or a key is filed."""
    return _core.hash_bytes(text.encode("utf-8", "surrogateescape"))
