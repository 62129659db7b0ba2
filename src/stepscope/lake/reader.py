"""Reading a lake: which files hold which table, and whether they are as they were written."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from stepscope import _core, config
from stepscope.engines import Condition
from stepscope.errors import DamagedFile, LakeError
from stepscope.lake import manifest as manifests
from stepscope.lake import marker_file
from stepscope.lake import snapshot as snapshots
from stepscope.lake.hash_checks import Checked
from stepscope.lake.manifest import TIMELINE, Manifest
from stepscope.lake.schema import schema
from stepscope.lake.snapshot import Packed, Snapshot

if TYPE_CHECKING:
    from concurrent.futures import Future

_Seen = TypeVar("_Seen")

MANIFESTS = "_manifest"
CHECKED_BYTES = 64 << 20
CHECKED_FILES = 1000
"""A lake up to this size is hashed when it is opened; of a larger one each table when it is first read."""
OTHER_BYTES = "its bytes are not those that were written"
_MOST_LOOKS = 20
"""How often the manifests are listed again because one was removed."""


class TableFile(NamedTuple):
    """A Parquet file that holds rows of a table, and which of its rows count."""

    table: str
    path: str
    """Within the lake."""
    bytes: int
    rows: int
    hash: str
    run_id: str
    where: tuple[Condition, ...]
    """Conditions of the rows that count: files of a snapshot hold rows of several hosts, and of sources that
    were decoded again since. Empty where all rows count."""


@dataclass(frozen=True)
class Lake:
    """A lake as it was when it was opened: later ingests do not change it."""

    folder: Path
    manifests: tuple[Manifest, ...]
    snapshot: Snapshot | None = None
    own: frozenset[int] = frozenset()
    """Sources with a manifest of their own beside a snapshot, whose entries for them are outdated."""
    hosts: frozenset[str] | None = None
    """Only rows of these hosts count; None for all."""
    bring: Callable[[Collection[TableFile]], None] | None = field(default=None, compare=False)
    """Fetches files before they are read, if the lake is in a store: see stepscope.lake.mirror."""

    @property
    def is_small(self) -> bool:
        """Whether contents are compared at each opening, in a few milliseconds."""
        sizes = [file.bytes for _, file in self._every]
        return len(sizes) <= CHECKED_FILES and sum(sizes) <= CHECKED_BYTES

    @cached_property
    def _superseded(self) -> Mapping[str, tuple[int, ...]]:
        """For each run of the snapshot the sources whose rows in its files do not count."""
        found: dict[str, list[int]] = {}
        for manifest in self.snapshot.manifests if self.snapshot is not None else ():
            if manifest.source.source_id in self.own:
                found.setdefault(manifest.source.run_id, []).append(manifest.source.source_id)
        return {run_id: tuple(ids) for run_id, ids in found.items()}

    def files_of(
        self,
        table: str | None = None,
        runs: Collection[str] | None = None,
        hosts: Collection[str] | None = None,
    ) -> list[TableFile]:
        """The files that hold the rows of a table (None: of all), those of snapshots first, and which of
        their rows count. runs, hosts: only files with rows of these, by their ids.

        This is what engines read: nothing else says which files belong to a lake. Derived tables that are
        stored for a run lie elsewhere, see stepscope.lake.derived_tables.
        """
        wanted = self._wanted(hosts)
        return [
            file if wanted is None else _only(file, entry, wanted)
            for entry, file in self._every
            if (table is None or file.table == table)
            and (runs is None or file.run_id in runs)
            and (wanted is None or _has_host(entry, wanted))
        ]

    def _wanted(self, hosts: Collection[str] | None) -> frozenset[str] | None:
        if hosts is None or self.hosts is None:
            return self.hosts if hosts is None else frozenset(hosts)
        return self.hosts.intersection(hosts)

    @cached_property
    def _every(self) -> list[tuple[Manifest | Packed, TableFile]]:
        """All files, each with its manifest or snapshot entry."""
        found: list[tuple[Manifest | Packed, TableFile]] = []
        counted = {manifest.source.run_id for manifest in self.manifests if manifest.packed is not None}
        for packed in self.snapshot.files if self.snapshot is not None else ():
            if packed.run_id in counted:
                gone = self._superseded.get(packed.run_id, ())
                has_ids = "source_id" in schema().table(packed.table).names
                where = (Condition("source_id", gone, negated=True),) if gone and has_ids else ()
                found.append((packed, TableFile(*packed[:6], where)))
        for manifest in self.manifests:
            found += [(manifest, TableFile(*file, manifest.source.run_id, ())) for file in manifest.files]
        return found

    def files(self, root: Path | None = None) -> dict[str, list[str]]:
        """Paths of the files of each table. root: a folder to use in place of the lake's own."""
        found: dict[str, list[str]] = defaultdict(list)
        above = str(root or self.folder)
        for _, file in self._every:
            found[file.table].append(f"{above}/{file.path}")
        return dict(found)

    def only_runs(self, runs: Collection[str], hosts: Collection[str] | None = None) -> Lake:
        """The lake with only the sources of some runs, and hosts."""
        wanted = self._wanted(hosts)
        kept = tuple(
            manifest
            for manifest in self.manifests
            if manifest.source.run_id in runs and (wanted is None or manifest.source.host_id in wanted)
        )
        return replace(self, manifests=kept, hosts=wanted)

    def verify(
        self,
        *,
        contents: bool,
        table: str | None = None,
        checked: Checked | None = None,
        files: Collection[str] | None = None,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        """Compares files with what announced them: sizes, and with `contents` also hashes.

        table: only files of that table. files: only these paths. checked: remembers which contents need no
        second look. progress: called with the path of each file that is compared, the bytes compared so far
        and the bytes in all. DamagedFile for the first that is missing or differs.
        """
        todo = self._files_to_compare(contents, table, checked, files)
        if not todo:
            return
        # Imported here: a lake that was looked at before needs neither.
        from concurrent.futures import ThreadPoolExecutor, wait

        with ThreadPoolExecutor(min(config.threads(), len(todo))) as pool:
            found = [pool.submit(content_hash, self.folder / file.path) for _, file, _ in todo]
            compared, every = 0, sum(file.bytes for _, file, _ in todo)
            for (_, file, _), done in zip(todo, found, strict=True):
                if progress is not None:
                    progress(file.path, compared, every)
                    compared += file.bytes
                    wait([done])
        for (entry, file, _), done in zip(todo, found, strict=True):
            self._check_hash(entry, file, done)
        if checked is not None:
            checked.keep((file, status) for _, file, status in todo)

    def _files_to_compare(
        self, contents: bool, table: str | None, checked: Checked | None, files: Collection[str] | None
    ) -> list[tuple[Manifest | Packed, TableFile, os.stat_result]]:
        """The files whose hashes to compare, after their sizes."""
        todo: list[tuple[Manifest | Packed, TableFile, os.stat_result]] = []
        wanted = [
            (entry, file)
            for entry, file in self._every
            if (table is None or file.table == table) and (files is None or file.path in files)
        ]
        if self.bring is not None:
            self.bring([file for _, file in wanted])
        for entry, file in wanted:
            status = self._sized(entry, file)
            if contents and not (checked is not None and checked.knows(file, status)):
                todo.append((entry, file, status))
        return todo

    def _check_hash(self, entry: Manifest | Packed, file: TableFile, done: Future[str]) -> None:
        """DamagedFile where the bytes of a file differ from those written."""
        path = self.folder / file.path
        try:
            same = done.result() == file.hash
        except _core.CoreError as error:
            raise _broken(path, entry, error.seen) from None
        if not same and self.bring is not None:
            path.unlink(missing_ok=True)
            self.bring([file])  # only the local copy is damaged; otherwise this raises
        elif not same:
            raise _broken(path, entry, OTHER_BYTES)

    def damaged_timelines(self) -> frozenset[str]:
        """Paths of the timelines that are missing or damaged. LakeError as in verify()."""
        try:
            self.verify(contents=True, table=TIMELINE)
        except DamagedFile:
            found: set[str] = set()
            for manifest in self.manifests:
                try:
                    replace(self, manifests=(manifest,), snapshot=None).verify(contents=True, table=TIMELINE)
                except DamagedFile:
                    found.update(file.path for file in manifest.files if file.table == TIMELINE)
            return frozenset(found)
        return frozenset()

    def _sized(self, entry: Manifest | Packed, file: TableFile) -> os.stat_result:
        try:
            status = os.stat(f"{self.folder}/{file.path}")  # noqa: PTH116 - there may be many thousands
        except OSError as error:
            raise _broken(self.folder / file.path, entry, error.strerror or str(error)) from None
        if status.st_size != file.bytes or not stat.S_ISREG(status.st_mode):
            seen = f"{status.st_size:,} bytes instead of {file.bytes:,}"
            raise _broken(self.folder / file.path, entry, seen)
        return status


def _has_host(entry: Manifest | Packed, hosts: Collection[str]) -> bool:
    if isinstance(entry, Manifest):
        return entry.source.host_id in hosts
    return any(entry.first_host <= host <= entry.last_host for host in hosts)


def _only(file: TableFile, entry: Manifest | Packed, hosts: Collection[str]) -> TableFile:
    """The file restricted to some hosts, if it holds others as well."""
    if isinstance(entry, Manifest) or "host_id" not in schema().table(file.table).names:
        return file
    return file._replace(where=(*file.where, Condition("host_id", tuple(sorted(hosts)))))


def content_hash(path: Path) -> str:
    """Hash of a whole file."""
    return _core.hash_file(str(path))


def open_lake(folder: Path) -> Lake:
    """Opens a lake for reading. LakeError when it is none, of another version, or damaged.

    Only a small lake's contents are compared here: see Lake.is_small.
    """
    marker_file.check(folder)
    found = contents(folder)
    found.verify(contents=found.is_small)
    return found


def whole_manifests(lake: Lake) -> tuple[Manifest, ...]:
    """The manifests whose files are all there, with the sizes that they had."""
    whole = {run_id: _is_whole(lake, run_id) for run_id in (lake.snapshot.by_run if lake.snapshot else ())}
    return tuple(
        manifest
        for manifest in lake.manifests
        if (manifest.packed is None or whole.get(manifest.source.run_id, True))
        and _has_own(lake.folder, manifest)
    )


def is_whole(folder: Path, manifest: Manifest) -> bool:
    """Whether the files of a source are all there, with the sizes that they had."""
    if manifest.packed is not None and not _is_whole(
        Lake(folder, (manifest,), snapshots.current(folder)), manifest.source.run_id
    ):
        return False
    return _has_own(folder, manifest)


def _has_own(folder: Path, manifest: Manifest) -> bool:
    """Whether the files that are a source's own are there, with the sizes that they had."""
    try:
        Lake(folder, (manifest,)).verify(contents=False)
    except LakeError:
        return False
    return True


def _is_whole(lake: Lake, run_id: str) -> bool:
    """Whether the files that the snapshot has of a run are all there."""
    paths = {file.path for file in lake.snapshot.by_run.get(run_id, ())} if lake.snapshot else set()
    try:
        lake.verify(contents=False, files=paths)
    except LakeError:
        return False
    return True


def looked(look: Callable[[], _Seen], gone: type[Exception], path: str) -> _Seen:
    """The result of `look`, which reads the manifests of a lake, repeated while it raises `gone`: a listed
    manifest has moved into a snapshot. path: of the lake. LakeError when that does not end."""
    for _ in range(_MOST_LOOKS):
        try:
            return look()
        except gone:
            continue
    raise LakeError(
        "The lake changes faster than it can be read.",
        seen=f"manifests that were listed were gone {_MOST_LOOKS} times in a row",
        todo="wait until `stepscope compact` is done, and run the same command again",
        path=path,
    )


def contents(folder: Path) -> Lake:
    """The contents of a lake by its manifests, without checking the files. LakeError when these are
    damaged."""
    listed = looked(lambda: list(_single(folder)), FileNotFoundError, str(folder))
    single = {manifest.source.source_id: manifest for manifest in listed}
    # After the manifests: see stepscope.lake.snapshot.
    snapshot = snapshots.current(folder)
    if snapshot is None:
        return Lake(folder, tuple(single.values()))
    every = {**snapshot.by_id, **single}
    single_ids = frozenset(single)
    return Lake(folder, tuple(every[key] for key in sorted(every)), snapshot, single_ids)


def read_manifests(folder: Path) -> tuple[Manifest, ...]:
    """All manifests, in the order of source_id."""
    return contents(folder).manifests


def _single(folder: Path) -> Iterator[Manifest]:
    """The manifests that are files of their own, in the order of source_id. FileNotFoundError when one was
    removed since they were listed."""
    for path in sorted((folder / MANIFESTS).glob("[0-9]*.json")):
        try:
            yield manifests.read(path)
        except LakeError:
            if not os.path.lexists(path):
                raise FileNotFoundError(path) from None
            raise


def _broken(path: Path, entry: Manifest | Packed, seen: str) -> DamagedFile:
    if isinstance(entry, Packed):
        todo = (
            f"remove it, and ingest the recordings of run {entry.run_id} again; "
            "the other runs are not affected"
        )
    elif entry.packed is not None:
        todo = f"remove it, and ingest {entry.source.path} again; the other sources are not affected"
    else:
        todo = (
            f"remove {MANIFESTS}/{manifests.file_name(entry.source.source_id)} from the lake and ingest "
            f"{entry.source.path} again; the other sources are not affected"
        )
    return DamagedFile("A file of the lake is missing or damaged.", seen=seen, todo=todo, path=str(path))
