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
from typing import Any, Callable, Dict, List, Optional

from . import clocks
from .frames import current_frames
from .looker import Looker, queue_of_this_thread, waited_ns

LEAST_S = 0.002
MOST_S = 0.05
SHARE = 0.01
"""Of one core, by the sampling thread's own clock; what it costs the program is up to twice that."""
SWITCH_S = 0.0001
"""Shorter turns change nothing: to wait and to be woken take as long again."""
MOST_BYTES = 48 << 20
SLOWER_BYTES = 6 << 20
"""After each time this many bytes are written, samples are taken at most half as often."""
MOST_UNTRACED_NS = 11_000_000_000
"""Longest sampling of steps without a profiler, whatever the program does."""
_FLUSH_BYTES = 32 << 10
_FLUSH_NS = 500_000_000

Write = Callable[[bytes], None]


class StackSampler:
    """A thread that looks at stacks between resume() and pause(), until stop(). write: takes whole lines.

    driver: identity of the thread that runs the steps. loop: identity of the code with the loop of the steps.
    """

    def __init__(self, write: Write, driver: int, loop: Optional[int] = None) -> None:
        self._write = write
        self._lines: List[str] = []
        self._pending = 0
        self._looker = Looker(self._write_line, driver, loop)
        self._untraced = False
        self._wanted = threading.Event()
        self._rest = threading.Lock()
        """Held during a sample. Its release ends the pause between two samples at once: another sample would
        see the recorder wait for it. An Event costs more."""
        self._idle = threading.Event()
        self._idle.set()
        self._ended = False
        self._written = 0
        self._flushed_ns = 0
        self._turns = Turns()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="stepscope-stacks", daemon=True)
        self.looks = 0
        self._missed = 0
        """Stacks that did not fit."""
        self.cost_ns = 0
        """Processor time of the sampling thread."""
        self.lasted_ns = 0
        """How long was sampled."""
        self.failed: Optional[str] = None

    def resume(self, untraced: bool = False) -> None:
        """Starts or resumes sampling. untraced: the steps have no profiler."""
        if self.failed is None and not self._ended and os.getpid() == self._pid:
            self._untraced = untraced
            self._idle.clear()
            self._rest.acquire(blocking=False)
            self._wanted.set()
            if not self._thread.ident:
                self._thread.start()

    def pause(self) -> None:
        """Stops sampling; all samples are written when it returns."""
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
        if self._idle.is_set():
            self._looker.close()

    @property
    def dropped(self) -> int:
        """Stacks that were not recorded."""
        return self._missed + self._looker.dropped

    def facts(self) -> Dict[str, int]:
        """Its entry in capture.json."""
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
        untraced = {"untraced": True} if self._untraced else {}
        self._write_line({"begin_unix_ns": clocks.time_ns(), **untraced})
        self._looker.begin()
        each_ns = 0.0
        interval_s = LEAST_S
        # Even intervals would keep step with a loop that takes as long, and see the same part of it again and
        # again. The program's own random numbers are left alone.
        chance = begin % 2**31
        queue = queue_of_this_thread()
        try:
            self._turns.shorten(True)
            while self._wanted.is_set():
                asked, waited = clocks.monotonic_ns(), waited_ns(queue)
                chance = (chance * 1_103_515_245 + 12_345) % 2**31
                rest_s = interval_s * (0.5 + chance / 2**31)
                if self._rest.acquire(timeout=rest_s):
                    break
                # Waiting for a core is not waiting for the interpreter's lock.
                without_core_ns = waited_ns(queue) - waited
                late_ns = clocks.monotonic_ns() - asked - int(rest_s * 1e9) - without_core_ns
                self._look(max(late_ns, 0))
                now = clocks.thread_time_ns()
                self.cost_ns += now - spent
                # The first look, at stacks that are all new, says nothing of those to come.
                more_ns = now - spent - each_ns
                each_ns += more_ns / (4 if more_ns < 0 else 16)
                spent = now
                slowest = LEAST_S * 2 ** (self._written // SLOWER_BYTES)
                interval_s = min(max(slowest, each_ns / SHARE / 1e9), MOST_S)
                if self._untraced and clocks.monotonic_ns() - begin >= MOST_UNTRACED_NS:
                    self._wanted.clear()
        finally:
            self._turns.shorten(False)
            if queue is not None:
                queue.close()
            self.lasted_ns += clocks.monotonic_ns() - begin
        self._write_line({"end_unix_ns": clocks.time_ns()})
        if self.dropped:
            self._write_line({"dropped": self.dropped})
        self._flush()
        self.cost_ns += clocks.thread_time_ns() - spent

    def _look(self, late_ns: int) -> None:
        if self._written >= MOST_BYTES:
            self._missed += len(current_frames())
            return
        looked = self._looker.look(late_ns, driver_alone=self._untraced)
        self.looks += 1
        self._turns.shorten(looked.moved < 2)
        self._lines.append(looked.line)
        self._pending += len(looked.line)
        if self._pending >= _FLUSH_BYTES or looked.unix_ns - self._flushed_ns >= _FLUSH_NS:
            self._flush()
            self._flushed_ns = looked.unix_ns

    def _write_line(self, line: Dict[str, Any]) -> None:
        from .folder import text

        encoded = text(line)
        self._lines.append(encoded)
        self._pending += len(encoded)

    def _flush(self) -> None:
        if self._lines:
            data = ("\n".join(self._lines) + "\n").encode("utf-8")
            self._lines.clear()
            self._pending = 0
            self._written += len(data)
            self._write(data)


class Turns:
    """The interval after which a thread releases the interpreter lock. A value set by the program stays."""

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


def _restore_turns() -> None:
    """A process that was forked has no thread that looks."""
    for turn in list(_turns):
        turn.shorten(False)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_restore_turns)
