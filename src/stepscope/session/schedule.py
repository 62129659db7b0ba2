"""The schedule of decoding: which source when, and with how many threads; for cache and lake.

The core decodes the pieces of a file side by side, so a source gets all threads while there are fewer sources
than threads. Otherwise each gets one: then no decoder waits for another. The largest comes first, so that no
thread is left alone with it at the end.
"""

import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from stepscope import config
from stepscope.sources.source import Source

Progress = Callable[[str, int, int], None]
"""Called with the path being read, the bytes read so far and the bytes in all."""
Asking = Callable[[str, int, int], None]
"""Called with the name of a statement when it is asked, or answered, if it is one of several; with how many
of them are answered, and how many there are: 0 of 0 where it is asked alone."""
ALL_THREADS = 0
"""A decoder that gets this many threads takes what the machine has."""

T = TypeVar("T")


class Meter:
    """How far the decoders of several sources are; stops them all when one fails."""

    def __init__(self, sources: Sequence[Source], progress: Progress | None) -> None:
        self._progress = progress
        self._total = sum(source.size for source in sources)
        self._read: dict[int, int] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Makes the next report of every decoder raise KeyboardInterrupt."""
        self._stopped.set()

    def report(self, number: int, source: Source, read: int) -> None:
        """Says how many bytes of a source are read. KeyboardInterrupt after stop()."""
        if self._stopped.is_set():
            raise KeyboardInterrupt
        if self._progress is not None:
            with self._lock:
                self._read[number] = read
                self._progress(source.path, sum(self._read.values()), self._total)


def threads_each(sources: int, threads: int) -> int:
    """How many threads each of several sources is decoded with."""
    return ALL_THREADS if sources < max(threads, 2) else 1


def decode_all(sources: Sequence[Source], decode: Callable[[int, Source, int], T], meter: Meter) -> list[T]:
    """Calls decode(number, source, threads) for every source; the results in the order of the sources.

    The first exception stops the others and is raised once none runs any more.
    """
    threads = config.threads()
    each = threads_each(len(sources), threads)
    if len(sources) == 1:
        return [decode(0, sources[0], each)]
    # Imported here: one source, the usual case, needs no pool.
    from concurrent.futures import Future, ThreadPoolExecutor

    largest_first = sorted(range(len(sources)), key=lambda number: -sources[number].size)
    with ThreadPoolExecutor(max(1, min(threads, len(sources)))) as pool:
        futures: dict[int, Future[T]] = {
            number: pool.submit(decode, number, sources[number], each) for number in largest_first
        }
        try:
            return [futures[number].result() for number in range(len(sources))]
        except BaseException:
            meter.stop()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
