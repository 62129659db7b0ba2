"""A progress bar on stderr: only on a terminal, only after a second, gone when the work is done."""

import contextlib
import datetime
import threading
import time
from collections.abc import Iterator
from typing import Literal, NamedTuple

from stepscope import units
from stepscope.cli.console import Console
from stepscope.presenters.cells import cells, shorten_cells
from stepscope.presenters.plain import plain

PATIENCE_SECONDS = 1.0
"""Work that is done sooner needs no bar."""
_PERIOD_SECONDS = 0.1
_WIDTH, _BAR = 40, 24
"""Columns of what is being done, and of the bar."""
_FIGURES = 42
"""Columns of how much is done, how fast, and how long it takes."""
_ERASED, _HIDDEN, _CURSOR = "\r\x1b[2K", "\x1b[?25l", "\x1b[?25h"


class _Shown(NamedTuple):
    """What the bar says."""

    what: str
    done: int
    total: int
    unit: Literal["bytes", "things", "time"]


class Bar:
    """The bar: update() and asking() are what Trace.watch() and `trace.ingest` call, stop() erases it.

    A query may take minutes and tells nothing meanwhile: so a thread draws the bar, and not the next call.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begin = self._since = time.monotonic()
        self._lock = threading.Lock()
        self._ended: threading.Event | None = None
        """Set when the thread that draws must end; None without one."""
        self._latest: _Shown | None = None
        self._is_drawn = False

    def update(self, what: str, done: int, total: int) -> None:
        """Shows how many bytes are read; the reader calls it about ten times a second."""
        self._say(_Shown(what, done, total, "bytes"))

    def asking(self, name: str, done: int, total: int) -> None:
        """Shows which statement is asked, and how many of those that are asked with it are answered."""
        self._say(_Shown(name.strip("_").replace("_", " ") or "a query", done, total, "things"))

    def counting(self, what: str, done: int, total: int) -> None:
        """Shows how many things are done."""
        self._say(_Shown(what, done, total, "things"))

    def waiting(self, what: str) -> None:
        """Shows what is done by work that cannot tell how far it is, and how long it takes."""
        self._say(_Shown(what, 0, 0, "time"))

    def _say(self, shown: _Shown) -> None:
        if not self._console.err_is_terminal:
            return
        with self._lock:
            now, before = time.monotonic(), self._latest
            if before is None or before.unit != shown.unit or shown.done < before.done:
                self._since = now
            self._latest = shown
            left = self._begin + PATIENCE_SECONDS - now
            if left <= 0 and (not self._is_drawn or before is None or before.unit != shown.unit):
                self._draw()
            if self._ended is None:
                self._ended = threading.Event()
                threading.Thread(target=self._run, args=(self._ended, max(left, 0)), daemon=True).start()

    def _run(self, ended: threading.Event, left: float) -> None:
        while not ended.wait(left):
            with self._lock:
                if not ended.is_set():
                    self._draw()
            left = _PERIOD_SECONDS

    def _draw(self) -> None:
        begin = _ERASED if self._is_drawn else _HIDDEN + _ERASED
        self._is_drawn = True
        self._write(begin + shorten_cells(self._line(), self._console.width - 1))

    def _write(self, text: str) -> None:
        """Work goes on even if stderr cannot be written."""
        with contextlib.suppress(OSError, ValueError):
            self._console.err.write(text)
            self._console.err.flush()

    def _line(self) -> str:
        if self._latest is None:
            return ""
        what, done, total, unit = self._latest
        share = min((self._console.width - _FIGURES) / (_WIDTH + _BAR), 1.0)
        name_room, bar_room = max(int(_WIDTH * share), 4), max(int(_BAR * share), 4)
        name = shorten_cells(plain(what), name_room)
        now = time.monotonic()
        seconds = now - self._since
        parts = [_clock(now - self._begin)]
        if unit == "things":
            parts = [f"{done}/{total}", *parts] if total else parts
        elif unit == "bytes":
            per_second = done / seconds if seconds > 0 else 0.0
            parts = [f"{units.show(done, 'bytes')}/{units.show(total, 'bytes')}"] if total else []
            parts += [f"{units.show(int(per_second), 'bytes')}/s"]
            parts += [_clock((total - done) / per_second)] if total and per_second else []
        filled = min(bar_room * done // total, bar_room) if total > 0 else 0
        drawn = "━" * filled + " " * (bar_room - filled)
        return f"{name}{' ' * (name_room - cells(name))} {drawn} {' '.join(parts)}"

    def stop(self) -> None:
        """Erases the bar, so that results can be written; a later update starts a new one."""
        with self._lock:
            if self._ended is not None:
                self._ended.set()
            self._ended = self._latest = None
            self._begin = time.monotonic()
            if self._is_drawn:
                self._is_drawn = False
                self._write(_ERASED + _CURSOR)


def _clock(seconds: float) -> str:
    return str(datetime.timedelta(seconds=int(seconds)))


@contextlib.contextmanager
def bar(console: Console) -> Iterator[Bar]:
    """A bar that is gone at the end, whatever happens."""
    shown = Bar(console)
    try:
        yield shown
    finally:
        shown.stop()


@contextlib.contextmanager
def working(what: str, console: Console) -> Iterator[None]:
    """A bar without an end, for work that cannot tell how far it is. Nothing may be written meanwhile."""
    with bar(console) as shown:
        shown.waiting(what)
        yield
