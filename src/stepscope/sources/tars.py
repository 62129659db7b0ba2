"""Members of a tar, read from its beginning to its end, whatever it is packed with."""

import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from stepscope.sources import limits
from stepscope.sources.archive import Member, refused
from stepscope.sources.damage import DamagedArchive, reason, reported
from stepscope.sources.head import peek, unpacked
from stepscope.sources.source import ByteLocation, Codec, Skipped

_BLOCK = 512
_DRAIN = 1 << 16
_HEADER_BYTES = 1 << 20
"""Most bytes of a header that extends the next one: a long name, or named values. They have a few hundred."""
_EXTENSIONS = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, b"X")


def members(path: Path, shown: str, packing: str | None, only: str | None) -> Iterator[Member | Skipped]:
    """The members of a tar (`only` those of a name), and what is skipped. Damaged, or what broken() lists,
    where damage hides the next one."""
    size = path.stat().st_size
    with path.open("rb") as raw:
        stream: BinaryIO = raw
        if packing is not None:
            stream = cast("BinaryIO", _Guarded(unpacked(raw, packing), shown, size))
        # A class for each archive, since the reader of tars makes its headers from a class.
        headers: type[_Headers] = type("_HeadersOfOne", (_Headers,), {})
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=headers) as archive:
            for info in archive:
                if info.isdir() or only not in (None, info.name):
                    continue
                why = refused(info.name, not info.isfile() or info.issparse())
                if why is not None:
                    yield Skipped(f"{shown}!{info.name}", *why)
                    continue
                member = reported(cast("BinaryIO", archive.extractfile(info)))
                start = peek(member)
                place = None
                if packing is None and start.packing in (None, "gzip"):
                    codec: Codec = "gzip" if start.packing else "plain"
                    available = max(0, min(info.size, size - info.offset_data))
                    place = ByteLocation(str(path), info.offset_data, available, codec)
                yield Member(info.name, info.size, start, member, place)
        if headers.damage is not None:
            raise DamagedArchive(headers.damage)
        # The checksum of packed bytes is behind the padding of the tar, which nobody has read.
        while packing is not None and stream.read(_DRAIN):
            pass


class _Headers(tarfile.TarInfo):
    """Headers that remember why there is no next one: tarfile ends quietly at a damaged header."""

    damage: str | None = None

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Any:
        try:
            header = super().frombuf(buf, encoding, errors)
        except tarfile.HeaderError as error:
            whole = len(buf) == _BLOCK and not any(buf)
            cls.damage = None if whole else "it has no end" if not buf else reason(error)
            raise
        if header.type in _EXTENSIONS and header.size > _HEADER_BYTES:
            cls.damage = f"a header of {header.size:,} bytes"
            raise tarfile.HeaderError(cls.damage)
        return header


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
