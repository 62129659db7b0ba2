"""A trace in a thread of its own: one question at a time, stopped when nobody waits for the answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from stepscope.server import threads

if TYPE_CHECKING:
    from stepscope.session.trace import Trace

T = TypeVar("T")

_AGAIN_SECONDS = 0.05
"""How often a query is interrupted: an interrupt before it begins has no effect."""


class Desk:
    """Answers questions to a trace. Belongs to one event loop."""

    def __init__(self, open_trace: Callable[[], Trace], *, gives_way: bool = False) -> None:
        """open_trace: called in the thread, at the first question, and again when it raised. gives_way: with
        the priority that timelines which move go first; threads of an engine have that of the one which
        opened it."""
        self._open = open_trace
        self._trace: Trace | None = None
        self._thread = ThreadPoolExecutor(1, "stepscope-desk", threads.give_way if gives_way else None)
        self._free = asyncio.Lock()

    async def ask(self, work: Callable[[Trace], T]) -> T:
        """Runs `work` on the trace. Cancelled, it stops the query that runs and returns when the thread is
        free."""
        async with self._free:
            running = asyncio.get_running_loop().run_in_executor(self._thread, self._do, work)
            try:
                return await asyncio.shield(running)
            except asyncio.CancelledError:
                while not running.done():
                    if self._trace is not None:
                        self._trace.interrupt()
                    await asyncio.wait([running], timeout=_AGAIN_SECONDS)
                if not running.cancelled():
                    running.exception()  # nobody asks for it
                raise

    def _do(self, work: Callable[[Trace], T]) -> T:
        if self._trace is None:
            self._trace = self._open()
        return work(self._trace)

    def close(self) -> None:
        """Stops what runs and closes the trace."""
        with contextlib.suppress(Exception):  # it may be closed, or not even open: the server ends
            if self._trace is not None:
                self._trace.interrupt()
        self._thread.submit(self._leave)
        self._thread.shutdown(wait=True)

    def _leave(self) -> None:
        if self._trace is not None:
            self._trace.close()
            self._trace = None
