"""A progress bar on stderr: only on a terminal, only after a second, gone when the work is done."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple

from stepscope.cli.console import Console
from stepscope.presenters.plain import plain

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn, TaskID

PATIENCE_SECONDS = 1.0
"""Work that is done sooner needs no bar."""
_WIDTH, _BAR = 40, 24
"""Characters of what is being done, and of the bar."""
_MUCH = 42
"""Characters of how much is done, how fast, and how long it takes."""


class _Shown(NamedTuple):
    """What the bar says."""

    what: str
    done: int
    total: int
    unit: Literal["bytes", "things", "time"]


class Bar:
    """The bar: update() and asking() are what Trace.watch() and `trace.ingest` call, stop() erases it.

    A query may take minutes and tells nothing meanwhile: so a timer shows the bar, and not the next call.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begin = time.monotonic()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._latest: _Shown | None = None
        self._progress: Progress | None = None
        self._unit = ""
        self._task: TaskID | None = None

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
            self._latest = shown
            left = self._begin + PATIENCE_SECONDS - time.monotonic()
            if self._progress is not None or left <= 0:
                self._show(shown)
            elif self._timer is None:
                self._timer = threading.Timer(left, self._late)
                self._timer.daemon = True
                self._timer.start()

    def _late(self) -> None:
        """The work takes long. Called by a timer, which stop() may have been too late to cancel."""
        with self._lock:
            if self._timer is threading.current_thread() and self._latest is not None:
                self._show(self._latest)

    def _show(self, shown: _Shown) -> None:
        if self._progress is None or self._unit != shown.unit:
            self._erase()
            self._progress, self._unit = self._start(shown.unit), shown.unit
            self._task = self._progress.add_task("", total=None)
        if self._task is not None:
            self._progress.update(
                self._task,
                description=plain(shown.what, self._room(_WIDTH + _BAR) - self._room(_BAR)),
                completed=shown.done,
                total=shown.total if shown.total > 0 else None,
            )

    def _room(self, wanted: int) -> int:
        """Characters of the name and the bar, or of the bar alone, for those that are wanted: on one line."""
        share = min(1.0, (self._console.width - _MUCH) / (_WIDTH + _BAR))
        return max(int(wanted * share), 4)

    def _start(self, unit: str) -> Progress:
        from rich import progress
        from rich.console import Console as RichConsole

        much: tuple[ProgressColumn, ...] = (progress.TimeElapsedColumn(),)
        if unit == "things":
            much = (progress.MofNCompleteColumn(), *much)
        if unit == "bytes":
            much = (
                progress.DownloadColumn(binary_units=True),
                progress.TransferSpeedColumn(),
                progress.TimeRemainingColumn(),
            )
        shown = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=self._room(_BAR)),
            *much,
            console=RichConsole(
                file=self._console.err,
                no_color=not self._console.err_color,
                force_terminal=True,  # looked at before: it is one
            ),
            transient=True,
            refresh_per_second=10,
        )
        shown.start()
        return shown

    def stop(self) -> None:
        """Erases the bar, so that results can be written; a later update starts a new one."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._timer = self._latest = None
            self._begin = time.monotonic()
            self._erase()

    def _erase(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


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
