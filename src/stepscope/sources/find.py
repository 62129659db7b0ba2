"""From paths to sources: search, recognise, group into runs and hosts, leave out what is there twice."""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stepscope.errors import LimitReached, NothingFound, UnreadableSource, UsageError
from stepscope.sources import capture_folder, dump_folder, recording_tables
from stepscope.sources.damage import DamagedArchive
from stepscope.sources.files import FoundFile, files_of, once
from stepscope.sources.head import INSTEAD
from stepscope.sources.inspection import (
    Formats,
    InspectedItem,
    Inspection,
    InspectionCache,
    NoMemory,
    identity,
    is_regular,
    look,
)
from stepscope.sources.names import claims
from stepscope.sources.places import add_hosts, add_slugs, home_of, order, piece_of, ranks_within, source_of
from stepscope.sources.same_capture import OF_A_FOLDER, choose
from stepscope.sources.source import ByteLocation, Piece, Skipped, Source
from stepscope.sources.spool import Spool

_MOST_OTHERS = 1000
"""Files without a recording that are listed by name."""


class FoundSources(NamedTuple):
    """What lies under some paths."""

    sources: tuple[Source, ...]
    """What to read, in an order that does not depend on the order of the paths."""
    skipped: tuple[Skipped, ...]
    """What is not read, and why."""
    seen: tuple[tuple[str, int], ...]
    """How many files of each kind hold no recording."""
    others: tuple[Skipped, ...] = ()
    """The first of these files, with their kind, by path."""


def find(
    paths: Sequence[str],
    formats: Formats,
    spool: Spool,
    *,
    memory: InspectionCache | None = None,
    remembered: InspectionCache | None = None,
    run: str | None = None,
    host: str | None = None,
    looking: Callable[[str, int, int], None] | None = None,
) -> FoundSources:
    """Finds the recordings under the paths.

    memory: of files on this machine. remembered: of objects in stores, which are then not fetched.
    looking: called now and then with the file that is looked at, and how many were.
    UsageError for a path that does not exist; NothingFound, saying what was seen, when there is none;
    LimitReached or UnreadableSource when that is so because the only archive is a bomb or damaged.
    """
    if not paths:
        raise UsageError(
            "No path was given.",
            seen="an empty list of paths",
            todo="name a file, a folder, an archive, or - for standard input",
        )
    seen: Counter[str] = Counter()
    files = files_of(paths, formats, spool, seen, remembered or NoMemory())
    looked = [
        (file, _look(file, formats, spool, memory or NoMemory(), remembered or NoMemory()))
        for file in _reported(once(_reported(files, looking)), looking)
    ]
    homes = sorted(
        str(home_of(file, item))
        for file, found in looked
        for item in found.items
        if item.decoder and formats.traits(item.decoder).kind == capture_folder.KIND
    )
    if len(homes) > 1:
        homes = capture_folder.outer(homes)
    ranks = ranks_within((file, item) for file, found in looked for item in found.items)
    gathered = _Gathered(formats, run, host, ranks)
    for file, found in looked:
        gathered.add(file, found, homes, seen)
    if not gathered.sources:
        raise _nothing(paths, seen, gathered.skipped)
    gathered.skipped += gathered.in_vain
    return FoundSources(
        tuple(sorted(add_slugs(add_hosts(gathered.chosen(homes))), key=order)),
        tuple(sorted(gathered.skipped, key=lambda skipped: (skipped.path, skipped.slug))),
        tuple(sorted(seen.items())),
        tuple(sorted(gathered.others, key=lambda skipped: skipped.path)),
    )


_EVERY = 64
"""Files from one call of `looking` to the next."""


def _reported(
    files: Iterable[FoundFile], looking: Callable[[str, int, int], None] | None
) -> Iterator[FoundFile]:
    """The files. `looking` is called once per batch of files; for a list, with the length of the list."""
    total = len(files) if isinstance(files, Sized) else 0
    for number, file in enumerate(files, 1):
        if looking is not None and number % _EVERY == 0:
            looking(f"{'looking at' if total else 'found'} {file.shown}", number, total)
        yield file


class _Gathered:
    """What the files under some paths hold, before what is there twice is left out."""

    def __init__(
        self, formats: Formats, run: str | None, host: str | None, ranks: Mapping[PurePosixPath, int]
    ) -> None:
        self.formats, self.run, self.host, self.ranks = formats, run, host, ranks
        self.sources: list[tuple[Source, str]] = []
        """Sources, and the folder whose files each is compared with."""
        self.explicit: set[str] = set()
        self.pieces: dict[str, list[Piece]] = defaultdict(list)
        self.skipped: list[Skipped] = []
        self.others: list[Skipped] = []
        self.in_vain: list[Skipped] = []

    def add(self, file: FoundFile, found: Inspection, homes: Sequence[str], seen: Counter[str]) -> None:
        """Adds what a file holds. homes: folders of captures; their pieces are not sources of their own."""
        self.skipped.extend(found.skipped)
        for item in found.items:
            if homes and (piece := piece_of(file, item, homes)) is not None:
                self.pieces[piece[0]].append(piece[1])
            elif not item.decoder:
                seen[item.kind] += 1
                self._leave_out(file, item)
            else:
                traits = self.formats.traits(item.decoder)
                source, folder = source_of(file, item, traits, self.run, self.host, self.ranks)
                self.sources.append((source, folder))
                if file.root is None and not item.member:
                    self.explicit.add(source.path)

    def _leave_out(self, file: FoundFile, item: InspectedItem) -> None:
        member = f"!{item.member}" if item.member else ""
        skipped = Skipped(file.shown + member, "nothing-found", f"{item.kind}, no recording")
        if len(self.others) < _MOST_OTHERS:
            self.others.append(skipped)
        if claim := claims(item.name):
            seen = f"called {claim}, but it is {'an' if item.kind[0] in 'aeiou' else 'a'} {item.kind}"
            self.skipped.append(skipped._replace(slug="unreadable-source", detail=seen))
        elif file.root is None and not item.member:
            self.in_vain.append(skipped)

    def chosen(self, homes: Sequence[str]) -> list[Source]:
        """The sources to read: of each recording that a folder has in several forms, one."""
        by_folder: dict[str, list[Source]] = defaultdict(list)
        sources = capture_folder.joined(self.sources, self.pieces, homes) if homes else self.sources
        if any(source.traits.kind == dump_folder.KIND for source, _ in sources):
            sources = dump_folder.joined(sources, frozenset(self.explicit))
        if any(source.traits.table_names for source, _ in sources):
            sources = recording_tables.joined(sources, frozenset(self.explicit))
        for source, folder in sources:
            by_folder[folder].append(source)
        result: list[Source] = []
        for _, members in sorted(by_folder.items()):
            if len(members) == 1:
                result += members
                continue
            ordered = sorted(members, key=lambda member: member.path)
            kept, left_out = choose(ordered, frozenset(self.explicit), (*OF_A_FOLDER, *self.formats.twins()))
            result += self.formats.numbered(kept)
            self.skipped.extend(left_out)
        if len(by_folder) > 1:
            result, left_out = choose(result, frozenset(self.explicit), self.formats.copies())
            self.skipped.extend(left_out)
        return result


def _look(
    file: FoundFile, formats: Formats, spool: Spool, memory: InspectionCache, remembered: InspectionCache
) -> Inspection:
    if not file.lasting:
        if file.identity is not None and (remembered_look := remembered.recall(file.identity)) is not None:
            return remembered_look
        return look(file.path.absolute(), file.shown, formats, spool)
    try:
        key = identity(file.path)
    except OSError as error:
        return Inspection((), (Skipped(file.shown, "no-access", error.strerror or str(error)),))
    known = memory.recall(key)
    if known is None:
        known = look(file.path.absolute(), file.shown, formats, spool)
        # What this version does not recognise the next one may.
        if any(item.decoder for item in known.items):
            memory.remember(key, known)
        return known
    return _unpacked(known, spool)


def _unpacked(known: Inspection, spool: Spool) -> Inspection:
    """A look that is remembered. Several recordings that must be unpacked are unpacked, as by the first look:
    their bytes show which of them hold the same runs."""
    packed = [item for item in known.items if item.decoder and spool.is_small(item.bytes, item.size)]
    if len(packed) < 2:
        return known
    reached: dict[ByteLocation, ByteLocation] = {}
    for item in packed:
        # The decoder reports damage that came later.
        with contextlib.suppress(OSError, KeyError, DamagedArchive, LimitReached):
            reached[item.bytes] = spool.reach(item.bytes, item.name)
    return known._replace(items=tuple(item._replace(spooled=reached.get(item.bytes)) for item in known.items))


_GIVE = (
    "give the folder where the recording was written (TensorBoard keeps it under plugins/profile/), "
    "or make a recording first"
)


def _nothing(
    paths: Sequence[str], seen: Counter[str], skipped: list[Skipped]
) -> NothingFound | LimitReached | UnreadableSource:
    where = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more paths" if len(paths) > 3 else "")
    troubles_seen = _what_was_seen(seen, skipped)
    closed = [source for source in skipped if source.slug == "no-access"]
    if closed and not seen and len(closed) == len(skipped):
        return _no_access(closed, troubles_seen)
    for slug, error in (("limit-reached", LimitReached), ("damaged-archive", UnreadableSource)):
        first = next((source for source in skipped if source.slug == slug), None)
        if first is not None and _is_one_of(first, paths):
            return error(
                f"Nothing could be read from {where}.",
                seen=troubles_seen,
                todo="unpack it by hand if you trust it, and give the files in it",
                path=first.path,
            )
    return NothingFound(
        f"No recording was found under {where}.",
        seen=troubles_seen,
        todo=_instead(paths, seen),
        path=paths[0] if len(paths) == 1 else None,
    )


def _instead(paths: Sequence[str], seen: Counter[str]) -> str:
    """What to give instead of what was given."""
    if len(paths) == 1 and paths[0].endswith(".py") and sum(seen.values()) == 1:
        return f"run it and record it: stepscope record {paths[0]}"
    return next((INSTEAD[kind] for kind in sorted(seen) if kind in INSTEAD), _GIVE)


def _what_was_seen(seen: Counter[str], skipped: Sequence[Skipped]) -> str:
    """How many files of which kinds, and why the first ones could not be read."""
    counts = ", ".join(f"{count} x {kind}" for kind, count in sorted(seen.items(), key=lambda kv: -kv[1]))
    troubles = "; ".join(f"{source.path}: {source.detail}" for source in skipped[:3])
    return "; ".join(text for text in (counts, troubles) if text) or "no files at all"


def _no_access(closed: Sequence[Skipped], seen: str) -> UnreadableSource:
    more = f" and {len(closed) - 1} more files" if len(closed) > 1 else ""
    return UnreadableSource(
        f"{closed[0].path}{more} cannot be read: {closed[0].detail[:1].lower()}{closed[0].detail[1:]}.",
        seen=seen,
        todo="change its permissions, or copy it to where you may read it",
        slug="no-access",
        path=closed[0].path,
    )


def _is_one_of(skipped: Skipped, paths: Sequence[str]) -> bool:
    """Whether it is, or lies in, one of the files that were named."""
    return any(skipped.path.startswith(path) and is_regular(Path(path)) for path in paths)
