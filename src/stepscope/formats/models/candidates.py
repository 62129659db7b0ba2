"""Candidates for the parts of a model: files, known by their content, and parts of event files."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from stepscope import _core, formats
from stepscope.errors import LimitReached, NothingFound
from stepscope.formats import graph, tfprof_profile
from stepscope.formats.models import op_log
from stepscope.formats.models.place import ModelPlace
from stepscope.sources import op_logs
from stepscope.sources.find import find
from stepscope.sources.inspection import Recognised
from stepscope.sources.source import ByteLocation, Source
from stepscope.sources.spool import Spool
from stepscope.sources.user_paths import CHECKPOINT_VALUES

GRAPHS = ("graph", "event_graph", "function_graph")
"""Kinds of graphs, the best first: a graph of TensorFlow 2 in an event file is that of one function."""
STEPS = ("run_metadata", "event_run_metadata")
"""Kinds of RunMetadata, the best first."""
PROFILE = tfprof_profile.NAME
"""What holds a whole model."""
_MOST_PACKED_EVENTS = 1 << 30
"""Bytes of an event file that is unpacked into memory."""


class Candidate(NamedTuple):
    """Something that could be part of a model, or a recording of another kind."""

    kind: str
    """graph, run_metadata, op_log, tfprof_profile, checkpoint, event_graph, …; trace for other recordings."""
    place: ModelPlace
    run: str
    """Id of the run that it belongs to."""


class _Kind(NamedTuple):
    """What the search takes a file for."""

    NAME: str


class _WithModels:
    """What formats know, and besides what belongs to models alone."""

    described = staticmethod(formats.described)
    traits = staticmethod(formats.traits)
    twins = staticmethod(formats.twins)
    copies = staticmethod(formats.copies)
    numbered = staticmethod(formats.numbered)

    def recognise(self, head: bytes, name: str) -> Recognised | None:
        """A format, or a kind of file that only tfprof reads."""
        found = formats.recognise(head, name)
        if found is not None and found.NAME != graph.NAME:
            return found
        if found is not None and graph.is_dot(head):
            return _Kind("drawing")  # nodes and edges, and no NodeDef that a model could be made of
        if op_log.fits(head, name):
            return _Kind("op_log")
        if found is None and CHECKPOINT_VALUES.fullmatch(name):
            return _Kind("values")
        return found


def search(paths: Sequence[str], odd: list[str]) -> list[Candidate]:
    """All candidates under the paths, steps in the order of their numbers, else by run and name. What cannot
    be read is described in `odd`. Errors of sources.find, but an empty list where there is no recording."""
    spool = Spool()
    try:
        found = find(paths, _WithModels(), spool)
    except NothingFound:
        return []
    odd += [
        f"{skipped.path}: {skipped.detail}" for skipped in found.skipped if skipped.slug != "same-capture"
    ]
    candidates: list[Candidate] = []
    for source in found.sources:
        try:
            candidates += _candidates(source, found.sources, spool, odd)
        except (OSError, KeyError, ValueError, LimitReached) as error:
            odd.append(f"{source.path}: it cannot be read: {error}")
    steps = {source.path: source.step or 0 for source in found.sources}
    return sorted(
        candidates,
        key=lambda candidate: steps.get(candidate.place.shown, 0) if candidate.kind == STEPS[0] else 0,
    )


def _candidates(
    source: Source, others: Sequence[Source], spool: Spool, odd: list[str]
) -> Iterator[Candidate]:
    """OSError, KeyError, ValueError or LimitReached when what is packed cannot be unpacked."""
    for piece in source.pieces:
        if piece.name == op_logs.PIECE:
            shown = f"{source.path.rpartition('/')[0]}/{piece.name}"
            where = piece.spooled or spool.reach(piece.bytes, shown)
            yield Candidate("op_log", ModelPlace(shown, piece.bytes.path, where, spool), source.run_id)
    if source.format == "values":
        return
    place = ModelPlace(source.path, source.bytes.path, source.spooled or source.bytes, spool)
    if source.format in (*GRAPHS, *STEPS, "op_log", PROFILE, "event_file"):
        place = replace(place, where=source.spooled or spool.reach(source.bytes, source.path))
    if source.format == "checkpoint":
        yield Candidate("checkpoint", _checkpoint(source, others, spool), source.run_id)
    elif source.format == "event_file":
        messages = list(_messages(place, odd))
        yield from (Candidate(kind, message, source.run_id) for kind, message in messages)
        if not any(kind in STEPS for kind, _ in messages):
            yield Candidate("trace", place, source.run_id)
    else:
        known = source.format in (*GRAPHS, *STEPS, "op_log", PROFILE)
        yield Candidate(source.format if known else "trace", place, source.run_id)


def _messages(place: ModelPlace, odd: list[str]) -> Iterator[tuple[str, ModelPlace]]:
    """The graphs and RunMetadata of an event file. ValueError when it is damaged from its beginning."""
    try:
        messages, warnings = _core.event_messages(place.input())
    except _core.CoreError as error:
        raise ValueError(error.seen) from error
    odd += [f"{place.shown}: {warning}" for warning in warnings]
    where = place.where
    assert isinstance(where, ByteLocation)
    data = b""
    if messages and where.codec != "plain":
        assert place.spool is not None
        data = place.spool.read(where, place.shown, _MOST_PACKED_EVENTS)
    for kind, tag, _, offset, length in messages:
        shown = f"{place.shown}#{tag or 'graph'}"
        part: ByteLocation | bytes = (
            data[offset : offset + length]
            if data
            else ByteLocation(where.path, where.offset + offset, length)
        )
        yield (kind if kind == "function_graph" else f"event_{kind}", replace(place, shown=shown, where=part))


def _unpacked(source: Source) -> str:
    """The path of a source as if it were not packed: each file of a checkpoint may be, for itself."""
    folder, slash, _ = source.path.rpartition("/")
    return f"{folder}{slash}{source.name}"


def _checkpoint(source: Source, others: Sequence[Source], spool: Spool) -> ModelPlace:
    """A checkpoint as a file on disk with its values beside it, which for a packed one are unpacked."""
    place = source.bytes
    if not (place.unpack or place.offset or place.codec != "plain" or source.member):
        return ModelPlace(source.path, place.path, place, spool)
    folder = Path(tempfile.mkdtemp(prefix="stepscope-"))
    weakref.finalize(spool, shutil.rmtree, folder, ignore_errors=True)
    prefix = _unpacked(source).removesuffix(".index")
    for other in others:
        values = CHECKPOINT_VALUES.fullmatch(_unpacked(other))
        if other is source or (other.format == "values" and values is not None and values[1] == prefix):
            spool.unpack(other.spooled or other.bytes, other.path, folder / PurePosixPath(other.name).name)
    return ModelPlace(
        source.path, place.path, ByteLocation(str(folder / PurePosixPath(source.name).name)), spool
    )
