"""Compaction: the rows of all sources of a run in one file a table, sorted by host, track and time.

A file costs 0.3 ms to open and two to three kilobytes of names and statistics, whatever it holds, and a run
of 10,000 hosts has ten of them a host. Afterwards a question reads as many files as it reads tables. Tables
that would exceed FILE_BYTES are cut between hosts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from stepscope import config
from stepscope.engines import Form, Statement, rows_of
from stepscope.errors import UsageError
from stepscope.lake import disk, reader, snapshot_writer, store_writer, writer
from stepscope.lake.manifest import Manifest
from stepscope.lake.reader import Lake
from stepscope.lake.schema import SchemaTable, schema
from stepscope.lake.snapshot import Packed
from stepscope.session import lakes
from stepscope.sources.user_paths import LAKE_MARK

if TYPE_CHECKING:
    from stepscope.lake.mirror import Mirror

FILE_BYTES = 96 << 20
"""Bytes of the files of a table that become one; what they become is smaller."""
_ORDER = ("host_id", "track_id", "ts_ps", "start_ps", "id")
_GUESSED_ROW_BYTES = 7
_WRITING_BYTES = 2 << 30
"""Memory that writing a file takes, most of it for the row group that is being filled."""
_ATTEMPTS = 3
"""How often a run is compacted anew because somebody ingested into it meanwhile."""


class Compacted(NamedTuple):
    """What was done with a run."""

    run_id: str
    sources: int
    files_before: int
    bytes_before: int
    files: int
    bytes: int
    timelines_lost: int
    """Damaged ones, which were left out: tables hold what they showed."""


def compact(
    lake: lakes.Given,
    runs: Collection[str] | None = None,
    on_compacted: Callable[[Compacted], None] | None = None,
) -> list[Compacted]:
    """Compacts those runs of a lake (None: all) that have several sources, not all in one place yet.

    on_compacted: called with each as it is done. UsageError for a run that the lake lacks; LakeError when a
    table is damaged or the lake cannot be written: what is in it stays whole.
    """
    if not lakes.is_lake_at(os.fspath(lake)):
        raise UsageError(
            "There is no lake to compact.",
            seen=f"no {LAKE_MARK} in it",
            todo="name a lake; stepscope ingest PATH --lake DIR makes one",
            path=os.fspath(lake),
        )
    mirror = lakes.store_mirror(lake)
    if mirror is None:
        writer.create(Path(os.fspath(lake)))
    else:
        store_writer.create(mirror)
    done = []
    for run_id in needed(_contents(lake, mirror), runs, os.fspath(lake)):
        for _ in range(_ATTEMPTS):
            found = _compact(_contents(lake, mirror), run_id, mirror)
            if found is not None:
                done.append(found)
                if on_compacted is not None:
                    on_compacted(found)
                break
    return done


def needed(lake: Lake, runs: Collection[str] | None, shown: str) -> list[str]:
    """The runs that are to be compacted. UsageError for one that the lake lacks."""
    sources: dict[str, list[Manifest]] = {}
    for manifest in lake.manifests:
        sources.setdefault(manifest.source.run_id, []).append(manifest)
    if missing := sorted(set(runs or ()) - sources.keys()):
        raise UsageError(
            "A run is not in the lake.",
            seen=f"no run {missing[0]} among {', '.join(sorted(sources)[:5])}{', …' * (len(sources) > 5)}",
            todo="use the name that stepscope ingest displayed, the column run",
            path=shown,
        )
    return [
        run_id
        for run_id, manifests in sorted(sources.items())
        if (runs is None or run_id in runs)
        and len(manifests) > 1
        and any(manifest.packed is None for manifest in manifests)
    ]


def _contents(lake: lakes.Given, mirror: Mirror | None) -> Lake:
    return reader.contents(Path(os.fspath(lake))) if mirror is None else mirror.lake()


def _compact(contents: Lake, run_id: str, mirror: Mirror | None) -> Compacted | None:
    """Compacts one run; None when somebody changed it meanwhile."""
    lake, folder = contents.only_runs([run_id]), contents.folder
    before = lake.files_of()
    with writer.telling(folder), writer.staged(folder) as stage:
        lost = lake.damaged_timelines()
        lake.verify(contents=True, files={file.path for file in before} - lost)
        made = list(pack(lake, run_id, stage))
        sizes = [file.bytes for file, _ in made]
        kept = [manifest.timeline for manifest in lake.manifests if manifest.timeline is not None]
        sizes += [file.bytes for file in kept if file.path not in lost]
        if mirror is None:
            if not snapshot_writer.write(folder, stage, run_id, lake.manifests, made, lost):
                return None
        else:
            if not store_writer.write_snapshot(mirror, stage, run_id, lake.manifests, made, lost):
                return None
    return Compacted(
        run_id,
        len(lake.manifests),
        *(len(before), sum(file.bytes for file in before)),
        *(len(sizes), sum(sizes), len(lost)),
    )


def pack(lake: Lake, run_id: str, stage: Path) -> Iterator[tuple[Packed, Path]]:
    """Writes and syncs the files of a run under the stage, several at a time."""
    every = [
        (table, hosts, stage / f"{table.name}.{number}.packed.parquet")
        for table in schema().tables
        for number, hosts in enumerate(_cut(lake, table.name))
    ]
    working: set[OpenTrace] = set()

    def write(job: tuple[SchemaTable, Sequence[str], Path]) -> tuple[Packed, Path]:
        table, hosts, path = job
        part = _ordered(lake.only_runs([run_id], hosts))
        with OpenTrace(LakeTables(part, None)) as trace:
            working.add(trace)
            try:
                rows = trace.copy(_rows(table, part), str(path), _form(table))
            finally:
                working.remove(trace)
        disk.sync_file(path)
        digest, size = reader.content_hash(path), path.stat().st_size
        place = snapshot_writer.path_of(table.name, run_id, digest)
        return Packed(table.name, place, size, rows, digest, run_id, hosts[0], hosts[-1]), path

    from concurrent.futures import ThreadPoolExecutor

    from stepscope.session.lake_tables import LakeTables
    from stepscope.session.open_trace import OpenTrace

    with ThreadPoolExecutor(min(_writers(), max(1, len(every)))) as pool:
        todo = [pool.submit(write, job) for job in every]
        try:
            for future in todo:
                yield future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for trace in list(working):
                trace.interrupt()
            raise


def _writers() -> int:
    """Files to write at the same time: one a core, in a quarter of the memory."""
    return max(1, min(config.threads(), (config.machine_bytes() or 0) // 4 // _WRITING_BYTES))


def _ordered(part: Lake) -> Lake:
    """The part with its sources by host, then in the order of their ids."""
    by_host = sorted(
        part.manifests, key=lambda manifest: (manifest.source.host_id, manifest.source.source_id)
    )
    return replace(part, manifests=tuple(by_host))


def _rows(table: SchemaTable, part: Lake) -> Statement:
    """The rows of a table, sorted. Slices of a source lie in the order of their ids, which is that of tracks
    and time, and ids of a source follow its number: files of their own need no sorting, which would take
    more time than all else, and 0.9 kB a slice."""
    if table.name == "slice" and all(manifest.packed is None for manifest in part.manifests):
        return rows_of(table.name, table.names)
    return _sorted(table)


def _form(table: SchemaTable) -> Form:
    """Doubles stay whole, as ingest writes them: not every warehouse reads them split into bytes."""
    return "packed_plain" if any(column.type == "DOUBLE" for column in table.columns) else "packed"


def _sorted(table: SchemaTable) -> Statement:
    keys = [name for name in _ORDER if name in table.names] or [table.names[0]]
    return rows_of(table.name, table.names, order=", ".join(keys))


def _cut(lake: Lake, table: str) -> Iterator[Sequence[str]]:
    """The hosts of each file of a table, in order."""
    sizes: dict[str, int] = {}
    for manifest in lake.manifests:
        if (rows := manifest.rows.get(table)) is not None:
            table_bytes = sum(file.bytes for file in manifest.files if file.table == table)
            # What of a file of the snapshot is this source's, is not known: a guess by its rows will do.
            sizes[manifest.source.host_id] = sizes.get(manifest.source.host_id, 0) + (
                table_bytes or rows * _GUESSED_ROW_BYTES
            )
    hosts: list[str] = []
    total = 0
    for host, size in sorted(sizes.items()):
        if hosts and total + size > FILE_BYTES:
            yield hosts
            hosts, total = [], 0
        hosts.append(host)
        total += size
    if hosts:
        yield hosts
