"""Members of a zip: by its directory, or one after the other where the directory is cut off or damaged."""

import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from stepscope.sources import limits
from stepscope.sources.archive import Member, refused
from stepscope.sources.damage import DamagedArchive, broken, reason, reported
from stepscope.sources.head import peek
from stepscope.sources.source import ByteLocation, Codec, Skipped

_CODECS: dict[tuple[int, str | None], Codec] = {
    (zipfile.ZIP_STORED, None): "plain",
    (zipfile.ZIP_STORED, "gzip"): "gzip",
    (zipfile.ZIP_DEFLATED, None): "deflate",
}
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_LOCAL = struct.Struct("<4s5H3I2H")
"""The header before each member: magic, version, flags, method, time, date, CRC, sizes, lengths of names."""
_PIECE = 1 << 14
"""Packed bytes that are unpacked at once."""
_UTF8, _SIZES_BEHIND = 0x800, 0x8


def members(path: Path, shown: str, only: str | None) -> Iterator[Member | Skipped]:
    """The members of a zip (`only` those of a name), and what is skipped. Damaged at the end when its
    directory cannot be used."""
    lost: Exception | None = None
    with path.open("rb") as raw:
        size = path.stat().st_size
        try:
            with zipfile.ZipFile(raw) as archive:
                listed = archive.infolist()
        except broken() as error:
            lost, listed = error, []
        for info in _walked(raw) if lost is not None else listed:
            name = info.filename
            if not name or name.endswith("/") or only not in (None, name):
                continue
            why = refused(name, stat.S_ISLNK(info.external_attr >> 16)) or _refused(info)
            if why is not None:
                yield Skipped(f"{shown}!{name}", *why)
                continue
            try:
                offset = _data_offset(raw, info)
                length = max(0, min(info.compress_size, size - offset))
                stretch = cast("BinaryIO", _Stretch(raw, offset, length))
                member = reported(_stream(stretch, info))
                start = peek(member)
            except broken() as error:
                yield Skipped(f"{shown}!{name}", "damaged-archive", reason(error))
                continue
            codec = _CODECS.get((info.compress_type, start.packing))
            # The checksum of what is packed twice is that of its packed bytes, which have one of their own.
            crc = None if codec == "gzip" else info.CRC
            place = ByteLocation(str(path), offset, length, codec, crc=crc) if codec else None
            yield Member(name, info.compress_size, start, member, place)
    if lost is not None:
        raise DamagedArchive(f"its directory cannot be used: {reason(lost)}")


def _refused(info: zipfile.ZipInfo) -> tuple[str, str] | None:
    if info.flag_bits & 0x1:
        return "encrypted-member", "it is encrypted; unpack it with its password first"
    if info.compress_type not in _METHODS:
        return "unsupported-packing", f"method {info.compress_type} of the zip format"
    if limits.too_far(info.file_size, info.compress_size):
        return "limit-reached", f"{info.file_size:,} bytes unpacked from {info.compress_size:,} packed ones"
    return None


def _data_offset(raw: BinaryIO, info: zipfile.ZipInfo) -> int:
    raw.seek(info.header_offset)
    header = raw.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raise DamagedArchive(f"no member at byte {info.header_offset:,}, where the directory says")
    flags, *_, name, extra = _LOCAL.unpack(header)[2:]
    if _name(raw.read(name), flags) != info.orig_filename:
        raise DamagedArchive("the directory calls it otherwise than the header before its bytes")
    return info.header_offset + _LOCAL.size + int(name) + int(extra)


def _walked(raw: BinaryIO) -> Iterator[zipfile.ZipInfo]:
    """What the headers before the members tell, for a zip without its directory.

    It ends at the first member that does not say how long it is: nothing then leads to the next one.
    """
    at = 0
    while True:
        raw.seek(at)
        header = raw.read(_LOCAL.size)
        if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
            return
        _, _, flags, method, _, _, crc, packed, unpacked, name, extra = _LOCAL.unpack(header)
        if flags & _SIZES_BEHIND or 0xFFFFFFFF in (packed, unpacked):
            return
        info = zipfile.ZipInfo(_name(raw.read(name), flags))
        info.flag_bits, info.compress_type, info.CRC = flags, method, crc
        info.compress_size, info.file_size, info.header_offset = packed, unpacked, at
        yield info
        at += _LOCAL.size + name + extra + packed


def _name(stored: bytes, flags: int) -> str:
    return stored.decode("utf-8" if flags & _UTF8 else "cp437", "replace")


def _stream(packed: BinaryIO, info: zipfile.ZipInfo) -> BinaryIO:
    """What is packed in a stretch. zipfile's own readers of bzip2 and LZMA give all that comes out of the
    bytes they have at once, which may be gigabytes; these give no more than they are asked for."""
    if info.compress_type == zipfile.ZIP_BZIP2:
        import bz2

        return cast("BinaryIO", _Checked(cast("BinaryIO", bz2.BZ2File(packed)), info))
    if info.compress_type == zipfile.ZIP_LZMA:
        return cast("BinaryIO", _Checked(_lzma(packed), info))
    if info.compress_type == zipfile.ZIP_DEFLATED:
        return cast("BinaryIO", _Checked(cast("BinaryIO", _Inflated(packed)), info))
    return cast("BinaryIO", _Checked(packed, info))


def _lzma(packed: BinaryIO) -> BinaryIO:
    """LZMA as zips have it: four bytes, the properties, and a stream without a header."""
    import lzma

    _, _, length = struct.unpack("<BBH", packed.read(4))
    coded, size = struct.unpack_from("<BI", packed.read(length))
    coded, lc = divmod(coded, 9)
    pb, lp = divmod(coded, 5)
    properties = {"id": lzma.FILTER_LZMA1, "dict_size": size, "lc": lc, "lp": lp, "pb": pb}
    return cast("BinaryIO", lzma.LZMAFile(packed, format=lzma.FORMAT_RAW, filters=[properties]))


class _Stretch:
    """A part of a file as a stream of its own."""

    def __init__(self, raw: BinaryIO, offset: int, length: int) -> None:
        self._raw, self._at, self._end = raw, offset, offset + length

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._at
        self._raw.seek(self._at)
        piece = self._raw.read(left if size < 0 else min(size, left))
        self._at += len(piece)
        return piece


class _Inflated:
    """A deflate stream, unpacked."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed, self._unpacker = packed, zlib.decompressobj(-15)

    def read(self, size: int) -> bytes:
        while not self._unpacker.eof:
            stored = self._unpacker.unconsumed_tail or self._packed.read(_PIECE)
            if not stored:
                raise EOFError("it ends within its packed bytes")
            if piece := self._unpacker.decompress(stored, size):
                return piece
        return b""


class _Checked:
    """A stream whose end is compared with the length and CRC that its archive gives for it."""

    def __init__(self, stream: BinaryIO, info: zipfile.ZipInfo) -> None:
        self._stream, self._left, self._crc, self._whole = stream, info.file_size, 0, info.CRC

    def read(self, size: int = -1) -> bytes:
        wanted = self._left if size < 0 else min(size, self._left)
        piece = self._stream.read(wanted) if wanted else b""
        self._left -= len(piece)
        self._crc = zlib.crc32(piece, self._crc)
        if wanted and not piece:
            raise DamagedArchive(f"{self._left:,} bytes are missing at its end")
        if not self._left and self._crc != self._whole:
            raise DamagedArchive("its checksum does not match")
        return piece
