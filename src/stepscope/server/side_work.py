"""Work in a thread, without a trace; it stops at its next step when no request waits for it."""

import asyncio
import threading
from collections.abc import Callable
from typing import TypeVar

from stepscope.background import stoppable

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
    """The result of `work`. When cancelled, it tells the thread to stop (see background.go_on) and does not
    wait."""
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
    """Nobody needs the result any more."""
    if not done.cancelled():
        done.exception()
