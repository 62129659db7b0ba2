"""The tables of a Trace: sources that are decoded when they are first asked for.

What the tables look like is imported when an engine gets them: decoding begins before that.
"""

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from stepscope import _core, formats
from stepscope.background import Background
from stepscope.engines import Engine, Part, PythonRows, Reads, Relation
from stepscope.errors import LakeError, LimitReached, StepscopeError
from stepscope.lake.cache import Cache
from stepscope.lake.decoded_source import Decoded, Lanes
from stepscope.lake.relation import values
from stepscope.lake.rows import distinct, placed, small_tables
from stepscope.lake.schema import SchemaTable, schema
from stepscope.lake.source_ids import first_id
from stepscope.session import schedule
from stepscope.session.decoding import NEEDS, decode_source, decoded_store, needs_of, unreadable
from stepscope.session.schedule import Meter, Progress
from stepscope.session.store_parts import DamagedStore, store_parts
from stepscope.sources.find import FoundSources
from stepscope.sources.source import Source
from stepscope.sources.spool import Spool

if TYPE_CHECKING:
    from stepscope.session.derived_tables import DerivedTables
    from stepscope.session.table_makers import Tables

SMALL = ("run", "capture", "source", "source_note", "host")
"""Tables that are made from the facts of the sources, not by decoders."""
_LARGE_BYTES = 64 << 20
"""Sources that the cache does not keep are decoded into memory up to this size."""


_HEAD_START_S = 0.05
"""How long the decoding may take to get under way; what takes longer is waited for in the end."""


class DecodedTables:
    """Sources that are decoded when a query first reads them, from the cache where it has them."""

    def __init__(
        self,
        found: FoundSources,
        spool: Spool,
        cache: Cache | None,
        progress: Progress | None,
        given: Sequence[str] = (),
    ) -> None:
        self._given = tuple(given)
        self.sources: tuple[Source, ...] = found.sources
        self.skipped = found.skipped
        self.paths: list[str] = []
        self._spool = spool
        self._cache = cache
        self._mended = False
        self._decoded: list[Decoded] = []
        self._from_cache: list[bool] = []
        self._derived: DerivedTables | None = None
        self._needs: frozenset[str] | None = None
        self._progress = progress
        self._meter = Meter(self.sources, progress)
        self._ahead: Background[None] | None = None
        self._under_way = threading.Event()

    def begin(self) -> None:
        """Begins to decode in a thread: what is kept is decoded whole, whatever the question.

        A question to a small file takes 1.17 times as long without it (benchmarks: start-tricks)."""
        if self._cache is None or self._needs is not None:
            return
        self._needs = NEEDS
        self._meter = Meter(self.sources, self._progress)
        self._ahead = Background("stepscope-decode", self._decode_all).start()
        # What follows imports the engine, which holds the interpreter for longer than looking at the first
        # bytes takes; the native core, once called, needs it no more.
        self._under_way.wait(_HEAD_START_S)

    def _wait(self) -> None:
        """Waits for what was begun."""
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return
        try:
            ahead.result()
        except KeyboardInterrupt:
            self._meter.stop()
            ahead.over.wait()
            self._needs = None
            raise

    def ready(self, reads: Reads | None) -> bool:
        """Decodes what is not decoded yet. UnreadableSource when no source can be read."""
        self._wait()
        # What is kept is kept whole; what is not need hold no more than is asked for.
        wanted = NEEDS
        if self._cache is None and reads is not None:
            wanted = needs_of(reads.tables & frozenset(schema().names), reads.columns, reads.star)
        if self._needs is not None and wanted <= self._needs:
            return True
        first = self._needs is None
        before, self._needs = self._needs, wanted if first else NEEDS
        self._meter = Meter(self.sources, self._progress)
        try:
            self._decode_all()
        except KeyboardInterrupt:
            self._needs = before
            raise
        return first

    def attach(self, engine: Engine) -> None:
        """Makes the tables known; their rows are fetched when a query first reads a table."""
        from stepscope.session.table_makers import FROM_FILES, VERSIONS, derive

        for table in schema().tables:
            if table.name in VERSIONS:
                continue
            parts = partial(self._small if table.name in SMALL else self._large, table)
            if table.name in FROM_FILES:
                parts = partial(self._completed, table)
            engine.attach(Relation(table.name, table.types, parts))
        derive(engine, self._given, self._derived_parts)

    def _derived_parts(self, table: str, make: "Callable[[], Tables]") -> Mapping[str, Sequence[Part]]:
        """A derived table and those that are made along with it."""
        from stepscope.session.derived_tables import DerivedTables

        if self._derived is None:
            self._derived = DerivedTables(self._decoded, self._cache)
        return self._derived.parts(table, make)

    def lanes(self) -> dict[int, Lanes] | None:
        """The stores themselves."""
        stores = enumerate(decoded.store for decoded in self._decoded)
        return {number: Lanes(store, first_id(number)) for number, store in stores if store is not None}

    def doubt(self, error: StepscopeError) -> StepscopeError:
        """The error itself, unless an entry of the cache is gone: what stores hold was compared with its
        hashes before it was read."""
        if self._cache is not None and self._cache.locks.lost():
            return DamagedStore()
        return error

    def repair(self) -> None:
        """Decodes anew what the cache gave; the second time without it."""
        assert self._cache is not None
        for decoded, cached in zip(self._decoded, self._from_cache, strict=True):
            if cached:
                self._cache.drop(decoded.source, decoded.facts["content_hash"])
        if self._mended:
            self._cache.locks.release()
            self._cache = None
        self._mended = True
        self._meter = Meter(self.sources, self._progress)
        self._decode_all()

    def watch(self, progress: Progress | None) -> None:
        """Says from the next decoding on how far it is."""
        self._progress = progress

    def interrupt(self) -> None:
        """Stops what decodes; the next query begins anew."""
        self._meter.stop()

    def close(self) -> None:
        """Drops the stores and removes what was spooled; stops work that is no longer wanted."""
        if self._ahead is not None:
            self._meter.stop()
            self._ahead.over.wait()
            self._ahead = None
        self._decoded = []
        if self._cache is not None:
            self._cache.locks.release()
        self._spool.close()

    def _small(self, table: SchemaTable) -> Sequence[Part]:
        from stepscope.session.table_makers import code_notes

        rows: list[tuple[Any, ...]] = []
        for source_id, decoded in enumerate(self._decoded):
            rows += small_tables(decoded.source, source_id, decoded.facts, decoded.error).get(table.name, [])
        if table.name == "source_note":
            rows += code_notes([decoded.source for decoded in self._decoded], self._spool)
        return [PythonRows(distinct(table.name, rows))]

    def _completed(self, table: SchemaTable) -> Sequence[Part]:
        """Rows that decoders made, and those that are read from the files now."""
        from stepscope.session.table_makers import FROM_FILES

        rows = FROM_FILES[table.name]([decoded.source for decoded in self._decoded], self._spool)
        names = table.names
        made = [PythonRows([[row.get(column) for column in names] for row in rows])] if rows else []
        return [*self._large(table), *made]

    def _large(self, table: SchemaTable) -> Sequence[Part]:
        parts: list[Part] = []
        for source_id, (decoded, cached) in enumerate(zip(self._decoded, self._from_cache, strict=True)):
            if decoded.store is not None:
                of_source = partial(_values, table, source_id, decoded.source)
                name = f"store_{source_id}_{table.name}"
                parts += store_parts(name, decoded.store, table.name, cached, of_source)
        return parts

    def _decode_all(self) -> None:
        results = schedule.decode_all(self.sources, self._decode, self._meter)
        self._decoded = [decoded for decoded, _ in results]
        self._derived = None
        self._from_cache = [cached for _, cached in results]
        if self._cache is not None and not all(self._from_cache):
            self._cache.tidy()
        if all(source.error is not None for source in self._decoded):
            raise unreadable(self._decoded[0])

    def _decode(self, number: int, source: Source, threads: int) -> tuple[Decoded, bool]:
        """The decoded source, and whether the cache had it."""
        cached = formats.named_format(source.format).cached
        if not cached and self._needs == NEEDS and source.size > _LARGE_BYTES:
            # The cache does not keep it, and its rows may be more than memory has room for.
            with contextlib.suppress(LakeError, LimitReached):
                scratch = str(self._spool.folder())
                return self._placed(self._fresh(number, source, scratch, threads)), False
        if self._cache is None or self._needs != NEEDS or not cached:
            return self._placed(self._fresh(number, source, None, threads)), False

        store = self._cache.find(source)
        if store is not None:
            self._under_way.set()
            return self._placed(decoded_store(source, store)), True
        try:
            with self._cache.making() as stage:
                decoded = self._fresh(number, source, str(stage), threads)
                if decoded.store is None:
                    return decoded, False
                content_hash = str(decoded.facts["content_hash"])
                decoded = Decoded(source, None, decoded.facts, None)  # lets go before the folder moves
                entry = self._cache.put(stage, source, content_hash)
                return self._placed(decoded_store(source, _core.open(str(entry)))), False
        except (OSError, LakeError, _core.CoreError):
            # No space or no right to keep anything: the question can be answered all the same.
            return self._placed(self._fresh(number, source, None, threads)), False

    def _fresh(self, number: int, source: Source, folder: str | None, threads: int) -> Decoded:
        assert self._needs is not None
        self._meter.report(number, source, 0)
        self._under_way.set()
        decoded = decode_source(
            source,
            self._spool,
            folder,
            needs=self._needs,
            threads=threads,
            progress=lambda read: self._meter.report(number, source, read),
        )
        self._meter.report(number, source, source.size)
        return decoded

    def _placed(self, decoded: Decoded) -> Decoded:
        return Decoded(placed(decoded.source, decoded.facts), decoded.store, decoded.facts, decoded.error)


def _values(table: SchemaTable, source_id: int, source: Source, columns: Sequence[str]) -> Mapping[str, str]:
    """The values of columns that a store of a source does not have."""
    return values(table, columns, source_id, source.run_id, source.host_id)
