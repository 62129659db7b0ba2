"""Filling a lake: every source decoded, written and announced on its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stepscope import config
from stepscope.lake import reader, writer
from stepscope.lake.leftovers import STAGE
from stepscope.lake.rows import SourceRow
from stepscope.session.decoding import decode_source
from stepscope.session.derived import with_files
from stepscope.sources.find import Found
from stepscope.sources.source import Skipped, Source
from stepscope.sources.spool import Spool

Progress = Callable[[str, int, int], None]
"""Called with what is being read, packed bytes done and packed bytes in all."""


def ingest_one(
    source: Source,
    lake: Path,
    spool: Spool,
    *,
    among: Sequence[Source] = (),
    threads: int = 0,
    progress: Callable[[int], None],
) -> SourceRow:
    """Adds one source to a lake; its row there, also when the lake had it or it cannot be read.

    among: the sources that are read together with it. LakeError when the lake cannot be written: the source
    is not in it then.
    """
    with writer.staged(lake) as stage:
        decoded = decode_source(source, spool, str(stage / "store"), threads=threads, progress=progress)
        decoded = with_files(decoded, among, spool)
        return writer.write(lake, stage, decoded, threads).source


def ingest_all(
    paths: Sequence[str],
    lake: Path,
    run: str | None,
    host: str | None,
    progress: Progress | None,
    looked: Callable[[Found], None] | None = None,
) -> list[SourceRow]:
    """Adds what is found under the paths to a lake. See stepscope.session.trace.ingest."""
    from stepscope import _core, formats
    from stepscope.sources.find import find
    from stepscope.sources.given import look_up

    look_up(paths)
    spool = Spool()
    try:
        found = find(paths, formats.recognise, spool, run=run, host=host)
        swept = writer.create(lake)
        if looked is not None:
            # Names in the lake that are not as dead writers leave them: it may be somebody else's work.
            odd = (Skipped(f"{lake}/{STAGE}/{name}", "lake", seen) for name, seen in swept.refused)
            looked(found._replace(skipped=(*found.skipped, *odd)))
        known = {
            (one.identity, one.member): one.source
            for one in reader.read_manifests(lake)
            if one.identity is not None and one.source.decoder_version == _core.DECODER_VERSION
        }
        # Names that were asked for are kept apart even when the file is known under another.
        fixed = run is not None or host is not None
        rows: dict[int, SourceRow] = {}
        todo: list[tuple[int, Source]] = []
        for number, source in enumerate(found.sources):
            row = known.get((source.identity, source.member)) if source.identity else None
            same = row is not None and (row.run_id, row.host_id) == (source.run_id, source.host_id)
            if row is not None and (same or not fixed):
                rows[number] = row
            else:
                todo.append((number, source))
        rows.update(_work(todo, found.sources, lake, spool, progress))
        return [rows[number] for number in sorted(rows)]
    finally:
        spool.close()


def _work(
    todo: list[tuple[int, Source]],
    among: Sequence[Source],
    lake: Path,
    spool: Spool,
    progress: Progress | None,
) -> dict[int, SourceRow]:
    """Ingests sources, several at once when there are several; the first LakeError stops all."""
    stop = threading.Event()
    lock = threading.Lock()
    total = sum(source.size for _, source in todo)
    done: dict[int, int] = {}

    def one(number: int, source: Source, threads: int) -> SourceRow:
        def tell(size: int) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            if progress is not None:
                with lock:
                    done[number] = size
                    progress(source.path, sum(done.values()), total)

        tell(0)
        return ingest_one(source, lake, spool, among=among, threads=threads, progress=tell)

    if len(todo) <= 1:
        return {number: one(number, source, 0) for number, source in todo}
    workers = min(config.threads(), len(todo))
    with ThreadPoolExecutor(workers) as pool:
        futures = {number: pool.submit(one, number, source, 1) for number, source in todo}
        try:
            return {number: future.result() for number, future in futures.items()}
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
