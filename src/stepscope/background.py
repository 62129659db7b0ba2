"""Work in the background that may be waited for, and the waiting interrupted; work that may be stopped."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")

_INTERRUPT_EACH_SECONDS = 0.02
_thread = threading.local()


class Stopped(BaseException):
    """Nobody wants what this thread works on any more. No Exception: as after Ctrl-C, nothing goes on."""


@contextlib.contextmanager
def stoppable(stop: threading.Event) -> Iterator[None]:
    """What this thread does within ends with Stopped at the next go_on() once `stop` is set."""
    before, _thread.stop = getattr(_thread, "stop", None), stop
    try:
        yield
    finally:
        _thread.stop = before


def go_on() -> None:
    """Raises Stopped when the work is no longer wanted. Call it between steps of long work."""
    stop: threading.Event | None = getattr(_thread, "stop", None)
    if stop is not None and stop.is_set():
        raise Stopped


def end(is_over: Callable[[float], bool], interrupt: Callable[[], None], patience_s: float) -> bool:
    """Interrupts work in other threads until it ends; returns whether it did. is_over(seconds) waits that
    long for the end."""
    until = time.monotonic() + patience_s
    # More than once: a thread may just be about to begin.
    while not (over := is_over(_INTERRUPT_EACH_SECONDS)) and time.monotonic() < until:
        interrupt()
    return over


class Background(Generic[T]):
    """Work in a thread of its own. No daemon where it imports: an interpreter that ends meanwhile aborts.

    Who must act on Ctrl-C starts it and waits in one `try`: none is lost in between.
    """

    def __init__(self, name: str, work: Callable[[], T], *, daemon: bool = False) -> None:
        self.over = threading.Event()
        """Set when it has ended, well or badly. Unlike Thread.join(), waiting for it may be interrupted."""
        self._done: list[T] = []
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), name=name, daemon=daemon)

    def start(self) -> Background[T]:
        """Starts the thread."""
        self._thread.start()
        return self

    def _run(self, work: Callable[[], T]) -> None:
        try:
            self._done.append(work())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._failed = error
        finally:
            self.over.set()

    def result(self) -> T:
        """Waits for the end; gives what the work gave, or raises what it raised."""
        self.over.wait()
        self._thread.join()  # it is done, but a process that ends counts the threads that are left
        if self._failed is not None:
            raise self._failed
        return self._done[0]
