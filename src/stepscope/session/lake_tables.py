"""The tables of a Trace that reads a lake."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.engines import Condition, Files, PythonRows, Relation
from stepscope.errors import LakeError, StepscopeError, UsageError
from stepscope.lake import derived_tables
from stepscope.lake.decoded_source import Lanes
from stepscope.lake.derived_tables import Derived
from stepscope.lake.hash_checks import Checked
from stepscope.lake.manifest import TIMELINE
from stepscope.lake.patterns import plain_folder
from stepscope.lake.reader import Lake, TableFile
from stepscope.lake.rows import SourceRow
from stepscope.lake.schema import schema
from stepscope.lake.source_ids import first_id
from stepscope.session.table_makers import OF_HOSTS, VERSIONS, derive

if TYPE_CHECKING:
    from stepscope.engines import Engine, Part, Reads
    from stepscope.session.schedule import Progress
    from stepscope.sources.source import Skipped


Make = Callable[[Lake, Sequence[str]], dict[str, list[dict[str, Any]]]]
"""Rows of derived tables, made of the sources of one run."""

_KEYS = {"run": ("run_id",), "host": ("host_id", "run_id")}


class LakeTables:
    """The tables of a lake, as they were when it was opened."""

    def __init__(
        self,
        lake: Lake,
        cache: Path | None,
        make: Make | None = None,
        runs: Collection[str] | None = None,
        hosts: Collection[str] | None = None,
        closing: Callable[[], None] | None = None,
    ) -> None:
        """cache: where it is remembered what was compared with its hash; None compares everything. make:
        makes derived tables of one run where the lake lacks them. Without it nothing that is stored is used,
        and they are made of all sources together. runs, hosts: ids of those to read; None reads all.
        closing: called by close()."""
        self._all = derived_tables.group_by_run(lake.manifests)
        if runs is not None or hosts is not None:
            lake = lake.only_runs(self._all if runs is None else runs, hosts)
        self._lake = lake
        self._make = make
        # What was fetched was compared with its hash then; whether it is as it came is known by its times.
        self._small = lake.is_small and lake.bring is None
        self._checked = Checked(lake.folder, cache) if cache and not self._small else None
        self._read: set[str] = set()
        self._held = contextlib.ExitStack()
        if closing is not None:
            self._held.callback(closing)
        self._root = self._held.enter_context(plain_folder(lake.folder))
        self.sources: tuple[SourceRow, ...] = tuple(manifest.source for manifest in self._lake.manifests)
        self.skipped: tuple[Skipped, ...] = ()
        self._runs = derived_tables.group_by_run(lake.manifests)
        self._stored = self._current() if make else {}
        self.paths = [str(self._root / file.path) for file in lake.files_of() if file.table != TIMELINE]
        self.paths += [
            str(self._root / file.path) for derived in self._stored.values() for file in derived.files
        ]

    def _current(self) -> dict[str, Derived]:
        """The runs whose stored derived tables can be used."""
        found = {
            run_id: derived
            for run_id in self._runs
            if (derived := derived_tables.read(self._lake.folder, run_id)) is not None
            and derived.current(self._all[run_id], VERSIONS)
        }
        if self._lake.bring is not None:
            self._lake.bring(
                [TableFile(*file, run_id, ()) for run_id, derived in found.items() for file in derived.files]
            )
        return {
            run_id: derived
            for run_id, derived in found.items()
            if derived_tables.intact(self._lake.folder, derived)
        }

    def begin(self) -> None:
        """Nothing has to be made."""

    def watch(self, progress: Progress | None) -> None:
        """Nothing is read before a query: engines read the files."""

    def interrupt(self) -> None:
        """Nothing but engines works."""

    def ready(self, reads: Reads | None) -> bool:
        """Everything is there already."""
        return True

    def attach(self, engine: Engine) -> None:
        """Makes the tables known as their Parquet files. UsageError for an engine that cannot leave out the
        hosts that are not to be read."""
        if engine.whole_runs and self._lake.hosts is not None:
            raise UsageError(
                "This engine answers for whole runs.",
                seen=f"hosts {', '.join(sorted(self._lake.hosts)[:5])} were to be read",
                todo="choose runs, ask for a host_id in SQL, or let DuckDB answer",
            )
        for table in schema().tables:
            if table.name in VERSIONS:
                continue
            parts = partial(self._parts, table.name)
            # Every source brings the row of its run and of its host.
            engine.attach(Relation(table.name, table.types, parts, key=_KEYS.get(table.name, ())))
        if self._make is None:
            derive(engine)
            return
        for name in VERSIONS:
            parts = partial(self._derived, name, self._make)
            asks = any(self._stored_paths(run_id, name) is None for run_id in self._runs)
            engine.attach(Relation(name, schema().table(name).types, parts, costly=asks, asks=asks))

    def _stored_paths(self, run_id: str, table: str) -> list[str] | None:
        if self._lake.hosts is not None and table in VERSIONS.keys() - OF_HOSTS:
            return None  # they tell of a run as a whole
        stored = self._stored.get(run_id)
        return None if stored is None else stored.paths(table)

    def _derived(self, table: str, make: Make) -> Sequence[Part]:
        """A derived table: its files, and rows made anew for runs that lack them."""
        made: list[list[Any]] = []
        files: list[str] = []
        for run_id in self._runs:
            paths = self._stored_paths(run_id, table)
            if paths is None:
                rows = make(self._lake.only_runs([run_id]), [table])[table]
                made += [list(row.values()) for row in rows]
            else:
                files += [str(self._root / path) for path in paths]
        return [
            *([Files(tuple(files), self._host_conditions(table))] if files else []),
            *([PythonRows(made)] if made else []),
        ]

    def _host_conditions(self, table: str) -> tuple[Condition, ...]:
        """What keeps the rows of the hosts to read, in files that hold those of all."""
        if self._lake.hosts is None or "host_id" not in schema().table(table).names:
            return ()
        return (Condition("host_id", tuple(sorted(self._lake.hosts))),)

    def _parts(self, table: str) -> Sequence[Part]:
        """The files of a table that is read for the first time, once they were compared with their hashes. A
        run of many sources may have them merged into one, see stepscope.session.lake_derivation.

        Run and host come from the files, never from folders: a folder above the lake may be called name=foo,
        and must not become a column."""
        merged = {run_id: paths for run_id in self._stored if (paths := self._stored_paths(run_id, table))}
        files = self._lake.files_of(table, self._runs.keys() - merged.keys())
        if not self._small:
            listed = {file.path for file in files}
            self._lake.verify(contents=True, table=table, checked=self._checked, files=listed)
        self._read.add(table)
        parts: dict[tuple[Condition, ...], list[str]] = {}
        if merged:
            paths = [str(self._root / path) for run_paths in merged.values() for path in run_paths]
            parts.setdefault(self._host_conditions(table), []).extend(paths)
        for file in files:
            parts.setdefault(file.where, []).append(str(self._root / file.path))
        return [Files(tuple(paths), where) for where, paths in parts.items()]

    def lanes(self) -> dict[int, Lanes] | None:
        """The files that ingest wrote; None when a source with slices has none: it was damaged when its run
        was compacted."""
        found: dict[int, Lanes] = {}
        for manifest in self._lake.manifests:
            if "slice" not in manifest.rows:
                continue
            file = manifest.timeline
            if file is None:
                return None
            place = str(self._root / file.path), file.bytes
            found[manifest.source.source_id] = Lanes(place, first_id(manifest.source.source_id))
        if not self._small:
            self._lake.verify(contents=True, table=TIMELINE, checked=self._checked)
        return found

    def doubt(self, error: StepscopeError) -> StepscopeError:
        """LakeError when a file that was read is not what was written."""
        try:
            for table in sorted(self._read):
                self._lake.verify(contents=True, table=table)
        except LakeError as damaged:
            return damaged
        return error

    def repair(self) -> None:
        """Nothing is made from anything here."""

    def close(self) -> None:
        """Lets go of the folder."""
        self._held.close()
