"""Limits on how far a packed file may expand before it is taken for a bomb.

Real recordings pack about 13:1; a JSON made to expand reaches 344:1 and zeros 1,029:1.
"""

import os
from typing import BinaryIO

from stepscope.errors import LimitReached

RATIO = 200
"""Unpacked bytes per packed byte beyond which unpacking stops."""
FREE_BYTES = 64 << 20
"""Unpacked bytes during which the ratio does not count: small files may be very regular."""
DISK_BYTES = 64 << 30
"""Never write more than this when something must be unpacked to the disk."""
MEMBERS = 1_000_000
"""Members of one archive that are looked at."""

_CHUNK = 1 << 20


def too_far(unpacked: int, packed: int) -> bool:
    """True when `packed` bytes have become suspiciously many."""
    return unpacked > FREE_BYTES and unpacked > RATIO * max(packed, 1)


def hole(file: int) -> str | None:
    """What to say of a sparse file that is nearly all hole, by its descriptor; None for every other file.

    Its zeros would be read for minutes, and a decoder has nothing to find in them.
    """
    status = os.fstat(file)
    stored = getattr(status, "st_blocks", 0) * 512
    if not hasattr(os, "SEEK_HOLE") or not too_far(status.st_size, stored):
        return None
    # Some file systems count blocks only once they have written them; this they know at once.
    if os.lseek(file, 0, os.SEEK_HOLE) >= status.st_size:
        return None
    return f"a sparse file of {status.st_size:,} bytes, of which {stored:,} are stored"


def disk_limit(folder: str) -> int:
    """Most bytes that unpacking may write into a folder now."""
    import shutil

    return min(DISK_BYTES, int(shutil.disk_usage(folder).free * 0.8))


def members(count: int) -> str:
    """1 member, 2 members."""
    return f"{count:,} member{'s' * (count != 1)}"


def bomb(path: str, unpacked: int, packed: int) -> LimitReached:
    """The error for a file that expands too far."""
    return LimitReached(
        "A packed file expands far more than recordings do, so reading it was stopped.",
        seen=f"{unpacked:,} bytes unpacked from {packed:,} packed ones",
        todo="unpack it by hand if you trust it, and give the unpacked file",
        path=path,
    )


def no_room(path: str, error: OSError) -> LimitReached:
    """The error for the disk that temporary files go to when it takes no more."""
    return LimitReached(
        "A file must be unpacked to the disk first, and the disk does not take it.",
        seen=error.strerror or str(error),
        todo="free space, set TMPDIR to another folder, or unpack the file by hand",
        path=path,
    )


def copy(source: BinaryIO, target: BinaryIO, *, path: str, packed: int, most: int) -> int:
    """Copies an unpacking stream to a file under the limits; returns the bytes written.

    LimitReached when it expands too far or would write more than `most` bytes.
    """
    done = 0
    while chunk := source.read(_CHUNK):
        done += len(chunk)
        if too_far(done, packed):
            raise bomb(path, done, packed)
        if done > most:
            raise LimitReached(
                "Unpacking a file would fill the disk, so it was stopped.",
                seen=f"more than {most:,} bytes, the most that may be written here now",
                todo="set TMPDIR to a folder with more space, or unpack the file by hand",
                path=path,
            )
        try:
            target.write(chunk)
            target.flush()
        except OSError as error:
            raise no_room(path, error) from error
    return done
