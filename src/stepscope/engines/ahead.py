"""An engine that is made in the background, while its future user is still being imported.

Loading DuckDB and opening a database take fifty milliseconds, most of them without the interpreter.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from stepscope.background import Background

if TYPE_CHECKING:
    from stepscope.engines.duckdb import DuckDB

_lock = threading.Lock()
_begun: Background[DuckDB] | None = None
_lost: Background[DuckDB] | None = None


def begin() -> None:
    """Begins to make an engine, unless one is being made."""
    global _begun
    with _lock:
        if _begun is None:
            _begun = Background("stepscope-engine", _make)


def engine() -> DuckDB:
    """The engine that was begun, or a new one."""
    global _begun
    with _lock:
        begun, _begun = _begun, None
    return _make() if begun is None else begun.result()


def _make() -> DuckDB:
    from stepscope.engines.duckdb import DuckDB

    return DuckDB()


def _forget() -> None:
    """A forked process has neither the thread nor DuckDB's own."""
    global _begun, _lock, _lost
    _lost = _begun  # not let go of: DuckDB would wait for threads that are not there
    _begun, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
