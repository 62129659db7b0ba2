"""A progress bar on stderr: only on a terminal, only after a second, gone when the work is done."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.cli.console import Console
from stepscope.presenters.plain import plain

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE_SECONDS = 1.0
"""Work that is done sooner needs no bar."""


class Bar:
    """The bar: update() is the callback for `trace.open` and `trace.ingest`, stop() erases it."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begin = time.monotonic()
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def update(self, what: str, done: int, total: int) -> None:
        """Shows how far the work is; the reader calls it about ten times a second."""
        if self._progress is None:
            if not self._console.err_is_terminal or time.monotonic() - self._begin < PATIENCE_SECONDS:
                return
            self._progress = self._start()
            self._task = self._progress.add_task("", total=None)
        if self._task is not None:
            self._progress.update(
                self._task, description=plain(what, 40), completed=done, total=total if total > 0 else None
            )

    def _start(self) -> Progress:
        from rich import progress
        from rich.console import Console as RichConsole

        shown = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(bar_width=24),
            progress.DownloadColumn(binary_units=True),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
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
        self._begin = time.monotonic()
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
