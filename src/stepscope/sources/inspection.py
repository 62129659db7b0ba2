"""The look at one file on disk: one recording, the members of an archive, or something else."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, Protocol

from stepscope.errors import LimitReached
from stepscope.sources import capture_folder, limits
from stepscope.sources.damage import DamagedArchive, reason, reported
from stepscope.sources.head import is_tar, is_zip, kind, peek, unpacked
from stepscope.sources.names import packless
from stepscope.sources.same_capture import Rule
from stepscope.sources.source import ByteLocation, Skipped, Source, Traits
from stepscope.sources.spool import Spool

if TYPE_CHECKING:
    from stepscope.sources.archive import Member


class Recognised(Protocol):
    """A format."""

    @property
    def NAME(self) -> str: ...


class Formats(Protocol):
    """What searching needs to know of formats: stepscope.formats, and what tests have instead."""

    def recognise(self, head: bytes, name: str) -> Recognised | None:
        """The format that claims a file."""

    def described(self, head: bytes, name: str) -> str | None:
        """What a file is that no format claims, where its content tells it to those who know formats."""

    def traits(self, name: str) -> Traits:
        """What the format of this name says of all its files."""

    def twins(self) -> Sequence[Rule]:
        """Rules about files that say again what another of their folder says."""

    def copies(self) -> Sequence[Rule]:
        """Such rules about files of all folders."""

    def numbered(self, sources: Sequence[Source]) -> list[Source]:
        """The sources of one folder, with numbers of steps where only their content tells an order."""


Identity = tuple[str, int, int, int, int]


class InspectedItem(NamedTuple):
    """A file or archive member: a recording when `decoder` is not empty, else something of a `kind`."""

    member: str
    name: str
    kind: str
    decoder: str
    size: int
    bytes: ByteLocation
    spooled: ByteLocation | None = None
    host: str = ""
    """The host that a capture names: in an archive, only who unpacks it can tell."""


class Inspection(NamedTuple):
    """What was seen in one file on disk."""

    items: tuple[InspectedItem, ...]
    skipped: tuple[Skipped, ...]


class InspectionCache(Protocol):
    """Remembers looks by the identity of the file, so that an unchanged file is not read again."""

    def recall(self, identity: Identity) -> Inspection | None:
        """What was seen in the file the last time, if it is the same file still."""

    def remember(self, identity: Identity, look: Inspection) -> None:
        """Keeps what was seen."""


class NoMemory:
    """Remembers nothing."""

    def recall(self, identity: Identity) -> Inspection | None:
        """Nothing."""
        return None

    def remember(self, identity: Identity, look: Inspection) -> None:
        """Forgets it."""


def identity(path: Path) -> Identity:
    """Absolute path, size, mtime and ctime in ns, and inode: the same while the file stays as it is.

    A file that was changed so short a time ago that another change might not show is given a ctime that no
    file ever has: see is_lasting().
    """
    status = path.stat()
    age = time.time_ns() - status.st_ctime_ns
    if 0 <= age <= _TICK_NS:
        time.sleep((_TICK_NS - age) / 1e9)
        status = path.stat()
    ctime_ns = status.st_ctime_ns if settled(status) else -time.time_ns()
    return str(path.resolve()), status.st_size, status.st_mtime_ns, ctime_ns, status.st_ino


def is_lasting(known: Identity) -> bool:
    """Whether the file can be known again by its identity."""
    return known[3] >= 0


_TICK_NS, _COARSE_TICK_NS = 20_000_000, 2_500_000_000
"""Within how long two changes of a file may get the same time: on most file systems, and on those that count
in seconds."""


def settled(status: os.stat_result) -> bool:
    """Whether whatever is changed in the file from now on will show in the time of its last change."""
    tick = _TICK_NS if status.st_ctime_ns % 1_000_000_000 else _COARSE_TICK_NS
    return time.time_ns() - status.st_ctime_ns >= tick


def is_regular(path: Path) -> bool:
    """True for a plain file or a link to one; False for devices, pipes, sockets and dead links."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 - follows links, raises for dead ones
    except OSError:
        return False


def look(path: Path, shown: str, formats: Formats, spool: Spool) -> Inspection:
    """Opens a file and says what it holds. An unreadable file is a Skipped, not an error."""
    try:
        with path.open("rb") as file:
            start = peek(file)
            size = os.fstat(file.fileno()).st_size
            if sparse := limits.hole(file.fileno()):
                return Inspection((), (Skipped(shown, "limit-reached", sparse),))
            if start.packing and not start.head:
                file.seek(0)
                reported(unpacked(file, start.packing)).read(1)  # Damaged, unless it is empty when unpacked
    except DamagedArchive as error:
        return Inspection((), (Skipped(shown, "damaged-archive", reason(error)),))
    except OSError as error:
        return Inspection((), (Skipped(shown, "no-access", error.strerror or str(error)),))
    if is_zip(start.taken) or is_tar(start.head):
        return _archive(path, shown, size, start.packing, formats, spool)
    name = packless(PurePosixPath(shown).name)
    if start.packing in ("bz2", "xz"):
        place = ByteLocation(str(path), unpack=(start.packing,))
    else:
        place = ByteLocation(str(path), codec="gzip" if start.packing else "plain")
    return Inspection((_item("", name, start.head, size, place, formats),), ())


def _item(
    member: str, name: str, head: bytes, size: int, place: ByteLocation, formats: Formats
) -> InspectedItem:
    found = formats.recognise(head, name)
    if found is None:
        return InspectedItem(member, name, formats.described(head, name) or kind(head, name), "", size, place)
    return InspectedItem(member, name, found.NAME, found.NAME, size, place)


def _archive(
    path: Path, shown: str, packed: int, packing: str | None, formats: Formats, spool: Spool
) -> Inspection:
    items: list[InspectedItem] = []
    skipped: list[Skipped] = []
    # Imported where there is one: most recordings are in no archive.
    from stepscope.sources.archive import members

    for found in members(path, shown, packing):
        if isinstance(found, Skipped):
            skipped.append(found)
            continue
        inner = f"{shown}!{found.name}"
        if is_zip(found.peek.taken) or is_tar(found.peek.head):
            skipped.append(Skipped(inner, "nested-archive", "an archive within an archive; unpack the outer"))
            continue
        item = _item_of(found, path, packing, formats)
        if item.decoder and found.place is None:
            try:
                kept = spool.keep(found.peek, found.rest, shown=inner, packed=packed)
            except LimitReached as error:
                skipped.append(Skipped(inner, "limit-reached", error.seen))
                continue
            except (OSError, DamagedArchive) as error:
                skipped.append(Skipped(inner, "damaged-archive", reason(error)))
                continue
            item = item._replace(spooled=kept)
        if item.decoder and formats.traits(item.decoder).kind == capture_folder.KIND:
            item = item._replace(host=capture_folder.host_in(item.spooled or item.bytes))
        items.append(item)
    return Inspection(tuple(items), tuple(skipped))


def _item_of(found: Member, path: Path, packing: str | None, formats: Formats) -> InspectedItem:
    place = found.place or ByteLocation(str(path), unpack=(packing or "plain", found.name))
    name = packless(PurePosixPath(found.name).name)
    return _item(found.name, name, found.peek.head, found.size, place, formats)
