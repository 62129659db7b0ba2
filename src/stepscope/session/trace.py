"""A Trace: everything found under some paths, answering SQL."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepscope import _core, config, formats
from stepscope.engines import early_start
from stepscope.errors import UsageError
from stepscope.lake import disk, marker_file, reader
from stepscope.lake.cache import Cache
from stepscope.lake.mirror import Mirror
from stepscope.session.open_trace import OpenTrace as OpenTrace
from stepscope.sources.find import find
from stepscope.sources.spool import Spool
from stepscope.sources.stores import is_store
from stepscope.sources.user_paths import look_up

if TYPE_CHECKING:
    from stepscope.engines import Engine
    from stepscope.lake.rows import SourceRow
    from stepscope.session.compacting import Compacted
    from stepscope.session.open_trace import TraceTables
    from stepscope.session.plan import IngestPlan
    from stepscope.session.schedule import Progress
    from stepscope.sources.find import FoundSources


class Only(NamedTuple):
    """Which part of a lake to read: ids of runs and hosts; None for all."""

    runs: Collection[str] | None = None
    hosts: Collection[str] | None = None


EVERYTHING = Only()

Cached = bool | str
"""Where decoded sources are kept: True for the user's cache folder, the path of another one, or False for
nowhere."""


def open(
    *paths: str | PathLike[str],
    cache: Cached = True,
    lake: str | PathLike[str] | None = None,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
    engine: Callable[[], Engine] | None = None,
    only: Only = EVERYTHING,
    looking: Progress | None = None,
    memory_bytes: int | None = None,
) -> OpenTrace:
    """Opens files, folders, archives, "-" or a lake as one Trace.

    cache: keep what is decoded in the user's cache folder, or another one, keyed by content; False answers
    from memory and keeps nothing. lake: a lake to read instead of paths. run, host: names to use instead of
    those found. engine: makes what answers SQL, in place of DuckDB (see stepscope.engines). only: runs and
    hosts of a lake; what else it has is neither looked at nor read. looking: hears now and then which file
    is looked at. memory_bytes: as OpenTrace() takes it. Decoding happens at the first query. NothingFound
    when there is no recording under the paths.
    """
    return OpenTrace(
        *found([fspath(path) for path in paths], cache, lake, run, host, progress, engine, only, looking),
        engine,
        memory_bytes,
    )


def found(
    names: Sequence[str],
    cache: Cached = True,
    lake: str | PathLike[str] | None = None,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
    engine: Callable[[], Engine] | None = None,
    only: Only = EVERYTHING,
    looking: Progress | None = None,
) -> tuple[TraceTables, Sequence[str]]:
    """The tables of what is under some paths, and what was given; parameters and errors as with open()."""
    from stepscope.session.lakes import is_lake_at

    folder = _folder(cache)
    if lake is not None:
        if names:
            raise UsageError(
                "Paths and a lake cannot be read together.",
                seen=f"{len(names)} paths and the lake {fspath(lake)}",
                todo="ingest the paths into the lake, or leave one of them out",
            )
        return _lake_tables(fspath(lake), folder, only)
    look_up(names)
    lakes = [name for name in names if is_lake_at(name)]
    if lakes:
        if len(names) > 1:
            raise UsageError(
                "A lake is read alone.",
                seen=f"{lakes[0]} and {len(names) - 1} more paths",
                todo="ingest the other paths into the lake, or leave it out",
                path=lakes[0],
            )
        return _lake_tables(lakes[0], folder, only)
    if only != EVERYTHING:
        raise UsageError(
            "Only a lake can be read in part.",
            seen="runs or hosts to read, and paths that are not a lake",
            todo="leave out --run and --host, or ingest the paths into a lake",
            path=names[0] if names else None,
        )
    if engine is None and any(Path(name).is_dir() for name in names):
        # Making the engine takes longer than looking at most folders. Files are looked at sooner than that,
        # and then they are decoded meanwhile.
        early_start.begin()
    from stepscope.session.tables import DecodedTables

    memory = None if folder is None else _cache_in(folder)
    known = None if memory is None else memory.files
    spool = Spool()
    try:
        tables = find(names, formats, spool, memory=known, run=run, host=host, looking=looking)
        return DecodedTables(tables, spool, memory, progress, names), names
    except BaseException:
        spool.close()
        raise


def ingest(
    paths: Sequence[str | PathLike[str]],
    lake: str | PathLike[str],
    *,
    run: str | None = None,
    host: str | None = None,
    progress: Progress | None = None,
    looked: Callable[[FoundSources], None] | None = None,
    runner: Callable[[IngestPlan, Path], list[SourceRow]] | None = None,
) -> list[SourceRow]:
    """Adds what is found under the paths to a lake, which is made when there is none.

    run, host: names to use instead of those found. looked: called before anything is read with the sources
    and the files that are left out, copies of what the lake has among them. runner: ingests the items of the
    plan somewhere else than in threads of this process, see stepscope.session.on_spark.

    Returns the row of each source, in the order of the sources; one that cannot be read has an error.
    Sources that the lake has already are not read again. NothingFound when there is no recording;
    LakeError when the lake cannot be written: what is in it stays whole. To spread the work over machines,
    see stepscope.session.ingest.
    """
    from stepscope.session.ingest import ingest_all

    if runner is not None and is_store(fspath(lake)):
        raise UsageError(
            "A cluster writes lakes in folders only.",
            seen=f"{fspath(lake)} is in an object store",
            todo="give a folder on a disk that the executors share, or ingest without a runner",
            slug="engine-needs-a-lake",
        )
    return ingest_all([fspath(path) for path in paths], fspath(lake), run, host, progress, looked, runner)


def compact(
    lake: str | PathLike[str],
    runs: Collection[str] | None = None,
    *,
    on_compacted: Callable[[Compacted], None] | None = None,
) -> list[Compacted]:
    """Puts the rows of all sources of a run into one file a table: what fleets need, see
    stepscope.session.compacting. runs: ids of those to compact; None compacts all that have several sources.

    on_compacted: called with each run as it is done. LakeError when the lake is damaged or cannot be written.
    """
    from stepscope.session import compacting

    return compacting.compact(lake, runs, on_compacted)


def verify(lake: str | PathLike[str], *, progress: Progress | None = None) -> tuple[int, int]:
    """Compares every file of a lake with its hash: how many files and bytes were read. LakeError for the
    first that is missing or differs. progress: called as files are compared."""
    from stepscope.session import lakes

    mirror = lakes.store_mirror(lake)
    if mirror is None:
        folder = Path(fspath(lake))
        marker_file.check(folder)
    contents = reader.contents(folder) if mirror is None else mirror.lake()
    contents.verify(contents=True, progress=progress)
    files = contents.files_of()
    return len(files), sum(file.bytes for file in files)


def _lake_tables(folder: str, kept: Path | None, only: Only) -> tuple[TraceTables, Sequence[str]]:
    """The tables of a lake. kept: the folder of the cache."""
    from stepscope.session import lake_derivation, lakes
    from stepscope.session.lake_tables import LakeTables

    mirror = lakes.store_mirror(folder, kept)
    closing: Callable[[], None] | None = None
    if mirror is None:
        lake = reader.open_lake(Path(folder).absolute())
    else:
        if kept is None:
            mirror = Mirror(folder, None)
            closing = mirror.close
        try:
            lake = mirror.lake()
        except BaseException:
            if closing is not None:
                closing()
            raise
    runs, hosts = (None if names is None else frozenset(names) for names in only)
    for kind, wanted, known_ids in (
        ("run", runs, {manifest.source.run_id for manifest in lake.manifests}),
        ("host", hosts, {manifest.source.host_id for manifest in lake.manifests}),
    ):
        if missing := sorted((wanted or frozenset()) - known_ids):
            raise _not_there(kind, missing[0], known_ids, folder)
    return LakeTables(lake, kept, lake_derivation.rows, runs, hosts, closing), [folder]


def _not_there(kind: str, name: str, known_ids: Collection[str], folder: str) -> UsageError:
    shown = ", ".join(sorted(known_ids)[:5]) + (", …" if len(known_ids) > 5 else "")
    return UsageError(
        f"The lake has no {kind} {name}.",
        seen=f"{kind}s {shown}" if known_ids else "a lake without sources",
        todo=f"use an id from the table {kind}",
        path=folder,
    )


def _folder(cache: Cached) -> Path | None:
    """The folder of the cache, where there is to be one."""
    if isinstance(cache, str):
        return Path(cache)
    return config.cache_dir() if cache else None


def user_cache() -> Cache | None:
    """The user's cache; None when its folder cannot be used, which does not stop an answer."""
    return _cache_in(config.cache_dir())


def _cache_in(folder: Path) -> Cache | None:
    """The cache in a folder; None as above."""
    if not disk.KEEPS:
        return None
    try:
        return Cache(folder, config.cache_bytes(), _core.DECODER_VERSION)
    except OSError:
        return None
