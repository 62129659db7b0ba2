"""Bytes that the native core cannot reach in place, unpacked to a temporary file.

That is standard input and pipes, bzip2 and xz, members of packed tars, doubly packed members of zips,
and remote files. The files live in one temporary folder until close() or the end of the process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from stepscope.errors import LimitReached, UsageError
from stepscope.sources import limits
from stepscope.sources.damage import DamagedArchive, one_error, reason, reported
from stepscope.sources.head import Peek, peek, unpacked
from stepscope.sources.source import ByteLocation, Codec

if TYPE_CHECKING:
    import weakref

_CHUNK = 1 << 16
"""Packed bytes that are unpacked at once: 64 MiB at most."""
_SMALL_BYTES = 64 << 20
"""Members of at most so many bytes are unpacked together with others of their archive."""
_SEVERAL = 2
"""Members of an archive that somebody asks for before the others are unpacked as well."""


class Spool:
    """A temporary folder of unpacked files; made when first needed, gone after close()."""

    def __init__(self) -> None:
        self._folder: str | None = None
        self._remove: weakref.finalize[..., Spool] | None = None
        self._count = 0
        self._lock = threading.Lock()
        self._reached: dict[tuple[ByteLocation, int, int], ByteLocation] = {}
        """Where bytes were unpacked to, by where they lie, and the size and time of that file."""
        self._asked: Counter[tuple[str, str, int, int]] = Counter()
        """How many members of each archive were asked for and had to be unpacked."""
        self._reaching = threading.Lock()

    def _new(self) -> Path:
        with self._lock:
            if self._folder is None:
                import shutil
                import tempfile
                import weakref

                try:
                    self._folder = tempfile.mkdtemp(prefix="stepscope-")
                except OSError as error:
                    raise limits.no_room("", error) from error
                # Also when nobody calls close(): at the end of the process at the latest.
                self._remove = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            self._count += 1
            return Path(self._folder, str(self._count))

    def folder(self) -> Path:
        """An empty folder. LimitReached without room."""
        made = self._new()
        try:
            made.mkdir()
        except OSError as error:
            raise limits.no_room("", error) from error
        return made

    def keep(self, start: Peek, rest: BinaryIO, *, shown: str, packed: int) -> ByteLocation:
        """Writes a stream whose beginning was peeked at; gzip stays packed, for the core unpacks it.

        packed: size of the packed bytes it comes from, for the guard against bombs. LimitReached when
        it expands too far or does not fit on the disk; OSError or Damaged when it cannot be read.
        """
        from stepscope.sources.archive import chain

        stream = chain(start.taken, rest)
        codec: Codec = "plain"
        if start.packing == "gzip":
            codec = "gzip"
        elif start.packing is not None:
            stream = unpacked(stream, start.packing)
        target = self._new()
        most = limits.disk_limit(str(target.parent))
        try:
            with target.open("xb") as file:
                size = limits.copy(reported(stream), file, path=shown, packed=packed, most=most)
        except BaseException:
            target.unlink(missing_ok=True)
            raise
        return ByteLocation(str(target), 0, size, codec)

    def reach(self, place: ByteLocation, shown: str) -> ByteLocation:
        """A place that the native core can read: `place` itself, or its bytes unpacked here.

        OSError, KeyError (the member is gone), Damaged or LimitReached when that fails.
        """
        if not place.unpack:
            return place
        status = Path(place.path).stat()
        version = status.st_size, status.st_mtime_ns
        with self._reaching:
            known = self._reached.get((place, *version))
            if known is None and len(place.unpack) > 1:
                archive = (place.path, place.unpack[0], *version)
                self._asked[archive] += 1
                if self._asked[archive] == _SEVERAL:
                    self._unpack_small(*archive)
                    known = self._reached.get((place, *version))
            if known is None:
                known = self._unpack_one(place, shown, status.st_size)
                self._reached[(place, *version)] = known
            return known

    def is_small(self, place: ByteLocation, size: int) -> bool:
        """Whether a place is a member that must be unpacked, and is unpacked together with others."""
        return len(place.unpack) > 1 and size <= _SMALL_BYTES

    def _unpack_one(self, place: ByteLocation, shown: str, packed: int) -> ByteLocation:
        path = Path(place.path)
        outer, *names = place.unpack
        packing = None if outer == "plain" else outer
        from stepscope.sources.archive import find_member

        with one_error(), path.open("rb") as raw:
            stream = find_member(path, packing, names[0]) if names else raw
            start = peek(stream)
            return self.keep(start, stream, shown=shown, packed=packed)

    def _unpack_small(self, path: str, outer: str, packed: int, changed_ns: int) -> None:
        """Unpacks the members of an archive that are not large: reaching one means reading all before it, and
        a second request suggests that more will follow. The request for a damaged member raises its error."""
        from stepscope.sources.archive import Member, members

        with contextlib.suppress(LimitReached):
            for found in members(Path(path), path, None if outer == "plain" else outer):
                if not isinstance(found, Member):
                    continue
                place = ByteLocation(path, unpack=(outer, found.name))
                key = (place, packed, changed_ns)
                if key in self._reached or not self.is_small(place, found.size):
                    continue
                with contextlib.suppress(OSError, DamagedArchive):
                    shown = f"{path}!{found.name}"
                    self._reached[key] = self.keep(found.peek, found.rest, shown=shown, packed=packed)

    def read(self, place: ByteLocation, shown: str, most: int) -> bytes:
        """All bytes of a small file, unpacked. LimitReached when there are more than `most`; OSError,
        KeyError (the member is gone) or Damaged when they cannot be read."""
        data = bytearray()
        self._read(place, shown, most, data)
        return bytes(data)

    def read_good(self, place: ByteLocation, shown: str, most: int) -> tuple[bytes, str | None]:
        """read() as far as it goes, and why it goes no further; None at the end of the file."""
        data = bytearray()
        try:
            self._read(place, shown, most, data)
        except LimitReached as error:
            return bytes(data), error.seen
        except (OSError, KeyError, DamagedArchive) as error:
            return bytes(data), reason(error)
        return bytes(data), None

    def _read(self, place: ByteLocation, shown: str, most: int, data: bytearray) -> None:
        for chunk in pieces_of(self.reach(place, shown)):
            data += chunk
            if len(data) > most:
                raise LimitReached(
                    "A file of a capture is larger than such files are.",
                    seen=f"more than {most:,} bytes in {shown}",
                    todo="record for a shorter time, or less often",
                    path=shown,
                )

    def unpack(self, place: ByteLocation, shown: str, target: Path) -> None:
        """Writes the bytes, unpacked, to a file that is not there yet. LimitReached when they expand too far;
        OSError, KeyError or Damaged as from read()."""
        reached = self.reach(place, shown)
        packed = Path(reached.path).stat().st_size
        done = 0
        with target.open("xb") as file:
            for chunk in pieces_of(reached):
                done += len(chunk)
                if limits.too_far(done, packed):
                    raise limits.bomb(shown, done, packed)
                file.write(chunk)

    def close(self) -> None:
        """Removes the folder. Idempotent."""
        with self._lock:
            self._folder = None
            self._reached.clear()
            self._asked.clear()
            if self._remove is not None:
                self._remove()


def pieces_of(place: ByteLocation) -> Iterator[bytes]:
    """The bytes of a place that can be reached, unpacked, in pieces of 64 MiB at most. OSError, or Damaged
    when packing or checksum are."""
    seen = 0
    for piece in _pieces(place):
        seen = seen if place.crc is None else zlib.crc32(piece, seen)
        yield piece
    if place.crc not in (None, seen):
        raise DamagedArchive("its checksum does not match")


def _pieces(place: ByteLocation) -> Iterator[bytes]:
    unpacker = {"gzip": _Members, "deflate": _Deflated}.get(place.codec)
    left = place.length
    with Path(place.path).open("rb") as file:
        file.seek(place.offset)
        chunks = iter(lambda: file.read(_CHUNK if left is None else min(left, _CHUNK)), b"")
        unpacked = None if unpacker is None else unpacker()
        for stored in chunks:
            left = None if left is None else left - len(stored)
            if unpacked is None:
                yield stored
            else:
                yield from unpacked.take(stored)
        if unpacked is not None:
            unpacked.end()


class _Deflated:
    """Unpacks deflated bytes, chunk by chunk. Damaged where they make no sense or end early."""

    def __init__(self, wbits: int = -15) -> None:
        self._unpacker = zlib.decompressobj(wbits)

    def take(self, stored: bytes) -> Iterator[bytes]:
        try:
            yield self._unpacker.decompress(stored)
        except zlib.error as error:
            raise DamagedArchive(str(error)) from error

    def end(self) -> None:
        if not self._unpacker.eof:
            raise DamagedArchive("the packed bytes end early")


class _Members(_Deflated):
    """Unpacks gzip files that were put one behind the other. Zeros behind one of them are padding, as tar and
    images of disks leave it."""

    def __init__(self) -> None:
        super().__init__(31)

    def take(self, stored: bytes) -> Iterator[bytes]:
        while stored:
            if self._unpacker.eof:
                stored = stored.lstrip(b"\0")
                if not stored:
                    return
                if not stored.startswith(b"\x1f"):
                    raise DamagedArchive("bytes after the end of the gzip data")
                self._unpacker = zlib.decompressobj(31)
            yield from super().take(stored)
            stored = self._unpacker.unused_data


def spool_pipe(stream: BinaryIO, spool: Spool, shown: str) -> Path:
    """Writes all of a pipe to a file of the spool and returns its path."""
    start = peek(stream)
    raw = Peek(start.taken, None, start.taken)
    return Path(spool.keep(raw, stream, shown=shown, packed=limits.DISK_BYTES).path)


PATIENCE_SECONDS = 10.0
"""How long a named pipe is given until a program opens it for writing."""


def open_pipe(path: str) -> BinaryIO:
    """A pipe or terminal, opened for reading. UsageError for other devices, and for a named pipe that no
    writer opens in time."""
    import select
    import stat

    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    begin = b""
    try:
        _refuse_device(descriptor, path)
    except UsageError:
        os.close(descriptor)
        raise
    if stat.S_ISFIFO(os.fstat(descriptor).st_mode):
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        end = time.monotonic() + PATIENCE_SECONDS
        while not begin:
            try:
                begin = os.read(descriptor, _CHUNK)
            except BlockingIOError:  # somebody writes, if slowly
                break
            # No bytes: nobody has opened it yet, or somebody has and is through.
            if not begin and (events := poll.poll(100)) and events[0][1] & select.POLLHUP:
                begin = os.read(descriptor, _CHUNK)
                break
            if not begin and time.monotonic() > end:
                os.close(descriptor)
                raise UsageError(
                    "Nothing writes to this pipe.",
                    seen=f"a named pipe that no program opened for writing in {PATIENCE_SECONDS:.0f} s",
                    todo="start the program that writes to it first, or give a file",
                    path=path,
                )
    os.set_blocking(descriptor, True)
    from stepscope.sources.archive import chain

    file = os.fdopen(descriptor, "rb")
    return cast("BinaryIO", _Closing(chain(begin, file), file))


class _Closing:
    """A stream that closes its descriptor at the end of a with."""

    def __init__(self, stream: BinaryIO, file: BinaryIO) -> None:
        self._file, self.read = file, stream.read

    def __enter__(self) -> _Closing:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def standard_input() -> BinaryIO:
    """Standard input. UsageError when it is a device other than a terminal."""
    # One that a program made itself has no descriptor.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        _refuse_device(sys.stdin.fileno(), "-")
    return sys.stdin.buffer


def _refuse_device(descriptor: int, path: str) -> None:
    """Devices such as /dev/zero may never end. Terminals do, and the null device is empty."""
    import stat

    status = os.fstat(descriptor)
    if not stat.S_ISCHR(status.st_mode) or os.isatty(descriptor):
        return
    if status.st_rdev != os.stat(os.devnull).st_rdev:  # noqa: PTH116 - devnull is a text
        raise UsageError(
            "A device holds no recording.",
            seen="a character device, which may never end",
            todo="give a file, a folder, a pipe, or - for standard input",
            path=path,
        )


def is_pipe(path: str) -> bool:
    """True for a path that can be read only once: a named pipe, a process substitution or a device."""
    import stat

    mode = os.stat(path).st_mode  # noqa: PTH116 - str paths such as /dev/fd/63 stay as they are
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)
