"""The files of a dump folder of XLA as one source: each is a stage or pass of a compile, and says little by
itself."""

import zlib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from stepscope.sources.inspection import Identity
from stepscope.sources.names import packless
from stepscope.sources.source import Piece, Source

KIND = "dump"
DRAWING = ".dot"


def joined(placed: Sequence[tuple[Source, str]], explicit: frozenset[str]) -> list[tuple[Source, str]]:
    """Sources with their folders, those of one dump folder made one, with their files as its pieces.
    explicit: paths of files that were named; these stand for themselves, not for their folder."""
    result: list[tuple[Source, str]] = []
    groups: dict[tuple[str, bool], list[Source]] = defaultdict(list)
    of_dumps = {folder for source, folder in placed if source.traits.kind == KIND}
    for source, folder in placed:
        if source.traits.kind == KIND:
            groups[folder, source.path in explicit].append(source)
        elif folder not in of_dumps or source.path in explicit or not packless(source.path).endswith(DRAWING):
            result.append((source, folder))  # the others are drawings of the modules beside them
    for (folder, named), files in groups.items():
        result.append((_one(sorted(files, key=lambda source: source.path), named), folder))
    return result


def _one(files: Sequence[Source], named: bool) -> Source:
    first = files[0]
    pieces = tuple(
        Piece(PurePosixPath(file.member or file.path).name, file.bytes, file.size, file.spooled)
        for file in files
    )
    first = first._replace(step=None, rank=None, capture="", pieces=pieces)
    if named and len(files) == 1:
        return first
    member = ""
    if first.member:
        archive = first.path.removesuffix(f"!{first.member}")
        member = str(PurePosixPath(first.member).parent).removeprefix(".")
        path = f"{archive}!{member}" if member else archive
    else:
        path = first.path.rpartition("/")[0] or ("/" if first.path.startswith("/") else ".")
    return first._replace(
        path=path,
        size=sum(file.size for file in files),
        member=member,
        identity=_identity([file.identity for file in files], bool(first.member)),
    )


def _identity(known: Sequence[Identity | None], packed: bool) -> Identity | None:
    """What tells the files from others and from themselves after a change; None where one is not known."""
    every = [key for key in known if key is not None]
    if len(every) < len(known):
        return None
    if packed:
        return every[0]
    folder = every[0][0].rpartition("/")[0] or "/"
    ctime_ns = (
        max(key[3] for key in every) if all(key[3] >= 0 for key in every) else min(key[3] for key in every)
    )
    checksum = zlib.crc32(repr(sorted(every)).encode("utf-8", "surrogatepass"))
    return folder, sum(key[1] for key in every), max(key[2] for key in every), ctime_ns, checksum
