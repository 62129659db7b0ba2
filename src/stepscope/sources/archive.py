"""Members of zip and tar archives, found without ever trusting a name in them.

Nothing is unpacked under a member's own name, so a path such as ../../etc/passwd has nowhere to go; such
members, links and encrypted ones are passed over and told.
"""

from __future__ import annotations

import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from stepscope.errors import LimitReached
from stepscope.sources import limits
from stepscope.sources.head import Peek, peek, unpacked
from stepscope.sources.source import Bytes, Codec, Skipped

_BROKEN = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    LookupError,
    ArithmeticError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    tarfile.TarError,
)
"""What the archive readers of the standard library raise for bytes that make no sense."""
_ZIP_CODECS: dict[tuple[int, str | None], Codec] = {
    (zipfile.ZIP_STORED, None): "plain",
    (zipfile.ZIP_STORED, "gzip"): "gzip",
    (zipfile.ZIP_DEFLATED, None): "deflate",
}
_ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


@dataclass(frozen=True)
class Member:
    """A file within an archive.

    name and size as the archive tells them; peek is its beginning; rest continues after peek.taken and
    is good until the next member is asked for. place says where the native core finds the bytes, and is
    None when they must be unpacked to the disk first.
    """

    name: str
    size: int
    peek: Peek
    rest: BinaryIO
    place: Bytes | None


class _Guarded:
    """An unpacking stream that stops when it expands too far."""

    def __init__(self, stream: BinaryIO, shown: str, packed: int) -> None:
        self._stream, self._shown, self._packed, self._done = stream, shown, packed, 0

    def read(self, size: int = -1) -> bytes:
        piece = self._stream.read(size)
        self._done += len(piece)
        if limits.too_far(self._done, self._packed):
            raise limits.bomb(self._shown, self._done, self._packed)
        return piece


def members(path: Path, shown: str, packing: str | None) -> Iterator[Member | Skipped]:
    """The members of a zip (packing None and the magic of a zip) or a tar, and those passed over."""
    count = 0
    try:
        for found in _zip(path, shown) if zipfile.is_zipfile(path) else _tar(path, shown, packing):
            yield found
            count += 1
            if count >= limits.MEMBERS:
                yield Skipped(shown, "limit-reached", f"only the first {count:,} members were looked at")
                return
    except LimitReached as error:
        yield Skipped(shown, "limit-reached", error.seen)
    except _BROKEN as error:
        yield Skipped(shown, "damaged-archive", f"after {count:,} members: {error or type(error).__name__}")


def find_member(path: Path, packing: str | None, name: str) -> BinaryIO:
    """The bytes of one member as stored in the archive. KeyError when it is no longer there."""
    if zipfile.is_zipfile(path):
        return cast("BinaryIO", zipfile.ZipFile(path).open(name))
    for found in _tar(path, str(path), packing):
        if isinstance(found, Member) and found.name == name:
            return chain(found.peek.taken, found.rest)
    raise KeyError(name)


def chain(taken: bytes, rest: BinaryIO) -> BinaryIO:
    """A stream of bytes already taken, followed by what is left."""
    return cast("BinaryIO", _Chain(taken, rest))


class _Chain:
    def __init__(self, taken: bytes, rest: BinaryIO) -> None:
        self._taken, self._rest = taken, rest

    def read(self, size: int = -1) -> bytes:
        if not self._taken:
            return self._rest.read(size)
        piece, self._taken = (self._taken, b"") if size < 0 else (self._taken[:size], self._taken[size:])
        return piece + self._rest.read() if size < 0 else piece


def _refused(name: str, is_link: bool) -> tuple[str, str] | None:
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\x00" in name or name[1:2] == ":":
        return "unsafe-path", "its name leads out of the archive"
    if is_link:
        return "link-in-archive", "links and special files in archives are not followed"
    return None


def _zip(path: Path, shown: str) -> Iterator[Member | Skipped]:
    with zipfile.ZipFile(path) as archive, path.open("rb") as raw:
        for info in archive.infolist():
            name = info.filename
            if not name or name.endswith("/"):
                continue
            why = _refused(name, stat.S_ISLNK(info.external_attr >> 16)) or _zip_refused(info)
            if why is not None:
                yield Skipped(f"{shown}!{name}", *why)
                continue
            try:
                with archive.open(info) as stream:
                    member = cast("BinaryIO", stream)
                    start = peek(member)
                    codec = _ZIP_CODECS.get((info.compress_type, start.packing))
                    place = Bytes(str(path), _data_offset(raw, info), info.compress_size, codec or "plain")
                    yield Member(name, info.compress_size, start, member, place if codec else None)
            except _BROKEN as error:
                yield Skipped(f"{shown}!{name}", "damaged-archive", str(error) or type(error).__name__)


def _zip_refused(info: zipfile.ZipInfo) -> tuple[str, str] | None:
    if info.flag_bits & 0x1:
        return "encrypted-member", "it is encrypted; unpack it with its password first"
    if info.compress_type not in _ZIP_METHODS:
        return "unsupported-packing", f"method {info.compress_type} of the zip format"
    if limits.too_far(info.file_size, info.compress_size):
        return "limit-reached", f"{info.file_size:,} bytes unpacked from {info.compress_size:,} packed ones"
    return None


def _data_offset(raw: BinaryIO, info: zipfile.ZipInfo) -> int:
    raw.seek(info.header_offset)
    header = raw.read(30)
    if len(header) < 30 or not header.startswith(b"PK\x03\x04"):
        raise zipfile.BadZipFile(f"no member at byte {info.header_offset:,}, where the directory says")
    name, extra = struct.unpack_from("<HH", header, 26)
    return info.header_offset + 30 + int(name) + int(extra)


def _tar(path: Path, shown: str, packing: str | None) -> Iterator[Member | Skipped]:
    with path.open("rb") as raw:
        stream: BinaryIO = raw
        if packing is not None:
            stream = cast("BinaryIO", _Guarded(unpacked(raw, packing), shown, path.stat().st_size))
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for info in archive:
                if info.isdir():
                    continue
                why = _refused(info.name, not info.isfile() or info.issparse())
                if why is not None:
                    yield Skipped(f"{shown}!{info.name}", *why)
                    continue
                member = cast("BinaryIO", archive.extractfile(info))
                start = peek(member)
                place = None
                if packing is None and start.packing in (None, "gzip"):
                    codec: Codec = "gzip" if start.packing else "plain"
                    place = Bytes(str(path), info.offset_data, info.size, codec)
                yield Member(info.name, info.size, start, member, place)
