"""Runs of Python's garbage collection while steps are recorded: while one lasts, no thread runs Python.

Collections of young objects are frequent and short; those that go through all objects take as long as the
program has objects, and come at whatever line makes one more.
"""

import gc
import threading
from collections import deque
from typing import Any, Callable, Deque, Dict, List, Optional

from . import clocks

NAME = "garbage.ndjson"
LEAST_NS = 100_000
"""Shorter ones are not kept: a profiler's own event costs a hundredth of that."""
MOST = 100_000
"""This many are kept; later ones are only counted."""


class GarbageWatch:
    """Keeps when collections began and ended. write: takes a line of garbage.ndjson."""

    def __init__(self, write: Callable[[Dict[str, Any]], None], driver: int) -> None:
        """driver: the thread of the steps."""
        self._write = write
        self._driver = driver
        self._begin_ns = 0
        self._lines: Deque[Dict[str, Any]] = deque()
        self._seen = 0
        self.dropped = 0
        """Collections that were only counted."""

    def start(self) -> None:
        """Begins to watch. Pythons other than CPython have no such calls."""
        callbacks: Optional[List[Any]] = getattr(gc, "callbacks", None)
        if callbacks is not None and self._collects not in callbacks:
            callbacks.append(self._collects)

    def stop(self) -> None:
        """Ends watching, and writes what is left."""
        callbacks: List[Any] = getattr(gc, "callbacks", [])
        if self._collects in callbacks:
            callbacks.remove(self._collects)
        self.flush()

    def flush(self) -> None:
        """Writes what was seen so far. Not done within a collection, which may begin at any line of the
        program's, or of the recorder's."""
        while self._lines:
            self._write(self._lines.popleft())

    def _collects(self, phase: str, info: Dict[str, int]) -> None:
        if phase == "start":
            self._begin_ns = clocks.time_ns()
            return
        begin_ns, self._begin_ns = self._begin_ns, 0
        end_ns = clocks.time_ns()
        if not begin_ns or end_ns - begin_ns < LEAST_NS:
            return
        if self._seen >= MOST:
            self.dropped += 1
            return
        self._seen += 1
        self._lines.append(
            {
                "begin_unix_ns": begin_ns,
                "end_unix_ns": end_ns,
                "generation": info.get("generation", 0),
                "collected": info.get("collected", 0),
                "main": threading.get_ident() == self._driver,
            }
        )
