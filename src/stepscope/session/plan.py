"""Planning an ingest: which sources a lake lacks, and what each is called there for good.

A name in a lake must not depend on what else there is, or two jobs would share a run, and the same recording
would have other ids tomorrow. So it comes from the place alone:

* what the user says is the name: `--run`, `--host`, or parts `run=NAME` and `host=NAME` of the path;
* otherwise the run is the folder of the recording (the run's folder, above TensorBoard's plugins/profile and
  above folders of checkpoints), called by its last part and ten digits that stand for its whole path:
  train-4f1c9a02be. Another folder called `train` has other digits, in whatever order they are ingested;
* the host is the one that the file's name or its bytes name; `unknown` for graphs, checkpoints and dumps.

A folder that moves is another run, unless `--run` keeps the name. Bytes that the lake has from the same host
under another path are a copy: they are not added again unless the name of the run or host was said.

`plan` looks at names and first bytes only. What it gives can be pickled and ingested anywhere, in any order:
see stepscope.session.ingest.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from stepscope import _core, formats
from stepscope.formats import _op_log
from stepscope.lake.manifest import Manifest
from stepscope.lake.rows import SourceRow
from stepscope.session import lakes
from stepscope.sources import names, op_logs
from stepscope.sources.find import FoundSources, find
from stepscope.sources.inspection import Identity, InspectedItem, Inspection
from stepscope.sources.source import ByteLocation, Skipped, Source
from stepscope.sources.spool import Spool
from stepscope.sources.user_paths import is_url, look_up

_MOST_HASHED = 256 << 20
"""Bytes of a member of an archive that are read at once to compare it with a file of the same size."""


class WorkItem(NamedTuple):
    """One source to add to a lake, and all that its rows depend on. Plain data: it can be pickled."""

    source: Source
    """What to read, with the names that it has in the lake."""
    op_logs: tuple[tuple[ByteLocation, str], ...] = ()
    """The op logs of its run, and what to call them: only one source of a run has them."""


class IngestPlan:
    """What an ingest has to do. A context manager: what was unpacked to look at it is gone after close()."""

    def __init__(
        self, found: FoundSources, items: Sequence[WorkItem], known: Mapping[Source, SourceRow], spool: Spool
    ) -> None:
        self.found = found
        """The sources with the names that they have in the lake, and what is not read: copies, too."""
        self.items = tuple(items)
        """What the lake lacks, in the order of the sources."""
        self.known = dict(known)
        """Rows of the sources that the lake has."""
        self.spool = spool

    def close(self) -> None:
        """Removes what was unpacked. Idempotent."""
        self.spool.close()

    def __enter__(self) -> IngestPlan:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def plan(
    paths: Sequence[str | os.PathLike[str]],
    lake: str | os.PathLike[str],
    *,
    run: str | None = None,
    host: str | None = None,
) -> IngestPlan:
    """What must be ingested so that a lake has everything under the paths.

    run, host: names to use instead of those found. The lake need not be there yet. NothingFound when there is
    no recording; LakeError when the lake cannot be read.
    """
    given = [os.fspath(path) for path in paths]
    look_up(given)
    contents = lakes.contents(lake)
    manifests: Sequence[Manifest] = () if contents is None else contents.manifests
    spool = Spool()
    try:
        known = FromManifests(manifests)
        found = find(given, formats, spool, remembered=known, run=run, host=host)
        found = found._replace(sources=tuple(lasting(source) for source in found.sources))
        return _planned(found, manifests, spool, fixed=run is not None or host is not None)
    except BaseException:
        spool.close()
        raise


def lasting(source: Source) -> Source:
    """The source with the names of its run and host, and the path, that it has in every lake."""
    if source.run_said:
        name, run_id = source.run_name, names.lasting_slug(source.run_name, "run")
        path = source.run_path
    else:
        found_in = PurePosixPath(source.run_path)
        place = names.run_folder(found_in, {} if source.rank is None else {found_in: source.rank})
        name, run_id, path = place.name or "run", names.slug_of_path(place, "run"), names.url_of(place)
    named = source._replace(run_name=name, run_id=run_id, run_path=path)
    if source.traits.placeless and not source.host_said:
        named = named._replace(host_name="unknown", host_id="unknown")
    if source.identity is None or is_url(source.identity[0]):
        return named
    member = f"!{source.member}" if source.member else ""
    shown = source.path.removesuffix(member)
    return named._replace(path=os.path.abspath(shown) + member)  # noqa: PTH100 - links keep their names


def _planned(found: FoundSources, manifests: Sequence[Manifest], spool: Spool, *, fixed: bool) -> IngestPlan:
    current = [manifest for manifest in manifests if manifest.source.decoder_version >= _core.DECODER_VERSION]
    by_file = _known_files(current)
    known: dict[Source, SourceRow] = {}
    todo: list[Source] = []
    skipped: list[Skipped] = []
    copies = _Copies(current)
    # By path, so that of several copies in one call the same one is kept in whatever order they are given.
    for source in sorted(found.sources, key=lambda found_: found_.path):
        # Names that were asked for are kept apart even when the file is known under another.
        is_named = fixed or source.run_said
        row = by_file.get((source.identity, source.member)) if source.identity else None
        if row is not None and (not is_named or (row.run_id, row.host_id) == (source.run_id, source.host_id)):
            known[source] = row
        elif not is_named and (first := copies.of(source)) is not None:
            skipped.append(Skipped(source.path, "known-copy", f"a copy of {first}, which is in the lake"))
        else:
            todo.append(source)
            copies.add(source)
    new = frozenset(todo)
    todo = _wanted(found.sources, new)
    carried = _carriers(todo, found.sources, manifests)
    items = [WorkItem(source, carried.get(source.path, ())) for source in todo]
    sources = _wanted(found.sources, known.keys() | new)
    found = found._replace(sources=tuple(sources), skipped=(*found.skipped, *skipped))
    return IngestPlan(found, items, known, spool)


def _known_files(manifests: Sequence[Manifest]) -> dict[tuple[Any, str], SourceRow]:
    """What is known of a file, by what the system says of it."""
    known = [manifest for manifest in manifests if manifest.identity is not None]
    return {(manifest.identity, manifest.member): manifest.source for manifest in known}


def _wanted(sources: Sequence[Source], wanted: Collection[Source]) -> list[Source]:
    return [source for source in sources if source in wanted]


class FromManifests:
    """Remembers objects of stores by what a lake says of them, so that they are not fetched again."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._known: dict[Identity, list[InspectedItem]] = defaultdict(list)
        for manifest in manifests:
            if manifest.identity is not None and is_url(manifest.identity[0]):
                name = names.packless(PurePosixPath(manifest.member or manifest.identity[0]).name)
                source = manifest.source
                place = ByteLocation(manifest.identity[0])
                item = InspectedItem(manifest.member, name, source.format, source.format, source.bytes, place)
                self._known[manifest.identity].append(item)

    def recall(self, identity: Identity) -> Inspection | None:
        """What was seen in an object that the lake has."""
        found = self._known.get(identity)
        return None if found is None else Inspection(tuple(found), ())

    def remember(self, identity: Identity, look: Inspection) -> None:
        """The lake remembers."""


class _Copies:
    """Finds sources whose bytes are known under another path; hashes files only when their sizes agree."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self._rows: dict[tuple[int, str], list[SourceRow]] = defaultdict(list)
        for manifest in manifests:
            if manifest.source.error is None:
                self._rows[manifest.source.bytes, manifest.source.format].append(manifest.source)
        self._sources: dict[tuple[int, str], list[Source]] = defaultdict(list)

    def of(self, source: Source) -> str | None:
        """The path of a source with the same bytes, from the same host as far as one knows."""
        if source.traits.placeless or source.pieces:
            return None
        rows, others = self._alike(source)
        if not (rows or others) or (digest := stored_hash(source)) is None:
            return None
        same = [row for row in rows if row.content_hash == digest]
        if _has_run(same, source.run_id):
            return None  # it is this source, or ingesting it finds that
        others = [other for other in others if other.run_id != source.run_id]
        return min([row.path for row in same] + _same_bytes(others, digest), default=None)

    def _alike(self, source: Source) -> tuple[list[SourceRow], list[Source]]:
        """Those of its size and format, from the same host as far as one knows."""
        key = source.size, source.format
        rows = [row for row in self._rows[key] if _may_share_host(source, row)]
        return rows, [other for other in self._sources[key] if _may_share_host(source, other)]

    def add(self, source: Source) -> None:
        """A source that will be in the lake."""
        self._sources[source.size, source.format].append(source)


def _has_run(rows: Sequence[SourceRow], run_id: str) -> bool:
    return any(row.run_id == run_id for row in rows)


def _may_share_host(source: Source, other: Source | SourceRow) -> bool:
    """A name that says no host says nothing against one either."""
    return source.host_id in ("unknown", other.host_id)


def _same_bytes(sources: Sequence[Source], digest: str) -> list[str]:
    """The paths of those with these bytes."""
    return [source.path for source in sources if stored_hash(source) == digest]


def stored_hash(source: Source) -> str | None:
    """The hash of a source's bytes as stored, as decoders give it; None where that takes too long."""
    place = source.spooled or source.bytes
    if place.unpack:
        return None
    try:
        if not place.offset and place.length in (None, source.size):
            return _core.hash_file(place.path)
        if place.length is None or place.length > _MOST_HASHED:
            return None
        with Path(place.path).open("rb") as file:
            file.seek(place.offset)
            return _core.hash_bytes(file.read(place.length))
    except (OSError, _core.CoreError):
        return None  # ingesting it says why it cannot be read


def _carriers(
    todo: Sequence[Source], sources: Sequence[Source], manifests: Iterable[Manifest]
) -> Mapping[str, tuple[tuple[ByteLocation, str], ...]]:
    """The op logs of each run, by the path of the one source whose rows they are: that which has them in the
    lake already, or else the first that is new."""
    whole_exports = {
        manifest.source.run_id: (manifest.identity, manifest.member)
        for manifest in manifests
        if "op_line" in manifest.rows
    }
    found: dict[str, tuple[tuple[ByteLocation, str], ...]] = {}
    for run_id, places in op_logs.find(sources, _op_log.NAMES).items():
        of_run = [source for source in todo if source.run_id == run_id]
        if run_id in whole_exports:
            of_run = [
                source for source in of_run if (source.identity, source.member) == whole_exports[run_id]
            ]
        if of_run:
            found[of_run[0].path] = tuple(places)
    return found
