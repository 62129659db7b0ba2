"""Work in a thread of its own that needs no trace: it ends at its next step when nobody waits for it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from stepscope.background import stoppable

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
    """What `work` gives. Cancelled, it has the thread stop (see background.go_on) and does not wait."""
    stop = threading.Event()

    def do() -> T:
        with stoppable(stop):
            return work()

    running = asyncio.get_running_loop().run_in_executor(None, do)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        stop.set()
        running.add_done_callback(_forget)
        raise


def _forget(done: asyncio.Future[T]) -> None:
    """Nobody asks any more how it ended."""
    if not done.cancelled():
        done.exception()
