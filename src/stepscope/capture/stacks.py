"""Stacks of the program's threads, looked at again and again by a thread of the recorder.

How often is decided by what a look costs: SHARE of the time, and never more often than LEAST_S. Python hands
its interpreter lock to a thread that waits for it after 5 ms, or when the thread that holds it waits for
something itself. A look would then mostly show such waits: calls of a framework instead of the Python
between them. So while only one thread runs Python, which nobody else waits for, the recorder has the lock
handed over earlier.
"""

import os
import sys
import threading
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import clocks
from .frames import Frames

LEAST_S = 0.002
MOST_S = 0.05
SHARE = 0.01
"""Of one core, by the sampling thread's own clock; what it costs the program is up to twice that."""
SWITCH_S = 0.0001
"""Shorter turns change nothing: to wait and to be woken take as long again."""
MOST_THREADS = 200
"""A look at more threads than that shows the first ones only."""
MOST_QUEUES = 4
"""Of so many threads it is looked at how long they wait for a core: each keeps a file open."""
MOST_NAMES = 10_000
MOST_BYTES = 48 << 20
SLOWER_BYTES = 6 << 20
"""With each so many bytes written, looks are taken half as often at most."""
_OURS, _TOO_MANY = -1, -2
_FLUSH_BYTES = 32 << 10
_FLUSH_NS = 500_000_000

Write = Callable[[bytes], None]


class StackSampler:
    """A thread that looks at stacks between resume() and pause(), until stop(). write: takes whole lines.

    driver: identity of the thread that runs the steps. loop: identity of the code with the loop of the steps.
    """

    def __init__(self, write: Write, driver: int, loop: Optional[int] = None) -> None:
        self._write = write
        self._driver = driver
        self._lines: List[str] = []
        self._pending = 0
        self._frames = Frames(self._tell, loop)
        self._wanted = threading.Event()
        self._rest = threading.Lock()
        """Held while it looks. To let go of it ends the rest between two looks at once: one more would see
        the recorder wait for it. An Event costs more."""
        self._idle = threading.Event()
        self._idle.set()
        self._ended = False
        self._threads: Dict[int, Tuple[Any, int, int]] = {}
        """By identity: the thread as threading knows it, its number, its clock."""
        self._queues: Dict[int, Queued] = {}
        """By clock: how long the thread waited for a core."""
        self._names = 0
        self._last: Dict[int, int] = {}
        self._written = 0
        self._flushed_ns = 0
        self._turns = Turns()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="stepscope-stacks", daemon=True)
        self.looks = 0
        self.dropped = 0
        self.cost_ns = 0
        """Processor time of the sampling thread."""
        self.lasted_ns = 0
        """How long was sampled."""
        self.failed: Optional[str] = None

    def resume(self) -> None:
        """Begins to look, or goes on."""
        if self.failed is None and not self._ended and os.getpid() == self._pid:
            self._idle.clear()
            self._rest.acquire(blocking=False)
            self._wanted.set()
            if not self._thread.ident:
                self._thread.start()

    def pause(self) -> None:
        """Stops looking; what was seen is written when it returns."""
        self._wanted.clear()
        if self._rest.locked():
            self._rest.release()
        if self._thread is not threading.current_thread() and self._thread.is_alive():
            self._idle.wait(2.0)

    def stop(self) -> None:
        """Ends the thread."""
        self._ended = True
        self.pause()
        self._wanted.set()
        if self._thread is not threading.current_thread() and self._thread.is_alive():
            self._thread.join(2.0)
        for ident in list(self._threads) if self._idle.is_set() else ():
            self._forget(ident)

    def told(self) -> Dict[str, int]:
        """What capture.json says of it."""
        return {
            "looks": self.looks,
            "dropped": self.dropped,
            "sampled_ns": self.lasted_ns,
            "cpu_ns": self.cost_ns,
        }

    def _run(self) -> None:
        try:
            while not self._ended:
                self._wanted.wait()
                if self._ended:
                    break
                self._look_on()
                self._idle.set()
        except Exception as error:  # noqa: BLE001  a full disk, say, ends the sampling and not the program
            self.failed = str(error) or type(error).__name__
        finally:
            self._idle.set()

    def _look_on(self) -> None:
        begin = clocks.monotonic_ns()
        spent = clocks.thread_time_ns()
        self._tell({"begin_unix_ns": clocks.time_ns()})
        self._last.clear()
        each_ns = 0.0
        interval_s = LEAST_S
        # Even intervals would keep step with a loop that takes as long, and see the same part of it again and
        # again. The program's own random numbers are left alone.
        chance = begin % 2**31
        try:
            self._turns.shorten(True)
            while self._wanted.is_set():
                asked = clocks.monotonic_ns()
                chance = (chance * 1_103_515_245 + 12_345) % 2**31
                rest_s = interval_s * (0.5 + chance / 2**31)
                if self._rest.acquire(timeout=rest_s):
                    break
                late_ns = clocks.monotonic_ns() - asked - int(rest_s * 1e9)
                self._look(max(late_ns, 0))
                now = clocks.thread_time_ns()
                self.cost_ns += now - spent
                # The first look, at stacks that are all new, says nothing of those to come.
                more_ns = now - spent - each_ns
                each_ns += more_ns / (4 if more_ns < 0 else 16)
                spent = now
                slowest = LEAST_S * 2 ** (self._written // SLOWER_BYTES)
                interval_s = min(max(slowest, each_ns / SHARE / 1e9), MOST_S)
        finally:
            self._turns.shorten(False)
            self.lasted_ns += clocks.monotonic_ns() - begin
        self._tell({"end_unix_ns": clocks.time_ns()})
        if self.dropped:
            self._tell({"dropped": self.dropped})
        self._flush()
        self.cost_ns += clocks.thread_time_ns() - spent

    def _look(self, late_ns: int) -> None:
        unix_ns = clocks.time_ns()
        frames = sys._current_frames()
        if self._written >= MOST_BYTES:
            self.dropped += len(frames)
            return
        on: List[List[int]] = []
        now: Dict[int, int] = {}
        moved = 0
        for ident, frame in frames.items():
            number, clock = self._known(ident)
            if number == _OURS:
                continue
            many = number == _TOO_MANY or len(on) >= MOST_THREADS
            stack = None if many else self._frames.number(frame)
            if stack is None or stack < 0:
                self.dropped += stack is None
                continue
            now[number] = stack
            moved += self._last.get(number) != stack
            entry = [number, stack]
            if clock:
                try:
                    entry.append(clocks.clock_gettime_ns(clock))
                    queue = self._queues.get(clock)
                    if queue is not None:
                        entry.append(queue.waited_ns())
                except (OSError, ValueError):  # it ended, or the system has no such clocks
                    self._forget(ident)
            on.append(entry)
        if len(self._threads) > len(frames):
            for ident in [thread for thread in self._threads if thread not in frames]:
                self._forget(ident)
        # No frame is kept: what its variables hold must go when the program lets go of it.
        del frame
        frames.clear()
        self._last = now
        self.looks += 1
        self._turns.shorten(moved < 2)
        line = f'{{"unix_ns": {unix_ns}, "late_ns": {late_ns}, "on": {on}}}'
        self._lines.append(line)
        self._pending += len(line)
        if self._pending >= _FLUSH_BYTES or unix_ns - self._flushed_ns >= _FLUSH_NS:
            self._flush()
            self._flushed_ns = unix_ns

    def _known(self, ident: int) -> Tuple[int, int]:
        """Number and clock of a thread; identities are used again when a thread has ended."""
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
                queue = Queued.of(native) if len(self._queues) < MOST_QUEUES else None
                if queue is not None:
                    self._queues[clock] = queue
            self._tell({"thread": number, "name": name, "main": ident == self._driver})
        self._threads[ident] = (thread, number, clock)
        return number, clock

    def _forget(self, ident: int) -> None:
        """Lets go of a thread that has ended."""
        known = self._threads.pop(ident, None)
        queue = self._queues.pop(known[2], None) if known is not None else None
        if queue is not None:
            queue.close()

    def _tell(self, line: Dict[str, Any]) -> None:
        from .folder import text

        told = text(line)
        self._lines.append(told)
        self._pending += len(told)

    def _flush(self) -> None:
        if self._lines:
            data = ("\n".join(self._lines) + "\n").encode("utf-8")
            self._lines.clear()
            self._pending = 0
            self._written += len(data)
            self._write(data)


class Queued:
    """How long a thread could have run and had no core, as the kernel counts it (Linux, schedstat).

    os.pread would hand over the interpreter lock in the middle of a look, while frames are read.
    """

    def __init__(self, file: int) -> None:
        import ctypes

        self._file = file
        self._text = ctypes.create_string_buffer(100)
        self._read = ctypes.PyDLL(None).pread
        self._read.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_long)
        self._read.restype = ctypes.c_ssize_t

    @classmethod
    def of(cls, native: int) -> "Optional[Queued]":
        """native: the kernel's number of the thread. None where the system does not tell."""
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
        """Since the thread began. ValueError where it has ended."""
        length = self._read(self._file, self._text, 100, 0)
        _, waited, *_ = self._text.raw[: max(length, 0)].split()
        return int(waited)

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self._file)


class Turns:
    """After how long a thread hands over the interpreter lock. What the program sets itself stays."""

    def __init__(self) -> None:
        self._before: Optional[float] = None
        self._ours = 0.0
        self._theirs = False
        _turns.add(self)

    def shorten(self, short: bool) -> None:
        """Asks for short turns, or for the program's own again."""
        if self._theirs or short == (self._before is not None):
            return
        now = sys.getswitchinterval()
        if short:
            if now <= SWITCH_S:
                return
            self._before = now
            sys.setswitchinterval(SWITCH_S)
            self._ours = sys.getswitchinterval()
            return
        before, self._before = self._before, None
        if now != self._ours:
            self._theirs = True  # the program has set it meanwhile: it stays as it is
        elif before is not None:
            sys.setswitchinterval(before)


_turns: "weakref.WeakSet[Turns]" = weakref.WeakSet()


def _in_child() -> None:
    """A process that was forked has no thread that looks."""
    for turn in list(_turns):
        turn.shorten(False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
