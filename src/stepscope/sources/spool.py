"""Bytes that the native core cannot reach in place, unpacked to a temporary file.

That is standard input and pipes, bzip2 and xz, members of packed tars, doubly packed members of zips,
and remote files. The files live in one temporary folder until close() or the end of the process.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
import zlib
from pathlib import Path
from typing import BinaryIO

from stepscope.errors import LimitReached
from stepscope.sources import limits
from stepscope.sources.archive import chain, find_member
from stepscope.sources.head import Peek, peek, unpacked
from stepscope.sources.source import Bytes, Codec


class Spool:
    """A temporary folder of unpacked files; made when first needed, gone after close()."""

    def __init__(self) -> None:
        self._folder: str | None = None
        self._remove: weakref.finalize[..., Spool] | None = None
        self._count = 0
        self._lock = threading.Lock()

    def _new(self) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = tempfile.mkdtemp(prefix="stepscope-")
                # Also when nobody calls close(): at the end of the process at the latest.
                self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            self._count += 1
            return Path(self._folder, str(self._count))

    def keep(self, start: Peek, rest: BinaryIO, *, shown: str, packed: int) -> Bytes:
        """Writes a stream whose beginning was peeked at; gzip stays packed, for the core unpacks it.

        packed: size of the packed bytes it comes from, for the guard against bombs. LimitReached when
        it expands too far or does not fit on the disk.
        """
        stream = chain(start.taken, rest)
        codec: Codec = "plain"
        if start.packing == "gzip":
            codec = "gzip"
        elif start.packing is not None:
            stream = unpacked(stream, start.packing)
        target = self._new()
        with target.open("xb") as file:
            size = limits.copy(
                stream, file, path=shown, packed=packed, most=limits.disk_limit(str(target.parent))
            )
        return Bytes(str(target), 0, size, codec)

    def reach(self, place: Bytes, shown: str) -> Bytes:
        """A place that the native core can read: `place` itself, or its bytes unpacked here."""
        if not place.unpack:
            return place
        path = Path(place.path)
        packed = path.stat().st_size
        outer, *names = place.unpack
        packing = None if outer == "plain" else outer
        with path.open("rb") as raw:
            stream = find_member(path, packing, names[0]) if names else raw
            start = peek(stream)
            return self.keep(start, stream, shown=shown, packed=packed)

    def read(self, place: Bytes, shown: str, most: int) -> bytes:
        """All bytes of a small file, unpacked. LimitReached when there are more than `most`; OSError,
        KeyError (the member is gone) or ValueError (damaged packing) when they cannot be had."""
        reached = self.reach(place, shown)
        with Path(reached.path).open("rb") as file:
            file.seek(reached.offset)
            stored = file.read(most + 1 if reached.length is None else min(reached.length, most + 1))
        data = stored
        if reached.codec != "plain":
            unpacker = zlib.decompressobj(31 if reached.codec == "gzip" else -15)
            try:
                data = unpacker.decompress(stored, most + 1)
            except zlib.error as error:
                raise ValueError(str(error)) from error
        if len(data) > most:
            raise LimitReached(
                "A file of a capture is larger than such files are.",
                seen=f"more than {most:,} bytes in {shown}",
                todo="record for a shorter time, or less often",
                path=shown,
            )
        return data

    def close(self) -> None:
        """Removes the folder. Idempotent."""
        with self._lock:
            self._folder = None
            if self._remove is not None:
                self._remove()


def from_pipe(stream: BinaryIO, spool: Spool, shown: str) -> Path:
    """Writes all of a pipe to a file of the spool and returns its path."""
    start = peek(stream)
    raw = Peek(start.taken, None, start.taken)
    return Path(spool.keep(raw, stream, shown=shown, packed=limits.DISK_BYTES).path)


def is_pipe(path: str) -> bool:
    """True for a path that can be read only once: a named pipe or a process substitution."""
    import stat

    mode = os.stat(path).st_mode  # noqa: PTH116 - str paths such as /dev/fd/63 stay as they are
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
