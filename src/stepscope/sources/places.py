"""Facts in the place of a file: the run, the host, and the capture that it belongs to."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath

from stepscope.sources import capture_folder, names
from stepscope.sources.files import PIPE, FoundFile
from stepscope.sources.inspection import InspectedItem, identity
from stepscope.sources.source import Piece, Source, Traits


def ranks_within(items: Iterable[tuple[FoundFile, InspectedItem]]) -> dict[PurePosixPath, int]:
    """The numbers of processes that files within the folders of recordings tell. Where two of them side by
    side tell the same, they are of several jobs, and nothing says which belongs to which."""
    ranks: dict[PurePosixPath, int] = {}
    for file, item in items:
        home = home_of(file, item)
        if (rank := names.rank_within(home, item.name)) is not None:
            ranks[home] = rank
    beside = Counter((home.parent, rank) for home, rank in ranks.items())
    mixed = {parent for (parent, _), recordings in beside.items() if recordings > 1}
    return {home: rank for home, rank in ranks.items() if home.parent not in mixed}


def source_of(
    file: FoundFile,
    item: InspectedItem,
    traits: Traits,
    run: str | None,
    host: str | None,
    ranks: Mapping[PurePosixPath, int],
) -> tuple[Source, str]:
    """The source, and the folder (real or within the archive) whose files it is compared with. ranks: those
    that files within the folders of recordings tell."""
    home = home_of(file, item)
    place = names.labels_in(home)
    run_name, run_path, capture = _run(file, item, traits, home, ranks)
    given_name = run or place.get("run") or ("stdin" if file.place == PIPE and not item.member else None)
    recording = names.recording_folder(home)
    rank = _rank(item, place, recording, ranks)
    in_profile = names.profile_folder(home) is not None
    host_name = host or place.get("host") or names.host(item.name, in_profile) or item.host
    source = Source(
        path=f"{file.shown}!{item.member}" if item.member else file.shown,
        name="-" if file.shown == "-" and not item.member else item.name,
        bytes=item.bytes,
        size=item.size,
        format=item.kind,
        traits=traits,
        run_name=given_name or run_name,
        run_path="" if given_name else run_path,
        run_said=given_name is not None,
        host_name=host_name or ("unknown" if rank is None else f"rank-{rank}"),
        host_said=bool(host or place.get("host")),
        capture=capture,
        step=names.step(item.name),
        rank=rank,
        identity=identity(file.path) if file.lasting else file.identity,
        member=item.member,
        spooled=item.spooled,
    )
    return source, str(recording)


def _rank(
    item: InspectedItem,
    place: Mapping[str, str],
    recording: PurePosixPath,
    ranks: Mapping[PurePosixPath, int],
) -> int | None:
    """The rank that a name tells, or else the folder."""
    rank = names.rank(item.name)
    if rank is None and place.get("rank", "").isdecimal():
        return int(place["rank"])
    return names.recorded_rank(recording, ranks) if rank is None else rank


def home_of(file: FoundFile, item: InspectedItem) -> PurePosixPath:
    """The folder a file lies in, that within the archive for a member of one."""
    home = file.place.parent
    if item.member:
        home = home / _archive_stem(file.place.name) / PurePosixPath(item.member).parent
    return home


def _archive_stem(name: str) -> str:
    return names.stem(name, names.ARCHIVES) or "archive"


def _run(
    file: FoundFile,
    item: InspectedItem,
    traits: Traits,
    home: PurePosixPath,
    ranks: Mapping[PurePosixPath, int],
) -> tuple[str, str, str]:
    """Name of the run, where it lies, and the capture within it."""
    profile = names.profile_folder(home)
    folder, capture = profile or (home, "")
    folder = names.strip_host(folder)
    if file.root is None and not item.member:
        if profile or traits.named_by_host:
            return folder.name or "run", names.url_of(folder), capture
        stem = names.stem(file.place.name, traits.endings, traits.sessions)
        return stem or folder.name or "run", names.url_of(folder), capture
    root = file.root or file.place.parent / _archive_stem(file.place.name)
    root = names.strip_host(root)
    if folder != root:
        folder = names.run_folder(folder, ranks)
    if folder != root and folder.is_relative_to(root):
        return str(folder.relative_to(root)), names.url_of(folder), capture
    return folder.name or "run", names.url_of(folder), capture


def piece_of(file: FoundFile, item: InspectedItem, homes: Sequence[str]) -> tuple[str, Piece] | None:
    """The capture that a file is a piece of, and the piece; None when it is none."""
    folder = str(home_of(file, item))
    home = capture_folder.home_of(folder, homes)
    if home is None:
        return None
    base = PurePosixPath(item.member).name or file.place.name
    name = capture_folder.piece_name(folder, base, home)
    return None if name is None else (home, Piece(name, item.bytes, item.size, item.spooled))


def add_hosts(sources: list[Source]) -> list[Source]:
    """Graphs, checkpoints and some others do not say where they were written: they belong to the host of
    their run, if it has exactly one."""
    hosts: dict[tuple[str, str], set[str]] = defaultdict(set)
    for source in sources:
        if not source.traits.hostless:
            hosts[source.run_name, source.run_path].add(source.host_name)
    placed = []
    for source in sources:
        others = hosts[source.run_name, source.run_path]
        if source.traits.hostless and source.host_name == "unknown" and len(others) == 1:
            source = source._replace(host_name=next(iter(others)))
        placed.append(source)
    return placed


def add_slugs(sources: list[Source]) -> list[Source]:
    """The sources with the ids of their runs and hosts. Runs have short names, longer where these clash; in a
    lake they have others, see stepscope.session.plan."""
    runs = names.unique_slugs(((source.run_name, source.run_path) for source in sources), "run")
    result = []
    for source in sources:
        run_name, run_id = runs[source.run_name, source.run_path]
        host_id = names.lasting_slug(source.host_name, "host")
        result.append(source._replace(run_name=run_name, run_id=run_id, host_id=host_id))
    return result


def order(source: Source) -> tuple[object, ...]:
    """The place of a source among the others."""
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
