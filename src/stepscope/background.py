"""Work in the background that may be waited for, and the waiting interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Background(Generic[T]):
    """Work in a thread of its own. No daemon: an interpreter that ends in the middle of an import aborts."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self.over = threading.Event()
        """Set when it has ended, well or badly. Unlike Thread.join(), waiting for it may be interrupted."""
        self._done: list[T] = []
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), name=name)
        self._thread.start()

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
        self._thread.join()
        if self._failed is not None:
            raise self._failed
        return self._done[0]
