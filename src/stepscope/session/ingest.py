"""Filling a lake: every source decoded, written and announced on its own.

    with plan(["logs/"], "lake") as todo:
        finish("lake", [ingest_one(item, "lake") for item in todo.items])

is what `stepscope.ingest(["logs/"], "lake")` does, only without its threads. Items can be pickled, and
ingested by other processes, in any order and more than once: the lake then holds the same bytes.
ingest_one does not import DuckDB; finish() needs it.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from stepscope.background import Background
from stepscope.engines import early_start
from stepscope.lake import derived_tables, reader, store_writer, writer
from stepscope.lake.leftovers import STAGE, Swept
from stepscope.lake.rows import SourceRow
from stepscope.session import lakes, schedule
from stepscope.session.decoding import decode_source
from stepscope.session.plan import IngestPlan, WorkItem, plan
from stepscope.session.schedule import Meter, Progress
from stepscope.session.table_makers import add_file_rows
from stepscope.sources.find import FoundSources
from stepscope.sources.source import Skipped, Source
from stepscope.sources.spool import Spool

__all__ = ["IngestPlan", "WorkItem", "finish", "ingest_all", "ingest_one", "plan"]


def ingest_one(
    item: WorkItem,
    lake: str | os.PathLike[str],
    *,
    spool: Spool | None = None,
    threads: int = 0,
    progress: Callable[[int], None] | None = None,
) -> SourceRow:
    """Adds one planned source to a lake, which is made when there is none; its row there.

    The row is the same when the lake has it already; one that cannot be read has an error. spool: where to
    unpack what must be, by default a temporary folder. threads: 0 for all. progress: called with the bytes
    read so far. LakeError when the lake cannot be written: the source is not in it then.
    """
    if spool is None:
        if not lakes.is_lake_at(os.fspath(lake)):
            _create(lake)
        with contextlib.closing(Spool()) as own_spool:
            return ingest_one(item, lake, spool=own_spool, threads=threads, progress=progress)
    mirror = lakes.store_mirror(lake)
    folder = Path(os.fspath(lake)) if mirror is None else mirror.folder
    source = _reachable(item.source)
    with writer.staged(folder) as stage:
        decoded = decode_source(source, spool, str(stage / "store"), threads=threads, progress=progress)
        decoded = add_file_rows(decoded, item.op_logs, spool)
        if mirror is not None:
            return store_writer.write(mirror, stage, decoded, threads).source
        return writer.write(folder, stage, decoded, threads).source


def _create(lake: str | os.PathLike[str]) -> Swept:
    """Makes a lake, or looks at the one there, and sweeps leftovers."""
    mirror = lakes.store_mirror(lake)
    if mirror is None:
        return writer.create(Path(os.fspath(lake)))
    return store_writer.create(mirror)


def finish(lake: str | os.PathLike[str], rows: Iterable[SourceRow]) -> None:
    """Stores what is derived from whole runs (`iterator`, `buffer`, …) once all items of a plan are ingested.

    rows: as ingest_one() gave them. Without it DuckDB derives these tables at each opening, and other engines
    lack them. LakeError when the lake cannot be written.
    """
    from stepscope.session.lake_derivation import derive_runs  # brings the engine

    runs = {row.run_id for row in rows}
    mirror = lakes.store_mirror(lake)
    if mirror is None:
        derive_runs(reader.contents(Path(os.fspath(lake))), runs)
        return
    contents = mirror.lake()
    before = {run_id: derived_tables.read(mirror.folder, run_id) for run_id in runs}
    mirror.forget(f"{derived_tables.FOLDER}/{run_id}.json" for run_id in runs)
    derive_runs(contents, runs)
    for run_id in sorted(runs):
        store_writer.publish_derived(mirror, run_id, before[run_id])


def _bring_deriving() -> None:
    """Imports what finish() needs and starts an engine while sources are decoded: 0.3 s less to wait for."""
    from stepscope.session import lake_derivation, lake_tables, open_trace  # noqa: F401

    early_start.begin()


def _reachable(source: Source) -> Source:
    """The source without what the plan unpacked, where that is gone or on another machine."""
    if source.spooled is None or Path(source.spooled.path).exists():
        return source
    return source._replace(spooled=None)


def ingest_all(
    paths: Sequence[str],
    lake: str,
    run: str | None,
    host: str | None,
    progress: Progress | None,
    looked: Callable[[FoundSources], None] | None = None,
    runner: Callable[[IngestPlan, Path], list[SourceRow]] | None = None,
) -> list[SourceRow]:
    """Adds what is found under the paths to a lake. See stepscope.session.trace.ingest."""
    with plan(paths, lake, run=run, host=host) as todo:
        swept = _create(lake)
        if looked is not None:
            # Names in the lake that are not as dead writers leave them: it may be somebody else's work.
            odd = (
                Skipped(f"{lake}/{name if '/' in name else f'{STAGE}/{name}'}", "lake", seen)
                for name, seen in swept.refused
            )
            looked(todo.found._replace(skipped=(*todo.found.skipped, *odd)))
        meter = Meter([item.source for item in todo.items], progress)

        def one(number: int, source: Source, threads: int) -> SourceRow:
            meter.report(number, source, 0)
            return ingest_one(
                todo.items[number],
                lake,
                spool=todo.spool,
                threads=threads,
                progress=lambda read: meter.report(number, source, read),
            )

        sources = [item.source for item in todo.items]
        deriving = Background("stepscope-deriving", _bring_deriving).start() if sources else None
        try:
            done = runner(todo, Path(lake)) if runner else schedule.decode_all(sources, one, meter)
            rows = {**todo.known, **dict(zip(sources, done, strict=True))}
        finally:
            if deriving is not None:
                deriving.over.wait()
        finish(lake, rows.values())
        return [rows[source] for source in todo.found.sources]
