"""From a source to a decoded store: unpack, decode, finish, recover the steps.

This is the only place where formats, core and instruments meet; the cache, the lake and a Trace all call
it, so the same bytes give the same tables wherever they end up.
"""

from collections.abc import Callable, Sequence

from stepscope import _core, formats
from stepscope._core import CoreError, Store
from stepscope.errors import LakeError, StepscopeError, UnreadableSource
from stepscope.instruments import steps
from stepscope.lake.decoded_source import Decoded
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool

NEEDS = frozenset({"args", "nesting", "ops", "tables"})
"""Everything a decoder can be asked for."""

_TODO = "todo"
"""The fact of a source without a store that says what to do, where that is not to copy it again."""
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
    # Steps are recovered from the table of marks; what an op's time is, from all that its track tells.
    if columns & {"step", "op_self_ps", "rollup_id"}:
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
    wanted: Sequence[str] | None = None if needs == NEEDS else sorted(needs)
    try:
        format_ = formats.named_format(source.format)
    except KeyError:  # what the cache remembers of a file is read from a file, too
        return _failed(source, f"no format is called {source.format!r}")
    pieces = formats.Pieces(source, spool, folder, wanted, threads, progress)
    try:
        store = format_.build(pieces)
    except formats.NothingTimed as error:
        failed = _failed(source, str(error))
        return failed._replace(facts={**failed.facts, _TODO: error.todo})
    except (formats.Unreadable, formats.Damaged) as error:
        return _failed(source, str(error))
    except OSError as error:
        return _failed(source, f"it can no longer be read: {error}")
    except _core.CoreError as error:
        return _given_up(source, folder, error)
    try:
        if needs == NEEDS and format_.fill is not None:
            format_.fill(store, source, spool)
        if needs == NEEDS:
            producer = store.facts.get("producer") or "unknown"
            if (recorded_steps := format_.steps(pieces)) is not None:
                known = steps.SourceFacts(
                    source.step,
                    source.step_counted,
                    source.traits.sessions,
                    formats.writer(source.format, producer).of_session,
                    source.traits.steps == "beside",
                )
                steps.recover(store, known, recorded_steps)
            store.roll_up(producer)
    except formats.Damaged as error:
        return _failed(source, str(error))
    except _core.CoreError as error:
        return _given_up(source, folder, error)
    return decoded_store(source, store)


def decoded_store(source: Source, store: Store) -> Decoded:
    """A decoded source, with what its format knows of its writer."""
    writer = formats.writer(source.format, store.facts.get("producer") or "unknown")
    more = {"decoder_version": _core.DECODER_VERSION, **writer._asdict()}
    return Decoded(source, store, {**store.facts, **more}, None)


def unreadable(decoded: Decoded) -> StepscopeError:
    """The error to raise when a source that cannot be read is all there is."""
    if todo := decoded.facts.get(_TODO):
        return UnreadableSource(
            "Nothing in the file has a duration.",
            seen=decoded.error or "",
            todo=str(todo),
            path=decoded.source.path,
        )
    return UnreadableSource(
        "The file cannot be read.",
        seen=decoded.error or "",
        todo="copy or record it anew; `stepscope docs unreadable-source` explains it",
        path=decoded.source.path,
    )


def _failed(source: Source, error: str) -> Decoded:
    facts = {"decoder_version": _core.DECODER_VERSION}
    place = source.spooled or source.bytes
    if not place.unpack and place.offset == 0 and place.length in (None, source.size):
        try:
            facts["content_hash"] = _core.hash_file(place.path)  # type: ignore[assignment]
        except _core.CoreError:
            # It cannot even be read; it is then known by its path alone.
            return Decoded(source, None, facts, error)
    return Decoded(source, None, facts, error)


def _given_up(source: Source, folder: str | None, error: CoreError) -> Decoded:
    """The source with what the core says of it, unless it is not the source's fault."""
    if error.kind == "interrupted":
        raise KeyboardInterrupt from error
    if error.kind == "io" and folder is not None:
        raise _unwritable(folder, error) from error
    return _failed(source, _described(error))


def _described(error: CoreError) -> str:
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
