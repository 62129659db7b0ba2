"""The tables of one recording as one source: a profiler that writes kernels, copies and calls into files of
their own names the files alike, and they have one clock."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

from stepscope.sources.source import Piece, Source


def joined(placed: Sequence[tuple[Source, str]], explicit: frozenset[str]) -> list[tuple[Source, str]]:
    """Sources with their folders, the tables of one recording made one: the first by path, with the others as
    its pieces. explicit: paths of files that were named; these are not joined with files that were not."""
    result: list[tuple[Source, str]] = []
    groups: dict[tuple[str, bool, str, str], list[Source]] = defaultdict(list)
    for source, folder in placed:
        match = re.fullmatch(source.traits.table_names, source.name) if source.traits.table_names else None
        if match is None:
            result.append((source, folder))
        else:
            groups[folder, source.path in explicit, source.format, match[1]].append(source)
    for (folder, *_), tables in groups.items():
        first, *others = sorted(tables, key=lambda source: source.path)
        pieces = tuple(
            Piece(PurePosixPath(other.path).name, other.bytes, other.size, other.spooled) for other in others
        )
        result.append((first._replace(pieces=(*first.pieces, *pieces)), folder))
    return result
