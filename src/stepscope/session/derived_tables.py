"""Tables that are made from other tables: made once, and kept in the cache by what they were made of."""

import os
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from stepscope.engines import Part
from stepscope.formats import _op_log
from stepscope.lake.cache import Cache
from stepscope.lake.decoded_source import Decoded
from stepscope.session.store_parts import store_parts
from stepscope.session.table_makers import TOGETHER, VERSIONS, Tables, row_parts
from stepscope.sources import op_logs


class DerivedTables:
    """The derived tables of decoded sources. cache: where they are kept; None where nothing is."""

    def __init__(self, decoded: Sequence[Decoded], cache: Cache | None) -> None:
        self._decoded = decoded
        self._cache = cache
        self._made: dict[str, Tables] = {}
        """By the first of the tables that are made together."""

    def parts(self, table: str, make: Callable[[], Tables]) -> Mapping[str, Sequence[Part]]:
        """A derived table and those that are made along with it. make: makes them."""
        if self._cache is None:
            # Made for the engine that answers, they are there for the one that writes files.
            first = TOGETHER[table][0]
            if first not in self._made:
                self._made[first] = make()
            return row_parts(self._made[first])
        return self._cached(self._cache, TOGETHER[table], make)

    def _cached(
        self, cache: Cache, together: Sequence[str], make: Callable[[], Tables]
    ) -> Mapping[str, Sequence[Part]]:
        made_of = self._made_of([VERSIONS[name] for name in together])
        if made_of is None:
            return row_parts(make())
        made_of = f"{together[0]} {made_of}"
        if (store := cache.made(made_of)) is not None:
            return {name: store_parts(f"derived_{name}", store, name, cached=True) for name in together}
        made = make()
        cache.keep(made_of, {name: _columns(rows) for name, rows in made.items() if rows})
        return row_parts(made)

    def _made_of(self, versions: Sequence[int]) -> str | None:
        """What derived tables are made of; None when that is not known well enough to keep them."""
        identity: list[object] = [list(versions)]
        for decoded in self._decoded:
            source = decoded.source
            if not (content_hash := decoded.facts.get("content_hash")):
                return None
            hints = (source.run_id, source.host_id, source.path, source.name, source.step, source.rank)
            identity += [content_hash, decoded.facts.get("decoder_version"), hints]
            identity += [_file_stamp(piece.bytes.path) for piece in source.pieces]
        for places in op_logs.find([decoded.source for decoded in self._decoded], _op_log.NAMES).values():
            identity += [(path, _file_stamp(place.path)) for place, path in places]
        return repr(identity)


def _columns(rows: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    return {column: list(map(itemgetter(column), rows)) for column in rows[0]}


def _file_stamp(path: str) -> tuple[int, int] | None:
    """Size and time of a file, by which a change is noticed."""
    try:
        status = os.stat(path)  # noqa: PTH116 - paths are kept as text
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns
