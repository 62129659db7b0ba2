"""A lake in an object store, read through a local folder with the parts that are needed.

The folder is a lake itself: manifests and snapshots as the store has them now, and those files that a query
has read, each compared with its hash on arrival. Readers of local lakes read it. It lies in the user's cache
folder, or in a temporary one that is removed with its user.

Manifests are listed and read before the snapshot, for the reason that stepscope.lake.snapshot gives.
"""

import contextlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from stepscope import _core, config, strict_json
from stepscope.errors import DamagedFile, LakeError
from stepscope.lake import cache_folder, derived_tables, disk, manifest, reader
from stepscope.lake import marker_file as marks
from stepscope.lake import snapshot as snapshots
from stepscope.lake.leftovers import STAGE
from stepscope.lake.reader import MANIFESTS, Lake
from stepscope.sources import stores
from stepscope.sources.stores import MissingObject, Object, Store
from stepscope.sources.user_paths import LAKE_MARK

_MANIFEST = re.compile(r"([0-9]{19})(?:-([0-9]{1,9}))?\.json")
_DERIVED = re.compile(r"[a-z][a-z0-9._-]{0,150}\.json")
_MOST_BYTES = 64 << 20
_SEEN = "seen.json"
"""How often the store is listed again because a manifest has moved."""


class _Wanted(Protocol):
    """A file that a manifest lists."""

    @property
    def path(self) -> str:
        """Within the lake."""

    @property
    def bytes(self) -> int:
        """Its size."""

    @property
    def hash(self) -> str:
        """Of its bytes."""


class Mirror:
    """The local copy of a lake in a store."""

    def __init__(self, url: str, cache: Path | None) -> None:
        """cache: the user's cache folder; None is a temporary folder that close() removes. UsageError and
        LakeError when the store cannot be opened."""
        self.store: Store = stores.store(url, LakeError)
        self.url = self.store.url
        self._held = contextlib.ExitStack()
        self.folder = self._place(cache)
        for name in (MANIFESTS, STAGE, derived_tables.FOLDER, snapshots.FOLDER):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def _place(self, cache: Path | None) -> Path:
        if cache is None:
            import tempfile

            return Path(self._held.enter_context(tempfile.TemporaryDirectory(prefix="stepscope-lake-")))
        endpoint = os.environ.get("AWS_ENDPOINT_URL", "") or os.environ.get("AZURE_STORAGE_ENDPOINT", "")
        digest = _core.hash_bytes(f"{self.url}\0{endpoint}".encode("utf-8", "surrogateescape"))
        try:
            return cache_folder.claim(cache) / "stores" / digest
        except OSError as error:
            raise LakeError(
                "What is read of a lake in a store cannot be kept.",
                seen=error.strerror or str(error),
                todo="set STEPSCOPE_CACHE_DIR to a folder that you may write, or use --no-cache",
                path=str(cache),
            ) from error

    def close(self) -> None:
        """Removes a temporary folder."""
        self._held.close()

    def lake(self) -> Lake:
        """The lake as it is now. LakeError when it is none, of another version or damaged, or the store does
        not answer."""
        with disk.locked(self.folder / STAGE / "mirror.lock"):
            self._mark()
            reader.looked(self._bring_said, MissingObject, self.url)
            return replace(reader.contents(self.folder), bring=self.bring)

    def _mark(self) -> None:
        mark = self.folder / LAKE_MARK
        try:
            data = self.store.get(LAKE_MARK)
        except MissingObject:
            mark.unlink(missing_ok=True)
            raise LakeError(
                f"{self.url} is not a lake.",
                seen=f"no {LAKE_MARK} in it",
                todo="stepscope ingest PATH --lake URL makes one",
                path=self.url,
            ) from None
        disk.write_whole(mark, data)
        marks.check(self.folder)

    def _bring_said(self) -> None:
        """Copies the manifests, derived tables and snapshots of the store. MissingObject when one was removed
        in between."""
        known = self._seen()
        found = self._newest_manifests()
        self._bring_small(found, known)
        rest: dict[str, Object] = {}
        for stored in self.store.objects(derived_tables.FOLDER):
            if _DERIVED.fullmatch(stored.key.rpartition("/")[2]):
                rest[stored.key] = stored
        rest |= self._snapshot(known)
        self._bring_small(rest, known)
        found |= rest
        for folder in (MANIFESTS, derived_tables.FOLDER, snapshots.FOLDER):
            for path in (self.folder / folder).iterdir():
                if f"{folder}/{path.name}" not in found:
                    path.unlink(missing_ok=True)
        listing = {name: [stored.key, stored.etag, stored.size] for name, stored in found.items()}
        disk.write_whole(self.folder / STAGE / _SEEN, json.dumps(listing).encode())

    def _newest_manifests(self) -> dict[str, Object]:
        """The manifest of each source, by local path."""
        found: dict[str, Object] = {}
        newest: dict[str, int] = {}
        for stored in self.store.objects(MANIFESTS):
            name = stored.key.rpartition("/")[2]
            match = _MANIFEST.fullmatch(name)
            version = int(match[2] or 0) if match else 0
            if match and version >= newest.get(match[1], -1):
                newest[match[1]] = version
                found[f"{MANIFESTS}/{match[1]}.json"] = stored
        return found

    def _snapshot(self, known: dict[str, list[object]]) -> dict[str, Object]:
        """The newest snapshot and its parts. MissingObject when a part was removed in between."""
        listed = {stored.key: stored for stored in self.store.objects(snapshots.FOLDER)}
        numbers = [number for key in listed if (number := snapshots.number_of(key.rpartition("/")[2]))]
        if not numbers:
            return {}
        commit = f"{snapshots.FOLDER}/{snapshots.name_of(max(numbers))}"
        self._bring_small({commit: listed[commit]}, known)
        found = {commit: listed[commit]}
        for key in (f"{snapshots.FOLDER}/{name}" for name in snapshots.parts_named(self.folder / commit)):
            if key not in listed:
                raise MissingObject(key)
            found[key] = listed[key]
        return found

    def _seen(self) -> dict[str, list[object]]:
        """The objects that the local small files were read from."""
        try:
            found = strict_json.read(self.folder / STAGE / _SEEN)
        except (OSError, strict_json.OddJson):
            return {}
        return found if isinstance(found, dict) else {}

    def _bring_small(self, wanted: dict[str, Object], known: dict[str, list[object]]) -> None:
        """Fetches objects that differ from their local copies."""

        def bring(name: str) -> None:
            stored = wanted[name]
            if stored.size > _MOST_BYTES:
                raise LakeError(
                    "A file of the lake is larger than such files are.",
                    seen=f"{stored.size:,} bytes",
                    todo="restore it from a copy of the lake, or remove it and ingest its source again",
                    path=f"{self.url}/{stored.key}",
                )
            disk.write_whole(self.folder / name, self.store.get(stored.key))

        todo = [
            name
            for name, stored in wanted.items()
            if known.get(name) != [stored.key, stored.etag, stored.size] or not (self.folder / name).is_file()
        ]
        for name in todo:
            known.pop(name, None)
        for _ in stores.parallel(bring, todo):
            pass
        for name in todo:
            known[name] = [wanted[name].key, wanted[name].etag, wanted[name].size]

    def forget(self, names: Iterable[str]) -> None:
        """Marks files to be fetched again, because they change here before they do in the store."""
        known = self._seen()
        for name in names:
            known.pop(name, None)
        disk.write_whole(self.folder / STAGE / _SEEN, json.dumps(known).encode())

    def key_of(self, source_id: int) -> str | None:
        """The key of the local manifest of a source."""
        found = self._seen().get(f"{MANIFESTS}/{manifest.file_name(source_id)}")
        return str(found[0]) if found else None

    def bring(self, files: Iterable[_Wanted]) -> None:
        """Fetches missing files, and compares each with its hash. LakeError for one that the store lacks or
        that differs."""
        todo = [file for file in files if not self._is_here(file)]
        if not todo:
            return
        self._make_room(sum(file.bytes for file in todo), {str(self.folder / file.path) for file in todo})
        for _ in stores.parallel(self._bring, todo):
            pass

    def _is_here(self, file: _Wanted) -> bool:
        path = self.folder / file.path
        try:
            if path.stat().st_size != file.bytes:
                return False
            os.utime(path)  # used last, removed last
        except OSError:
            return False
        return True

    def _bring(self, file: _Wanted) -> None:
        target = self.folder / file.path
        part = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self.store.copy_to(file.path, file.bytes, part)
            if part.stat().st_size != file.bytes or reader.content_hash(part) != file.hash:
                raise self._broken(file, reader.OTHER_BYTES)
            part.replace(target)
        except MissingObject:
            raise self._broken(file, "it is not there") from None
        except OSError as error:
            raise LakeError(
                "What is read of a lake in a store cannot be kept.",
                seen=f"{error.strerror or error}: {target}",
                todo="make space on the disk, or set STEPSCOPE_CACHE_DIR to another folder",
                path=str(target),
            ) from error
        finally:
            part.unlink(missing_ok=True)

    def _broken(self, file: _Wanted, seen: str) -> DamagedFile:
        return DamagedFile(
            "A file of the lake is missing or damaged.",
            seen=seen,
            todo="run the command again if `stepscope compact` ran meanwhile; otherwise remove the manifest "
            "of its source from _manifest, and ingest that again",
            path=f"{self.url}/{file.path}",
        )

    def _make_room(self, needed: int, keep: set[str]) -> None:
        """Removes the least recently used files of all lakes, beyond the size limit of the cache."""
        above = self.folder.parent
        if above.name != "stores":
            return
        files = []
        for path in above.glob("*/*/run=*/host=*/*.*"):
            if path.suffix not in (".parquet", ".lod"):
                continue
            with contextlib.suppress(OSError):
                status = path.stat()
                files.append((status.st_mtime_ns, status.st_size, path))
        total = needed + sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= config.cache_bytes():
                break
            if str(path) not in keep:
                path.unlink(missing_ok=True)
                total -= size


def lake_in_store(url: str) -> bool:
    """Whether there is a lake at a URL. Errors as those of Mirror."""
    try:
        stores.store(url.rstrip("/"), LakeError).head(LAKE_MARK)
    except MissingObject:
        return False
    return True
