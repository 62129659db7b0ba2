"""Makes the derived tables of the runs of a lake: at ingest for good, at reading where they are outdated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stepscope.engines import Statement
from stepscope.lake import derived, derived_writer, reader
from stepscope.lake.manifest import Manifest
from stepscope.lake.reader import Lake
from stepscope.lake.schema import schema
from stepscope.session.derived import VERSIONS

MOST_SLICES = 250_000
"""Slices of a run up to which its tfprof_node is stored: making it looks at each of them in Python."""

Rows = list[dict[str, Any]]


def derive_runs(folder: Path, run_ids: set[str]) -> None:
    """Stores the derived tables of those runs that lack them, or whose are out of date. LakeError when the
    lake cannot be written."""
    stale = {
        run_id: manifests
        for run_id, manifests in derived.by_run(reader.read_manifests(folder)).items()
        if run_id in run_ids and not _is_current(folder, run_id, manifests)
    }
    for run_id, manifests in stale.items():
        tables: dict[str, Rows | None] = dict.fromkeys(VERSIONS)
        wanted = [name for name in VERSIONS if name != "tfprof_node" or _slices(manifests) <= MOST_SLICES]
        tables.update(rows(Lake(folder, tuple(manifests)), wanted))
        derived_writer.write(folder, run_id, manifests, tables, VERSIONS)


def _is_current(folder: Path, run_id: str, manifests: Sequence[Manifest]) -> bool:
    found = derived.read(folder, run_id)
    return found is not None and found.current(manifests, VERSIONS) and derived.intact(folder, found)


def _slices(manifests: Sequence[Manifest]) -> int:
    return sum(file.rows for one in manifests for file in one.files if file.table == "slice")


def rows(lake: Lake, tables: Sequence[str]) -> dict[str, Rows]:
    """Rows of derived tables, made of the sources of one run."""
    from stepscope.session.lake_tables import LakeTables
    from stepscope.session.open_trace import OpenTrace

    given = {file.table for one in lake.manifests for file in one.files}
    if not given & _MADE_FROM:
        return {table: [] for table in tables}
    with OpenTrace(LakeTables(lake, None)) as trace:
        found = {}
        for table in tables:
            names = schema().table(table).names
            asked = Statement(f"SELECT {', '.join(names)} FROM {table} ORDER BY id")
            found[table] = [dict(zip(names, row, strict=True)) for row in trace.query(asked).rows()]
        return found


_MADE_FROM = frozenset({"slice", "instant", "allocation", "tensor", "op_run"})
"""A run without any of these has nothing to derive."""
