"""Members of zip and tar archives, found without ever trusting a name in them.

Nothing is unpacked under a member's own name, so a path such as ../../etc/passwd has nowhere to go. Such
members, links and encrypted ones are skipped with a reason. So is a damaged member, and the rest of an
archive whose damage leaves no way to the next member; everything before it is read.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, NamedTuple, cast

from stepscope.errors import LimitReached
from stepscope.sources import limits
from stepscope.sources.damage import broken, reason
from stepscope.sources.head import Peek, is_zip
from stepscope.sources.source import ByteLocation, Skipped


class Member(NamedTuple):
    """A file within an archive.

    `name` and `size` come from the archive; `peek` is the beginning. `rest` continues after `peek.taken`, is
    valid until the next member is requested, and raises Damaged where the bytes are damaged. `place` says
    where the native core finds the bytes; None when they must be unpacked to disk first.
    """

    name: str
    size: int
    peek: Peek
    rest: BinaryIO
    place: ByteLocation | None


def members(path: Path, shown: str, packing: str | None) -> Iterator[Member | Skipped]:
    """The members of a zip (by its first bytes) or of a tar in a packing, and what is skipped."""
    count = 0
    try:
        for found in _members(path, shown, packing):
            yield found
            count += 1
            if count >= limits.MEMBERS:
                yield Skipped(shown, "limit-reached", f"only the first {count:,} members were examined")
                return
    except LimitReached as error:
        yield Skipped(shown, "limit-reached", error.seen)
    except broken() as error:
        yield Skipped(shown, "damaged-archive", f"after {limits.members(count)}: {reason(error)}")


def find_member(path: Path, packing: str | None, name: str) -> BinaryIO:
    """The bytes of one member as stored in the archive. KeyError when it is no longer there."""
    walked = _members(path, str(path), packing, name)
    for found in walked:
        if isinstance(found, Member) and found.name == name:
            return chain(found.peek.taken, found.rest, kept=walked)
    raise KeyError(name)


def _members(
    path: Path, shown: str, packing: str | None, only: str | None = None
) -> Iterator[Member | Skipped]:
    # By the first bytes: the directory of a zip that is the last member of a tar lies at the end of both.
    with path.open("rb") as file:
        zipped = is_zip(file.read(4))
    if zipped:
        from stepscope.sources import zips

        return zips.members(path, shown, only)
    from stepscope.sources import tars

    return tars.members(path, shown, packing, only)


def chain(taken: bytes, rest: BinaryIO, kept: object = None) -> BinaryIO:
    """A stream of bytes already taken, followed by what is left. kept: lives as long as the stream; what
    walks an archive closes it when it is gone."""
    return cast("BinaryIO", _Chain(taken, rest, kept))


class _Chain:
    def __init__(self, taken: bytes, rest: BinaryIO, kept: object) -> None:
        self._taken, self._rest, self._kept = taken, rest, kept

    def read(self, size: int = -1) -> bytes:
        if not self._taken:
            return self._rest.read(size)
        piece, self._taken = (self._taken, b"") if size < 0 else (self._taken[:size], self._taken[size:])
        return piece + self._rest.read() if size < 0 else piece


def refused(name: str, is_link: bool) -> tuple[str, str] | None:
    """Slug and reason for a member that is not read because of its name or kind; None when it is read."""
    path = PurePosixPath(name.replace("\\", "/"))
    if path.is_absolute() or ".." in path.parts or "\x00" in name or name[1:2] == ":":
        return "unsafe-path", "its name leads out of the archive"
    if is_link:
        return "link-in-archive", "links and special files in archives are not followed"
    return None
