"""Pressing a button until it is noticed: what a busy machine begins late is stopped all the same."""

import contextlib
import threading
from collections.abc import Callable, Iterator

PAUSE_S = 0.05


@contextlib.contextmanager
def pressed(action: Callable[[], object]) -> Iterator[None]:
    """Does `action` again and again in a thread while the block runs."""
    over = threading.Event()

    def press() -> None:
        while not over.wait(PAUSE_S):
            action()

    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
