"""DuckDB's native module, without the package around it where that can be spared.

`import duckdb` loads data frames, typed expressions and package metadata, none of which are used here: a
question to a small file takes 1.35 times as long with it (benchmarks: start-tricks). The native module is
the same either way; all that the package adds for us is how it reads Arrow streams and how it gives them.
`_Streams` and `stream()` do that for the releases where it is known, and `_Beside` in a process that has
imported the package. With any other release the package is used.
"""

import importlib
import sys
from collections.abc import Sequence
from typing import Any

import _duckdb as duckdb

from stepscope._core import Stream, ViewStream

__all__ = ["duckdb"]

_KNOWN = "2.0."
_BATCH_ROWS = 131_072
"""Rows of a batch of Arrow: as many as the package asks for."""


def _narrowed(stream: Any, columns: Sequence[int]) -> Any:
    """A stream of ours with the columns that a statement reads. More may be attached for other statements: to
    make the texts of args for 10 M slices, say, takes a second (benchmarks: summary-xspace-10m)."""
    return stream.narrowed(columns)


class _Stream:
    """An object with __arrow_c_stream__ as the scan wants to see it. Nothing is filtered; our own streams
    give the columns that a statement reads, others all of theirs."""

    one_shot = False
    schema_is_stable = False
    pull_under_gil = False

    def __init__(self, arrow: Any) -> None:
        self.obj = arrow

    def rows(self) -> int | None:
        # Joins are planned by it: without it the many rows of a table may be put where the few belong.
        rows = getattr(self.obj, "rows", None)
        return rows if isinstance(rows, int) else None

    def accepts(self, predicate: object) -> bool:
        return False

    def stream(self, columns: Sequence[int] | None, filters: object) -> tuple[object, bool]:
        if not columns or not hasattr(self.obj, "narrowed"):
            return self.obj.__arrow_c_stream__(), False
        return _narrowed(self.obj, columns).__arrow_c_stream__(), True


class _Predicates:
    """The predicates that a scan offers to a source. None is ever accepted, so they need say nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda *parts, **named: None


class _Streams:
    nodes = _Predicates()
    adapt = _Stream


class _Beside:
    """The package's way to read Arrow objects; ours for our own streams, which know their columns."""

    def __init__(self, sources: Any) -> None:
        self.nodes = sources.nodes
        self._ours, self._adapt = (Stream, ViewStream), sources.adapt

    def adapt(self, found: object) -> object:
        return _Stream(found) if isinstance(found, self._ours) else self._adapt(found)


def prepare() -> None:
    """Lets engines read our streams. To be called for each: the package may have been imported meanwhile."""
    if not duckdb.__version__.startswith(_KNOWN):
        importlib.import_module("duckdb")
    elif "duckdb" not in sys.modules:
        duckdb._set_arrow_sources(_Streams)
    else:
        # Its import may not be over in another thread.
        duckdb._set_arrow_sources(_Beside(importlib.import_module("duckdb")._sources))


def stream(con: duckdb.DuckDBPyConnection, sql: str) -> object:
    """The capsule of an Arrow stream with the rows of a SELECT. duckdb.Error when it is refused."""
    if duckdb.__version__.startswith(_KNOWN):
        return con._submit(sql, None, "stream", _BATCH_ROWS).arrow_capsule()
    importlib.import_module("duckdb")
    return con.sql(sql).__arrow_c_stream__()
