"""Makes the derived tables of the runs of a lake: at ingest for good, at reading where they are outdated.

A run of many sources also gets its small tables merged, one file each: opening a file takes 0.3 ms of
processor time, and a summary reads ten tables. For 1,000 hosts that was 3 s of the 7 s that a summary took.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from stepscope.engines import rows_of
from stepscope.lake import derived_tables, derived_writer
from stepscope.lake.manifest import Manifest
from stepscope.lake.reader import Lake, TableFile
from stepscope.lake.schema import schema
from stepscope.session.table_makers import OF_HOSTS, VERSIONS

MOST_SLICES = 250_000
"""Slices of a run up to which its tfprof_node is stored: making it looks at each of them in Python."""

_MERGED = (
    "run", "capture", "host", "source", "source_note", "device", "track", "step_stored", "rollup_op",
    "rollup_device", "rollup_step",
)  # fmt: skip
"""Tables that summaries read."""
MANY_SOURCES = 32
"""Sources of a run from which on they are merged."""
MOST_MERGED_BYTES = 32 << 20
"""Bytes of a table's files up to which they are merged: larger ones are worth opening."""

HOSTS_AT_ONCE = 256
"""Hosts of a fleet whose steps are taken apart together."""

Rows = list[dict[str, Any]]


def derive_runs(contents: Lake, run_ids: set[str]) -> None:
    """Stores the derived tables of those runs of a lake that lack them, or whose are out of date. LakeError
    when the lake cannot be written."""
    folder = contents.folder
    stale = {
        run_id: manifests
        for run_id, manifests in derived_tables.group_by_run(contents.manifests).items()
        if run_id in run_ids and not _is_current(contents, run_id, manifests)
    }
    for run_id, manifests in stale.items():
        tables: dict[str, Rows | None] = dict.fromkeys(VERSIONS)
        wanted = [name for name in VERSIONS if name != "tfprof_node" or _slices(manifests) <= MOST_SLICES]
        lake = contents.only_runs([run_id])
        tables.update(rows(lake, wanted))
        merging = partial(_merge, lake, _mergeable(manifests))
        derived_writer.write(folder, run_id, manifests, tables, VERSIONS, merging)


def _is_current(lake: Lake, run_id: str, manifests: Sequence[Manifest]) -> bool:
    found = derived_tables.read(lake.folder, run_id)
    if found is None or not found.current(manifests, VERSIONS):
        return False
    if lake.bring is not None:
        lake.bring([TableFile(*file, run_id, ()) for file in found.files])
    return derived_tables.intact(lake.folder, found)


def _mergeable(manifests: Sequence[Manifest]) -> list[str]:
    """The tables whose files one file is to stand for."""
    sizes: dict[str, list[int]] = {}
    if any(manifest.packed is not None for manifest in manifests):
        return []  # their rows lie together already
    for manifest in manifests:
        for file in manifest.files:
            sizes.setdefault(file.table, []).append(file.bytes)
    return [
        table
        for table in _MERGED
        if len(sizes.get(table, ())) >= MANY_SOURCES and sum(sizes[table]) <= MOST_MERGED_BYTES
    ]


def _merge(lake: Lake, tables: Sequence[str], stage: Path) -> Iterator[tuple[str, Path, int]]:
    """Writes tables of all sources into one file each under the stage: the table, its file and rows."""
    from stepscope.session.lake_tables import LakeTables
    from stepscope.session.open_trace import OpenTrace

    if not tables:
        return
    with OpenTrace(LakeTables(lake, None)) as trace:
        for table in tables:
            path = stage / f"{table}.merged.parquet"
            asked = rows_of(table, schema().table(table).names)
            yield table, path, trace.copy(asked, str(path), "parquet")


def _slices(manifests: Sequence[Manifest]) -> int:
    return sum(manifest.rows.get("slice", 0) for manifest in manifests)


def rows(lake: Lake, tables: Sequence[str]) -> dict[str, Rows]:
    """Rows of derived tables, made of the sources of one run."""
    from stepscope.session.lake_tables import LakeTables
    from stepscope.session.open_trace import OpenTrace

    given = {table for manifest in lake.manifests for table in manifest.rows}
    if not given & _MADE_FROM:
        return {table: [] for table in tables}
    found: dict[str, Rows] = {}
    for part, wanted in _parts(lake, tables):
        with OpenTrace(LakeTables(part, None)) as trace:
            for table in wanted:
                names = schema().table(table).names
                asked = rows_of(table, names, order="id")
                made = [dict(zip(names, row, strict=True)) for row in trace.query(asked).rows()]
                found.setdefault(table, []).extend(made)
    for table in OF_HOSTS.intersection(tables):
        found[table].sort(key=lambda row: row["id"])
    return found


def _parts(lake: Lake, tables: Sequence[str]) -> Iterator[tuple[Lake, Sequence[str]]]:
    """What to open, and the tables to make of it. Some tables ask several questions about each source, and a
    question opens every file: with all hosts of a fleet at once that would be files times files."""
    hosts = sorted({manifest.source.host_id for manifest in lake.manifests})
    if len(hosts) <= MANY_SOURCES:
        yield lake, tables
        return
    runs = {manifest.source.run_id for manifest in lake.manifests}
    apart = [table for table in tables if table in OF_HOSTS]
    if together := [table for table in tables if table not in OF_HOSTS]:
        yield lake, together
    for first in range(0, len(hosts) if apart else 0, HOSTS_AT_ONCE):
        yield lake.only_runs(runs, hosts[first : first + HOSTS_AT_ONCE]), apart


_MADE_FROM = frozenset({"slice", "instant", "allocation", "tensor", "op_run", "stack_sample"})
"""A run without any of these has nothing to derive."""
