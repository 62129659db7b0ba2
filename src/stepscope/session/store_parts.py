"""Rows of a store as parts of a table."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from stepscope._core import Store
from stepscope.engines import Arrow, Stream
from stepscope.errors import LakeError


class DamagedStore(LakeError):
    """A store of the cache is gone or does not hold what was written; it has to be made anew."""

    def __init__(self) -> None:
        super().__init__(
            "The cache changed while it was read.",
            seen="a file of it that is gone or not as it was written",
            todo="run the same command again, or with --no-cache",
        )


def store_parts(
    name: str,
    store: Store,
    table: str,
    cached: bool,
    values: Callable[[Sequence[str]], Mapping[str, str]] | None = None,
) -> list[Stream]:
    """The rows that a store has of a table, as a part of that name; no part where it has none.

    cached: the store is one of the cache. values: gives, by the columns that the store has, the values of
    others, as SQL."""
    if not (rows := store.tables().get(table, 0)):
        return []
    columns = tuple(store.stream(table).columns)
    others = {} if values is None else values(columns)
    damaged = DamagedStore() if cached else None
    return [Stream(name, partial(_stream, store, table), columns, others, damaged, rows)]


def _stream(store: Store, table: str, columns: Sequence[str] | None, mapped: bool) -> Arrow:
    return store.stream(table, mapped=mapped, columns=columns)
