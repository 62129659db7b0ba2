"""A sample of the stacks of the program's threads, as a line of stacks.ndjson."""

import os
import sys
import threading
from types import FrameType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from . import clocks
from .frames import Frames, current_frames

MOST_THREADS = 200
"""Most threads of a sample; of more, it has the first ones."""
MOST_QUEUES = 4
"""Most threads whose waiting for cores is read: each keeps a file open."""
MOST_NAMES = 10_000
_OURS, _TOO_MANY = -1, -2


class Look(NamedTuple):
    """The state of the threads at one moment."""

    unix_ns: int
    line: str
    """Its line of stacks.ndjson."""
    moved: int
    """Number of threads that moved since the last sample."""
    driver: Optional[int]
    """Number of the stack of the thread that runs the steps; None when it was not seen."""
    driver_active_ns: Optional[int]
    """How long that thread has run so far, or waited for a core, where known."""


class Looker:
    """Samples the stacks of all threads but the recorder's own. write: takes a line of stacks.ndjson for
    whatever is new. driver: identity of the thread that runs the steps. loop: identity of the code with the
    loop of the steps. most_threads: of more, a sample has the first ones only."""

    def __init__(
        self,
        write: Callable[[Dict[str, Any]], None],
        driver: int,
        loop: Optional[int] = None,
        most_threads: int = MOST_THREADS,
    ) -> None:
        self._write = write
        self._driver = driver
        self._frames = Frames(write, loop)
        self._most_threads = most_threads
        self._threads: Dict[int, Tuple[Any, int, int]] = {}
        """By identity: the thread in threading, its number, its clock."""
        self._queues: Dict[int, Queued] = {}
        """By clock: how long the thread waited for a core."""
        self._names = 0
        self._last: Dict[int, int] = {}
        self._others: Dict[int, Tuple[int, int]] = {}
        """Frame and instruction of each other thread, where only the driver's stack is needed."""
        self.dropped = 0
        """Stacks that were not recorded."""

    def begin(self) -> None:
        """Makes the next sample independent of earlier ones."""
        self._last.clear()
        self._others.clear()

    def look(self, late_ns: int, driver_alone: bool = False) -> Look:
        """Takes a sample. late_ns: how late it is. driver_alone: leave out the stacks of other threads, which
        take most of the time."""
        unix_ns = clocks.time_ns()
        frames = current_frames()
        on: List[List[int]] = []
        now: Dict[int, int] = {}
        moved = 0
        driver: Optional[int] = None
        driver_active_ns: Optional[int] = None
        for ident, frame in frames.items():
            if driver_alone and ident != self._driver:
                moved += self._is_elsewhere(ident, frame)
                continue
            number, clock = self._known(ident)
            if number == _OURS:
                continue
            many = number == _TOO_MANY or (len(on) >= self._most_threads and ident != self._driver)
            stack = None if many else self._stack_of(frame)
            if stack is None or stack < 0:
                self.dropped += stack is None
                continue
            now[number] = stack
            moved += self._last.get(number) != stack
            entry = [number, stack]
            if clock:
                entry += self._times(ident, clock)
            if ident == self._driver:
                driver = stack
                driver_active_ns = sum(entry[2:]) if len(entry) > 2 else None
            on.append(entry)
        self._forget_others(frames)
        # No frame is kept: its variables must be freed when the program releases them.
        del frame
        frames.clear()
        self._last = now
        line = f'{{"unix_ns": {unix_ns}, "late_ns": {late_ns}, "on": {on}}}'
        return Look(unix_ns, line, moved, driver, driver_active_ns)

    def _stack_of(self, frame: FrameType) -> Optional[int]:
        """The number of a thread's stack; None where it cannot be read."""
        try:
            return self._frames.number(frame)
        except AttributeError:  # walk() read something that is no frame
            return None

    def _is_elsewhere(self, ident: int, frame: FrameType) -> bool:
        """Whether a thread moved since the last sample; the sampling thread did not."""
        at = (id(frame), frame.f_lasti)
        before, self._others[ident] = self._others.get(ident), at
        return before != at and ident != threading.get_ident()

    def _times(self, ident: int, clock: int) -> List[int]:
        """Nanoseconds that a thread ran on a core, and waited for one where the system records it."""
        times: List[int] = []
        try:
            times.append(clocks.clock_gettime_ns(clock))
            queue = self._queues.get(clock)
            if queue is not None:
                times.append(queue.waited_ns())
        except (OSError, ValueError):  # it ended, or the system has no such clocks
            self._forget(ident)
        return times

    def _forget_others(self, frames: Dict[int, Any]) -> None:
        """Drops the threads that have ended."""
        if len(self._threads) > len(frames):
            for ident in [thread for thread in self._threads if thread not in frames]:
                self._forget(ident)

    def close(self) -> None:
        """Drops all threads."""
        for ident in list(self._threads):
            self._forget(ident)

    def _known(self, ident: int) -> Tuple[int, int]:
        """Number and clock of a thread; identities are reused when a thread has ended."""
        active: Dict[int, Any] = getattr(threading, "_active", {})
        thread = active.get(ident)
        known = self._threads.get(ident)
        if known is not None and known[0] is thread:
            return known[1], known[2]
        if known is not None:
            self._forget(ident)
        name = thread.name if thread is not None else None
        number, clock = _TOO_MANY, 0
        if isinstance(name, str) and name.startswith("stepscope-"):
            number = _OURS
        elif self._names < MOST_NAMES:
            number, self._names = self._names, self._names + 1
            native = getattr(thread, "native_id", None)
            if native and sys.platform == "linux":
                clock = ~native << 3 | 6  # the kernel's number for the processor time of one thread
                few = len(self._queues) < MOST_QUEUES or ident == self._driver
                queue = Queued.of(native) if few else None
                if queue is not None:
                    self._queues[clock] = queue
            self._write({"thread": number, "name": name, "main": ident == self._driver})
        self._threads[ident] = (thread, number, clock)
        return number, clock

    def _forget(self, ident: int) -> None:
        """Drops a thread that has ended."""
        known = self._threads.pop(ident, None)
        queue = self._queues.pop(known[2], None) if known is not None else None
        if queue is not None:
            queue.close()


class Queued:
    """How long a thread was ready without a core, as the kernel counts it (Linux, schedstat). os.pread would
    release the interpreter lock during a sample, while frames are read."""

    def __init__(self, file: int) -> None:
        import ctypes

        self._file = file
        self._text = ctypes.create_string_buffer(100)
        self._read = ctypes.PyDLL(None).pread
        self._read.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long)
        self._read.restype = ctypes.c_ssize_t

    @classmethod
    def of(cls, native: int) -> "Optional[Queued]":
        """native: the kernel's number of the thread. None where the system has no such count."""
        if sys.maxsize < 2**32:
            return None
        try:
            file = os.open(f"/proc/self/task/{native}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            queued = cls(file)
            queued.waited_ns()
        except (
            ImportError,
            OSError,
            AttributeError,
            ValueError,
        ):  # a Python without ctypes, or no such numbers
            os.close(file)
            return None
        return queued

    def waited_ns(self) -> int:
        """Waiting since the thread began. ValueError where it has ended."""
        length = self._read(self._file, self._text, 100, 0)
        _, waited, *_ = self._text.raw[: max(length, 0)].split()
        return int(waited)

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)


def queue_of_this_thread() -> Optional[Queued]:
    """How long the calling thread waits for a core; None where the system has no such count."""
    native = getattr(threading, "get_native_id", None)
    return Queued.of(native()) if native is not None and sys.platform == "linux" else None


def waited_ns(queue: Optional[Queued]) -> int:
    """Waiting since its thread began; 0 where the system has no such count."""
    try:
        return 0 if queue is None else queue.waited_ns()
    except ValueError:
        return 0
