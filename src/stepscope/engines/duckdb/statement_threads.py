"""Runs several statements side by side, each on its own connection to the same database.

Planning a statement of the library takes longer than answering it and uses one core; a report asks thirty.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any, NoReturn

from stepscope.background import Background, end
from stepscope.engines.duckdb.native import duckdb

Rows = list[tuple[Any, ...]]
Refused = Callable[[duckdb.Error], Exception]
"""Translates an error of DuckDB's that a statement raised."""
Run = Callable[[str], Rows]
"""Runs a statement."""

_FIRST = -1


class Connection:
    """A connection beside the engine's own, for one thread at a time."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        """con: the engine's own."""
        self._con = con.cursor()
        self._known: set[str] = set()

    def rows(self, sql: str, streams: dict[str, object]) -> Rows:
        """All rows of a statement; duckdb.Error when it fails. streams: what it may read, by name; more
        may be added at any time."""
        while True:
            self._register(streams)
            try:
                return self._con.execute(sql).fetchall()
            except duckdb.CatalogException:
                # A table may have been attached again, from a stream that this connection has not seen yet.
                if len(self._known) == len(streams):
                    raise

    def _register(self, streams: dict[str, object]) -> None:
        # Another thread may add a stream meanwhile: copying a dict is one step for the interpreter, listing
        # its items is not.
        for alias, arrow in streams.copy().items():
            if alias not in self._known:
                self._con.register(alias, arrow)
                self._known.add(alias)

    def interrupt(self) -> None:
        """Stops the statement that runs, from another thread."""
        self._con.interrupt()

    def close(self) -> None:
        """Unregisters its streams and closes."""
        for alias in self._known:
            with contextlib.suppress(duckdb.Error):
                self._con.unregister(alias)
        self._known.clear()
        self._con.close()


class StatementThreads:
    """Threads that run statements in the order of put(). An exception in the `with` block stops them."""

    def __init__(
        self, connections: Sequence[Connection], streams: dict[str, object], patience_s: float
    ) -> None:
        """patience_s: how long interrupted statements may take to end."""
        self.stuck = False
        """True when one of them did not end: its connection can be neither used nor closed."""
        self.coming: frozenset[str] = frozenset()
        """Views that the work of begin() creates."""
        self._connections = connections
        self._streams = streams
        self._patience_s = patience_s
        self._todo: SimpleQueue[tuple[int, Callable[[Run], Any]] | None] = SimpleQueue()
        self._ready = threading.Event()
        self._ready.set()
        self._done: SimpleQueue[int] = SimpleQueue()
        self._rows: dict[int, Rows] = {}
        self._failed: dict[int, BaseException] = {}
        self._put = 0
        """How many statements were put."""
        self._stop = False
        self._running: list[Background[None]] = []

    def _start(self) -> None:
        """Starts the threads, within the `with` block, which ends them however it is left."""
        for connection in self._connections[len(self._running) :]:
            running = Background("stepscope-statements", partial(self._work, connection), daemon=True)
            self._running.append(running)
            running.start()

    def begin(self, work: Callable[[Run], object], views: frozenset[str]) -> None:
        """Runs what creates views; statements put later wait for it."""
        self.coming = views
        self._ready.clear()
        self._start()
        self._todo.put((_FIRST, work))

    def begun(self, refused: Refused) -> None:
        """Waits for the work of begin(); raises what it raised."""
        self._ready.wait()
        if (error := self._failed.get(_FIRST)) is not None:
            _raise(error, refused)

    def put(self, sql: str, is_empty: Callable[[], bool]) -> None:
        """Queues a statement. All it reads exists, or is created by the work of begin().

        is_empty: asked when its turn comes; True spares asking for its rows."""
        self._start()
        self._todo.put((self._put, lambda run: [] if is_empty() else run(sql)))
        self._put += 1

    def rows(self, refused: Refused, answered: Callable[[int, int], None]) -> list[Rows]:
        """The rows of each statement, in the order of put(). Raises the first failure.

        answered: called in this thread with the number of each statement that is done, and how many are."""
        self._end()
        for done in range(1, self._put + 1):
            answered(self._done.get(), done)
        self._wait(None)
        for _, error in sorted(self._failed.items()):
            _raise(error, refused)
        return [self._rows[number] for number in range(self._put)]

    def __enter__(self) -> StatementThreads:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            return
        self._stop = True
        self._ready.set()
        self._end()
        self.stuck = not end(self._wait, self._interrupt, self._patience_s)

    def _interrupt(self) -> None:
        for connection in self._connections:
            connection.interrupt()

    def _end(self) -> None:
        for _ in self._connections:
            self._todo.put(None)

    def _wait(self, seconds: float | None) -> bool:
        if not all(running.over.wait(seconds) for running in self._running):
            return False
        for running in self._running:
            running.result()
        return True

    def _work(self, connection: Connection) -> None:
        while (work := self._todo.get()) is not None and not self._stop:
            number, ask = work
            if number != _FIRST:
                self._ready.wait()
                if self._stop:
                    return
            try:
                self._rows[number] = ask(partial(connection.rows, streams=self._streams))
            except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
                self._failed[number] = error
            if number == _FIRST:
                self._ready.set()
            else:
                self._done.put(number)


def _raise(error: BaseException, refused: Refused) -> NoReturn:
    if isinstance(error, duckdb.Error):
        raise refused(error) from error
    raise error
