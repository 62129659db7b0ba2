"""An engine that is made in the background, while its future user is still being imported.

Loading DuckDB and opening a database take fifty milliseconds, most of them without the interpreter.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.engines.duckdb import DuckDB

_lock = threading.Lock()
_begun: _Making | None = None
_lost: _Making | None = None


class _Making(threading.Thread):
    """No daemon: an interpreter that ends in the middle of an import aborts."""

    def __init__(self) -> None:
        super().__init__(name="stepscope-engine")
        self.engine: DuckDB | None = None
        self.failed: BaseException | None = None
        self.over = threading.Event()
        """Set when it has ended. Unlike join(), waiting for it may be interrupted."""

    def run(self) -> None:
        try:
            from stepscope.engines.duckdb import DuckDB

            self.engine = DuckDB()
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that asks for the engine
            self.failed = error
        finally:
            self.over.set()


def begin() -> None:
    """Begins to make an engine, unless one is being made."""
    global _begun
    with _lock:
        if _begun is None:
            _begun = _Making()
            _begun.start()


def engine() -> DuckDB:
    """The engine that was begun, or a new one."""
    global _begun
    with _lock:
        begun, _begun = _begun, None
    if begun is not None:
        begun.over.wait()
        begun.join()
        if begun.failed is not None:
            raise begun.failed
        assert begun.engine is not None
        return begun.engine
    from stepscope.engines.duckdb import DuckDB

    return DuckDB()


def _forget() -> None:
    """A forked process has neither the thread nor DuckDB's own."""
    global _begun, _lock, _lost
    _lost = _begun  # not let go of: DuckDB would wait for threads that are not there
    _begun, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
