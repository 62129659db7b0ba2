"""From a source to a decoded store: unpack, decode, finish, recover the steps.

This is the only place where formats, core and instruments meet; the cache, the lake and a Trace all call
it, so the same bytes give the same tables wherever they end up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from stepscope.errors import LakeError, LimitReached, StepscopeError, UnreadableSource
from stepscope.lake.decoded import Decoded
from stepscope.sources.damage import Damaged
from stepscope.sources.source import Bytes, Source
from stepscope.sources.spool import Spool

if TYPE_CHECKING:
    from stepscope._core import CoreError, Store

NEEDS = frozenset({"args", "nesting", "ops", "tables"})
"""Everything a decoder can be asked for."""

_NESTING = frozenset({"depth", "parent_id", "self_ps"})
_OPS = frozenset({"op_name", "op_type", "correlation_id"})
_WITHOUT_TABLES = frozenset({"slice", "device", "track", "run", "host", "capture"})


def needs_of(tables: frozenset[str], columns: frozenset[str], star: bool) -> frozenset[str]:
    """What decoding must bring for a query that reads these tables and columns."""
    if star or not tables <= _WITHOUT_TABLES:
        return NEEDS
    found = set()
    if "args_json" in columns:
        found.add("args")
    if columns & _NESTING:
        found.add("nesting")
    if columns & _OPS:
        found.add("ops")
    # Steps are recovered from the table of marks.
    if "step" in columns:
        found |= NEEDS
    return frozenset(found)


def decode_source(
    source: Source,
    spool: Spool,
    folder: str | None = None,
    *,
    needs: frozenset[str] = NEEDS,
    threads: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Decoded:
    """Decodes one source into a folder, or into memory.

    A source that cannot be read gives a Decoded with its error. LakeError when the folder cannot be
    written; exceptions of `progress` (KeyboardInterrupt) come through.
    """
    from stepscope import _core, formats
    from stepscope.formats import capture, checkpoint

    wanted: Sequence[str] | None = None if needs == NEEDS else sorted(needs)
    if source.format == capture.NAME:
        return _built(source, folder, lambda: _capture(source, spool, folder))
    if source.format == checkpoint.NAME:
        return _built(source, folder, lambda: _checkpoint(source, spool, folder))
    try:
        place = source.spooled or spool.reach(source.bytes, source.path)
        store = _core.decode(
            source.decoder, place.input(), folder, needs=wanted, threads=threads, progress=progress
        )
    except LimitReached as error:
        return _failed(source, f"{error.happened} {error.seen}")
    except (OSError, KeyError) as error:
        return _failed(source, f"it can no longer be read: {error}")
    except Damaged as error:
        return _failed(source, f"it is damaged: {error}")
    except _core.CoreError as error:
        if error.kind == "interrupted":
            raise KeyboardInterrupt from error
        if error.kind == "io" and folder is not None:
            raise _unwritable(folder, error) from error
        return _failed(source, _told(error))
    try:
        formats.by_decoder(source.decoder).finish(store, source.name)
        if needs == NEEDS:
            from stepscope.instruments import steps

            steps.recover(store, source, _told_steps(source, spool))
    except _core.CoreError as error:
        if folder is None:
            return _failed(source, _told(error))
        raise _unwritable(folder, error) from error
    facts = {**store.facts, "decoder_version": _core.DECODER_VERSION}
    return Decoded(source, store, facts, None)


def _built(source: Source, folder: str | None, build: Callable[[], Store]) -> Decoded:
    """A source that Python reads; such sources have no slices, so that nothing is left to do."""
    from stepscope import _core

    try:
        store = build()
    except LimitReached as error:
        return _failed(source, f"{error.happened} {error.seen}")
    except (OSError, KeyError) as error:
        return _failed(source, f"it can no longer be read: {error}")
    except (ValueError, RecursionError) as error:
        return _failed(source, f"it is damaged: {error}")
    except _core.CoreError as error:
        if error.kind == "interrupted":
            raise KeyboardInterrupt from error
        if folder is None or error.kind != "io":
            return _failed(source, _told(error))
        raise _unwritable(folder, error) from error
    facts = {**store.facts, "decoder_version": _core.DECODER_VERSION}
    return Decoded(source, store, facts, None)


def _capture(source: Source, spool: Spool, folder: str | None) -> Store:
    """A capture's own file with the pieces beside it."""
    from stepscope.formats import capture

    def piece(place: Bytes, name: str) -> Callable[[], bytes]:
        return lambda: spool.read(place, name, capture.MOST_PIECE_BYTES)

    pieces = {one.name: piece(one.spooled or one.bytes, one.name) for one in source.pieces}
    traced = any(one.told_elsewhere for one in source.pieces)
    return capture.build(piece(source.spooled or source.bytes, source.path), pieces, folder, traced=traced)


def _checkpoint(source: Source, spool: Spool, folder: str | None) -> Store:
    """A checkpoint, with the files of its values beside it where it lies on the disk as it is."""
    from stepscope.formats import checkpoint

    place = source.spooled or source.bytes
    plain = place is source.bytes and not place.unpack and place.codec == "plain" and not place.offset
    path = place.path if plain and place.length is None else None
    return checkpoint.build(
        path, lambda: spool.read(place, source.path, checkpoint.MOST_PACKED_BYTES), folder
    )


def _told_steps(source: Source, spool: Spool) -> list[tuple[int, int, int, bool]]:
    """The times of steps that a recorder wrote beside the source; none when they cannot be read, which the
    capture that they belong to cannot miss: its steps are then recovered like everybody's."""
    from stepscope.formats import capture

    for piece in source.pieces:
        if piece.name == capture.STEPS:
            try:
                return capture.step_times(
                    spool.read(piece.spooled or piece.bytes, piece.name, capture.MOST_PIECE_BYTES)
                )
            except (OSError, KeyError, ValueError, LimitReached):
                return []
    return []


def unreadable(decoded: Decoded) -> StepscopeError:
    """The error to raise when a source that cannot be read is all there is."""
    return UnreadableSource(
        "The file cannot be read.",
        seen=decoded.error or "",
        todo="copy or record it anew; `stepscope docs unreadable-source` tells more",
        path=decoded.source.path,
    )


def _failed(source: Source, error: str) -> Decoded:
    from stepscope import _core

    facts = {"decoder_version": _core.DECODER_VERSION}
    place = source.spooled or source.bytes
    if not place.unpack and place.offset == 0 and place.length in (None, source.size):
        try:
            facts["content_hash"] = _core.hash_file(place.path)  # type: ignore[assignment]
        except _core.CoreError:
            # It cannot even be read; it is then known by its path alone.
            return Decoded(source, None, facts, error)
    return Decoded(source, None, facts, error)


def _told(error: CoreError) -> str:
    kinds = {"not_this_format": "it is not what its first bytes say", "limit": "a limit was reached"}
    kind = kinds.get(error.kind, "it is damaged")
    place = "" if error.offset is None else f" (byte {error.offset:,})"
    return f"{kind}: {error.seen}{place}"


def _unwritable(folder: str, error: CoreError) -> LakeError:
    return LakeError(
        "Decoded tables cannot be kept.",
        seen=error.seen,
        todo="make space on the disk, name another folder, or use --no-cache",
        path=folder,
    )
