"""Traces in worker threads. Each answers one question at a time, and stops when no request waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Protocol, TypeVar

from stepscope.background import Stopped, stoppable
from stepscope.server import threads
from stepscope.server.activity import WAITING, Doing, waits_for

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

T = TypeVar("T")

_AGAIN_SECONDS = 0.05
"""Seconds between interrupts of a query: an interrupt before it begins has no effect."""
MOST_DESKS = 3
"""Slow answers computed at the same time; each has a trace's memory."""
PATIENCE_SECONDS = 1.0
"""How long a question waits for an open desk, which may have computed parts of its answer already."""


class TraceWorkers(Protocol):
    """One desk or several."""

    async def ask(self, work: Callable[[OpenTrace], T]) -> T:
        """The result of `work` on a trace. When cancelled, it stops the work and returns when that has
        ended."""

    def close(self) -> None:
        """Stops what runs and closes the traces."""


class TraceWorker:
    """A trace that answers questions. Belongs to one event loop."""

    def __init__(self, open_trace: Callable[[], OpenTrace], *, gives_way: bool = False) -> None:
        """open_trace: called in the thread at the first question, and again after an error. gives_way: runs
        with the priority that lets moving timelines go first; an engine's threads inherit it from the one
        that opened it."""
        self._open = open_trace
        self._trace: OpenTrace | None = None
        self._thread = ThreadPoolExecutor(1, "stepscope-desk", threads.give_way if gives_way else None)
        self._free = asyncio.Lock()
        self._doing = Doing()
        self._stop = threading.Event()
        self._closed = False

    async def ask(self, work: Callable[[OpenTrace], T]) -> T:
        """Runs `work` on the trace. When cancelled, it stops the work (see background.go_on) and returns when
        the thread is free."""
        with waits_for(WAITING):
            await self._free.acquire()
        try:
            self._doing.now, self._stop = None, threading.Event()
            running = asyncio.get_running_loop().run_in_executor(self._thread, self._do, work, self._stop)
            with waits_for(self._doing):
                return await asyncio.shield(running)
        except asyncio.CancelledError:
            while not running.done():
                self._interrupt()
                await asyncio.wait([running], timeout=_AGAIN_SECONDS)
            if not running.cancelled():
                running.exception()  # nobody waits for it
            raise
        except Stopped:
            raise asyncio.CancelledError from None  # the desk is closing
        finally:
            self._free.release()

    def _do(self, work: Callable[[OpenTrace], T], stop: threading.Event) -> T:
        try:
            with stoppable(stop):
                if self._trace is None:
                    self._trace = self._open()
                    self._trace.watch(self._doing.reading, self._doing.asking)
                return work(self._trace)
        except KeyboardInterrupt:  # this is how a decoder stops; in the event loop, it would end the server
            raise Stopped from None

    def _interrupt(self) -> None:
        self._stop.set()
        if self._trace is not None:
            self._trace.interrupt()

    def close(self) -> None:
        """Stops what runs and closes the trace. Idempotent."""
        if self._closed:
            return
        self._closed = True
        left = self._thread.submit(self._leave)
        while not left.done():
            with contextlib.suppress(Exception):  # the trace may be closed, or not even open: the server ends
                self._interrupt()
            wait([left], _AGAIN_SECONDS)
        self._thread.shutdown(wait=True)

    def _leave(self) -> None:
        if self._trace is not None:
            self._trace.close()
            self._trace = None


class TraceWorkerPool:
    """Several desks for slow answers, so that none waits for all others. One stays open as long as possible;
    more are opened for questions that would wait long, and closed afterwards."""

    def __init__(self, open_trace: Callable[[], OpenTrace]) -> None:
        """open_trace: see Desk."""
        self._open = open_trace
        self._every: set[TraceWorker] = set()
        self._idle: list[TraceWorker] = []
        self._waiting: list[asyncio.Future[TraceWorker]] = []
        self._closing: set[asyncio.Future[None]] = set()

    async def ask(self, work: Callable[[OpenTrace], T]) -> T:
        """Runs `work` on one of the traces; see Desk."""
        desk = await self._seat()
        try:
            return await desk.ask(work)
        finally:
            self._leave(desk)

    async def _seat(self) -> TraceWorker:
        if self._idle:
            return self._idle.pop()
        if not self._every:
            return self._another()
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[TraceWorker] = loop.create_future()
        self._waiting.append(waiting)
        late = loop.call_later(PATIENCE_SECONDS, self._late, waiting)
        try:
            with waits_for(WAITING):
                return await waiting
        except asyncio.CancelledError:
            if waiting.done() and not waiting.cancelled():
                self._leave(waiting.result())
            raise
        finally:
            late.cancel()
            if waiting in self._waiting:
                self._waiting.remove(waiting)

    def _late(self, waiting: asyncio.Future[TraceWorker]) -> None:
        if not waiting.done() and len(self._every) < MOST_DESKS:
            waiting.set_result(self._another())

    def _another(self) -> TraceWorker:
        desk = TraceWorker(self._open, gives_way=True)
        self._every.add(desk)
        return desk

    def _leave(self, desk: TraceWorker) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(desk)
                return
        if not self._idle:
            self._idle.append(desk)
        elif desk in self._every:
            self._every.remove(desk)
            closed = asyncio.get_running_loop().run_in_executor(None, desk.close)
            self._closing.add(closed)
            closed.add_done_callback(self._closing.discard)

    def close(self) -> None:
        """Stops what runs and closes the traces."""
        for desk in self._every:
            desk.close()
        self._every.clear()
