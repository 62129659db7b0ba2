"""Streams of packed bytes that report damage in one way, whichever library finds it."""

import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from stepscope.errors import StepscopeError


class DamagedArchive(ValueError):
    """Packed bytes or an archive that make no sense, or that end too early."""


def reason(error: BaseException) -> str:
    """What a library says about the damage; the name of its exception when it says nothing."""
    return str(error) or type(error).__name__


def broken() -> tuple[type[Exception], ...]:
    """What the unpackers and archive readers of the standard library raise over damaged bytes.

    A function, because most recordings are not packed and need none of these modules.
    """
    import lzma
    import tarfile
    import zipfile

    return (
        OSError,
        EOFError,
        ValueError,
        RuntimeError,
        LookupError,
        ArithmeticError,
        MemoryError,
        struct.error,
        zlib.error,
        lzma.LZMAError,
        zipfile.BadZipFile,
        tarfile.TarError,
    )


@contextmanager
def one_error() -> Iterator[None]:
    """What libraries raise over damaged bytes comes out as Damaged; OSError is then the system's own."""
    try:
        yield
    except (StepscopeError, DamagedArchive, KeyError):
        raise
    except OSError as error:
        # bz2 raises it for damaged bytes, without the number that the system's errors have.
        if error.errno is not None:
            raise
        raise DamagedArchive(reason(error)) from error
    except Exception as error:
        if not isinstance(error, broken()):
            raise
        raise DamagedArchive(reason(error)) from error


def reported(stream: BinaryIO) -> BinaryIO:
    """The same stream, whose read() raises Damaged for damaged bytes and OSError only for the system's."""
    return cast("BinaryIO", _Reported(stream))


class _Reported:
    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        with one_error():
            return self._stream.read(size)
