"""From paths to sources: search, recognise, group into runs and hosts, leave out what is there twice."""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stepscope.errors import LimitReached, NothingFound, UnreadableSource, UsageError
from stepscope.sources import capture_folder, names
from stepscope.sources.given import LAKE_MARK, checkpoint_index, is_url
from stepscope.sources.look import Item, Look, Memory, NoMemory, Recognise, identity, is_regular, look
from stepscope.sources.same_capture import choose
from stepscope.sources.source import Piece, Skipped, Source
from stepscope.sources.spool import Spool, from_pipe, is_pipe

_PLACELESS = ("graph", "checkpoint")

_MOST_OTHERS = 1000
"""Files that are no recordings and are told by name."""


class Found(NamedTuple):
    """What lies under some paths."""

    sources: tuple[Source, ...]
    """What to read, in an order that does not depend on the order of the paths."""
    skipped: tuple[Skipped, ...]
    """What is not read, and why."""
    seen: tuple[tuple[str, int], ...]
    """How many files of each kind are no recordings."""
    others: tuple[Skipped, ...] = ()
    """The first of these files, with their kind, by path."""


class _File(NamedTuple):
    """A file to be looked at."""

    path: Path
    """Where its bytes are."""
    shown: str
    root: PurePosixPath | None
    """The folder that led to it, absolute; None when it was itself named."""
    place: PurePosixPath
    """The path that it is known by, absolute: that on the disk, or in the store it was fetched from."""
    lasting: bool = True
    """Whether the bytes will be there when this process has ended."""


_PIPE = PurePosixPath("/stdin")
"""The place of what came through a pipe."""


def _on_disk(path: Path, shown: str, root: Path | None) -> _File:
    place = PurePosixPath(os.path.abspath(path))  # noqa: PTH100 - links keep the name the user gave
    folder = None if root is None else PurePosixPath(os.path.abspath(root))  # noqa: PTH100
    return _File(path, shown, folder, place)


def find(
    paths: Sequence[str],
    recognise: Recognise,
    spool: Spool,
    *,
    memory: Memory | None = None,
    run: str | None = None,
    host: str | None = None,
) -> Found:
    """Finds the recordings under the paths.

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
    skipped: list[Skipped] = []
    sources: list[tuple[Source, str]] = []
    explicit: set[str] = set()
    named_in_vain: list[Skipped] = []
    others: list[Skipped] = []
    looked = [
        (file, _look(file, recognise, spool, memory or NoMemory()))
        for file in _once(_files(paths, recognise, spool, seen))
    ]
    homes = sorted(
        str(_home(file, item))
        for file, found in looked
        for item in found.items
        if item.kind == capture_folder.FORMAT and item.decoder
    )
    pieces: dict[str, list[Piece]] = defaultdict(list)
    for file, found in looked:
        skipped.extend(found.skipped)
        for item in found.items:
            if homes and (piece := _piece(file, item, homes)) is not None:
                pieces[piece[0]].append(piece[1])
                continue
            if not item.decoder:
                seen[item.kind] += 1
                if len(others) < _MOST_OTHERS:
                    member = f"!{item.member}" if item.member else ""
                    others.append(Skipped(file.shown + member, "nothing-found", f"{item.kind}, no recording"))
                if file.root is None and not item.member:
                    named_in_vain.append(Skipped(file.shown, "nothing-found", f"{item.kind}, no recording"))
                continue
            source, folder = _source(file, item, run, host)
            sources.append((source, folder))
            if file.root is None and not item.member:
                explicit.add(source.path)
    if not sources:
        raise _nothing(paths, seen, skipped)
    skipped += named_in_vain
    if homes:
        sources = capture_folder.joined(sources, pieces, homes)
    by_folder: dict[str, list[Source]] = defaultdict(list)
    for source, folder in sources:
        by_folder[folder].append(source)
    chosen: list[Source] = []
    for _, members in sorted(by_folder.items()):
        kept, left_out = choose(sorted(members, key=lambda one: one.path), frozenset(explicit))
        chosen.extend(kept)
        skipped.extend(left_out)
    named = sorted(_with_slugs(_with_hosts(chosen)), key=_order)
    return Found(
        tuple(named),
        tuple(sorted(skipped, key=lambda one: (one.path, one.slug))),
        tuple(sorted(seen.items())),
        tuple(sorted(others, key=lambda one: one.path)),
    )


def _files(paths: Sequence[str], recognise: Recognise, spool: Spool, seen: Counter[str]) -> Iterator[_File]:
    for given in (path.removeprefix("file://") for path in paths):
        if given == "-":
            yield _File(from_pipe(sys.stdin.buffer, spool, "-"), "-", None, _PIPE, lasting=False)
        elif is_url(given):
            from stepscope.sources.remote import fetch

            def wanted(head: bytes, name: str) -> bool:
                return (
                    capture_folder.may_be_piece(name) or recognise(head, PurePosixPath(name).name) is not None
                )

            for one in fetch(given, spool, seen, wanted):
                yield _File(one.path, one.shown, one.root, one.place, lasting=False)
        elif Path(given).is_dir():
            for path in _walk(Path(given), seen):
                yield _on_disk(path, str(path), Path(given))
        elif _is_capture(Path(given), recognise):
            for path in _walk(Path(given).parent, seen):
                yield _on_disk(path, str(path), Path(given).parent)
        elif is_regular(Path(given)):
            index = checkpoint_index(Path(given))
            yield _on_disk(index or Path(given), str(index or given), None)
        elif (index := checkpoint_index(Path(given))) is not None:
            yield _on_disk(index, str(index), None)
        elif Path(given).exists() and is_pipe(given):
            with Path(given).open("rb") as stream:
                yield _File(from_pipe(stream, spool, given), given, None, _PIPE, lasting=False)
        else:
            raise UsageError(
                f"There is no file or folder {given}.",
                seen=f"nothing of that name in {Path(given).absolute().parent}",
                todo="check the spelling; a pattern such as *.json is for the shell to expand",
                path=given,
            )


def _is_capture(path: Path, recognise: Recognise) -> bool:
    """Whether a named file stands for the whole folder it lies in."""
    if path.name != capture_folder.MARK or not is_regular(path):
        return False
    try:
        with path.open("rb") as file:
            found = recognise(file.read(4096), path.name)
    except OSError:  # looking at it like at any other file tells why
        return False
    return found is not None and capture_folder.FORMAT == found.NAME


def _piece(file: _File, item: Item, homes: Sequence[str]) -> tuple[str, Piece] | None:
    """The capture that a file is a piece of, and the piece; None when it is none."""
    folder = str(_home(file, item))
    home = capture_folder.home_of(folder, homes)
    if home is None:
        return None
    base = PurePosixPath(item.member).name or file.place.name
    name = capture_folder.piece_name(folder, base, home)
    return None if name is None else (home, Piece(name, item.bytes, item.size, item.spooled))


def _walk(root: Path, seen: Counter[str]) -> Iterator[Path]:
    """Plain files under a folder, sorted; linked folders once; hidden ones and lakes not at all."""
    visited: set[tuple[int, int]] = set()
    for folder, inner, files in os.walk(root, followlinks=True):
        status = Path(folder).stat()
        if (status.st_dev, status.st_ino) in visited:
            inner.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        if LAKE_MARK in files:
            seen["stepscope lake (give its own path)"] += 1
            inner.clear()
            continue
        hidden = [name for name in inner if name.startswith(".")]
        if hidden:
            seen["hidden folder (not entered)"] += len(hidden)
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if is_regular(path):
                yield path
            else:
                seen["dead link, pipe or device"] += 1


def _once(files: Iterable[_File]) -> list[_File]:
    """Each file on disk once; the one that was named explicitly stays."""
    found: dict[str, _File] = {}
    for file in files:
        key = os.path.realpath(file.path)
        known = found.get(key)
        if known is None or (file.root is None, known.shown) > (known.root is None, file.shown):
            found[key] = file
    return list(found.values())


def _look(file: _File, recognise: Recognise, spool: Spool, memory: Memory) -> Look:
    if not file.lasting:
        return look(file.path.absolute(), file.shown, recognise, spool)
    try:
        key = identity(file.path)
    except OSError as error:
        return Look((), (Skipped(file.shown, "no-access", error.strerror or str(error)),))
    known = memory.recall(key)
    if known is None:
        known = look(file.path.absolute(), file.shown, recognise, spool)
        # What is no recording to this version may be one to the next.
        if any(item.decoder for item in known.items):
            memory.remember(key, known)
    return known


def _source(file: _File, item: Item, run: str | None, host: str | None) -> tuple[Source, str]:
    """The source, and the folder (real or within the archive) whose files it is compared with."""
    home = _home(file, item)
    place = names.said(home)
    run_name, run_path, capture = _run(file, item, home)
    said = run or place.get("run") or ("stdin" if file.place == _PIPE and not item.member else None)
    step, rank = names.step(item.name), names.rank(item.name)
    if rank is None and place.get("rank", "").isdecimal():
        rank = int(place["rank"])
    in_profile = names.profile_folder(home) is not None
    host_name = host or place.get("host") or names.host(item.name, in_profile)
    if host_name is None:
        host_name = "unknown" if rank is None else f"rank-{rank}"
    source = Source(
        path=f"{file.shown}!{item.member}" if item.member else file.shown,
        name="-" if file.shown == "-" and not item.member else item.name,
        bytes=item.bytes,
        size=item.size,
        decoder=item.decoder,
        format=item.kind,
        run_name=said or run_name,
        run_path="" if said else run_path,
        run_said=said is not None,
        host_name=host_name,
        host_said=bool(host or place.get("host")),
        capture=capture,
        step=step,
        rank=rank,
        identity=identity(file.path) if file.lasting else None,
        member=item.member,
        spooled=item.spooled,
    )
    return source, str(home)


def _home(file: _File, item: Item) -> PurePosixPath:
    """The folder a file lies in, that within the archive for a member of one."""
    home = file.place.parent
    if item.member:
        home = home / _archive_stem(file.place.name) / PurePosixPath(item.member).parent
    return home


def _archive_stem(name: str) -> str:
    return names.stem(name) or "archive"


def _run(file: _File, item: Item, home: PurePosixPath) -> tuple[str, str, str]:
    """Name of the run, where it lies, and the capture within it."""
    profile = names.profile_folder(home)
    folder, capture = profile or (home, "")
    folder = names.without_host(folder)
    if file.root is None and not item.member:
        if profile or item.decoder == "xplane":
            return folder.name or "run", names.url_of(folder), capture
        return names.stem(file.place.name) or folder.name or "run", names.url_of(folder), capture
    root = file.root or file.place.parent / _archive_stem(file.place.name)
    root = names.without_host(root)
    if folder != root:
        folder = names.run_folder(folder)
    if folder != root and folder.is_relative_to(root):
        return str(folder.relative_to(root)), names.url_of(folder), capture
    return folder.name or "run", names.url_of(folder), capture


def _with_hosts(sources: list[Source]) -> list[Source]:
    """Graphs and checkpoints do not say where they were written: they belong to the host of
    their run, where there is one."""
    hosts: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in sources:
        if one.format not in _PLACELESS:
            hosts[one.run_name, one.run_path].add(one.host_name)
    placed = []
    for one in sources:
        others = hosts[one.run_name, one.run_path]
        if one.format in _PLACELESS and one.host_name == "unknown" and len(others) == 1:
            one = one._replace(host_name=next(iter(others)))
        placed.append(one)
    return placed


def _with_slugs(sources: list[Source]) -> list[Source]:
    runs = names.unique_slugs(((one.run_name, one.run_path) for one in sources), "run")
    result = []
    for one in sources:
        run_name, run_id = runs[one.run_name, one.run_path]
        host_id = names.lasting_slug(one.host_name, "host")
        result.append(one._replace(run_name=run_name, run_id=run_id, host_id=host_id))
    return result


def _order(source: Source) -> tuple[object, ...]:
    place = source.identity[0] if source.identity else source.path
    return (
        source.run_id,
        source.host_id,
        source.capture,
        -1 if source.step is None else source.step,
        source.name,
        place,
        source.member,
    )


def _nothing(
    paths: Sequence[str], seen: Counter[str], skipped: list[Skipped]
) -> NothingFound | LimitReached | UnreadableSource:
    where = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more paths" if len(paths) > 3 else "")
    counts = ", ".join(f"{count} x {kind}" for kind, count in sorted(seen.items(), key=lambda kv: -kv[1]))
    troubles = "; ".join(f"{one.path}: {one.detail}" for one in skipped[:3])
    told = "; ".join(text for text in (counts, troubles) if text) or "no files at all"
    for slug, error in (("limit-reached", LimitReached), ("damaged-archive", UnreadableSource)):
        first = next((one for one in skipped if one.slug == slug), None)
        if first is not None and any(
            first.path.startswith(path) and is_regular(Path(path)) for path in paths
        ):
            return error(
                f"Nothing could be read from {where}.",
                seen=told,
                todo="unpack it by hand if you trust it, and give the files in it",
                path=first.path,
            )
    return NothingFound(
        f"No recording was found under {where}.",
        seen=f"{told}. Looked for: Chrome-trace JSON, XPlane (.xplane.pb), RunMetadata, event files, graphs, "
        "checkpoints, folders of `stepscope record`",
        todo="give the folder where the recording was written (TensorBoard keeps it under plugins/profile/), "
        "or make a recording first",
        path=paths[0] if len(paths) == 1 else None,
    )
