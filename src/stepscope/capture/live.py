"""What a program does now, for whoever looks while it runs: live.json, written anew every second.

A thread looks at the line that the thread of the steps is in, twenty times a second or less often, so that it
takes less than half a hundredth of a core; all that it keeps is bounded. It also sees what nobody is there to
see: steps that take far longer than the others, and a program that hangs, whose stacks it writes down.
"""

import os
import signal
import sys
import threading
import traceback
from collections import Counter, deque
from pathlib import Path
from typing import Any, Callable, Deque, Dict, List, Optional, Tuple

from . import clocks
from .frames import Whose
from .machine import resident_bytes
from .places import is_ours

NAME = "live.json"
LOOK_S = 0.05
MOST_LOOK_S = 1.0
SHARE = 0.005
"""Of one core, by the thread's own clock."""
WRITE_NS = 1_000_000_000
RING = 120
"""Steps whose durations are kept."""
MOST_LOOKS = 1200
"""Looks that are kept: those of a minute."""
LINES_NS = 10_000_000_000
"""Lines are told of so long a time."""
MOST_LINES = 10
SLOW = 3
"""A step that takes so many times the median is slow."""
LEAST_SLOW_NS = 20_000_000
MOST_SLOW = 20
HANG_NS = 30_000_000_000
"""Without a step for so long, and for ten times the median, a program hangs."""
MOST_HANGS = 5
ON_SIGNAL = "stacks-on-signal.txt"

Place = Tuple[str, int, str]
"""File, line and function."""


class Live:
    """Watches the thread that runs the steps. path: where the recording is now. name: of the steps."""

    def __init__(self, path: Callable[[], Path], name: str, driver: int, hang_ns: int = HANG_NS) -> None:
        self._path = path
        self._name = name
        self._driver = driver
        self._hang_ns = hang_ns
        self._steps: Deque[int] = deque(maxlen=RING)
        self._looks: Deque[Tuple[int, Place]] = deque(maxlen=MOST_LOOKS)
        self._slow: Deque[Dict[str, Any]] = deque(maxlen=MOST_SLOW)
        self._hangs: List[str] = []
        self._number = self._count = self._median = 0
        self._last = clocks.monotonic_ns()
        self._hanging = False
        self._whose = Whose()
        self._told: Dict[Any, Optional[Tuple[str, str]]] = {}
        self._cpu = (clocks.monotonic_ns(), clocks.process_time_ns())
        self._written_ns = 0
        self._on_signal: Any = None
        self._stop = threading.Event()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="stepscope-live", daemon=True)
        self.cost_ns = 0
        self.failed: Optional[str] = None

    def start(self) -> None:
        """Begins to look, and to answer SIGUSR2 with the stacks of all threads, where the program does not
        use that signal itself."""
        number = getattr(signal, "SIGUSR2", None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            import faulthandler

            # Not at once in Python: a program that hangs does not come to that.
            self._on_signal = open(str(self._path() / ON_SIGNAL), "a", encoding="utf-8")  # noqa: PTH123, SIM115
            faulthandler.register(number, self._on_signal, all_threads=True)
        self._thread.start()

    def stepped(self, number: int, begin_ns: int, end_ns: int) -> None:
        """A step ended. Times in Unix nanoseconds."""
        took = end_ns - begin_ns
        if self._median and len(self._steps) >= 10 and took > max(SLOW * self._median, LEAST_SLOW_NS):
            now = clocks.monotonic_ns()
            places = Counter(place for at, place in list(self._looks) if at >= now - took)
            self._slow.append(
                {
                    "step": number,
                    "begin_unix_ns": begin_ns,
                    "took_ns": took,
                    "times": round(took / self._median, 1),
                    "lines": _lines(places),
                }
            )
        self._steps.append(took)
        self._count += 1
        self._number = number
        self._last = clocks.monotonic_ns()
        self._hanging = False

    def stop(self) -> None:
        """Writes a last time."""
        if os.getpid() != self._pid:
            return
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(2.0)
        if self._on_signal is not None:
            import faulthandler

            faulthandler.unregister(signal.SIGUSR2)
            self._on_signal.close()
            path = Path(self._on_signal.name)
            self._on_signal = None
            if not path.stat().st_size:
                path.unlink()

    def _run(self) -> None:
        interval_s, spent = LOOK_S, clocks.thread_time_ns()
        begin = clocks.monotonic_ns()
        try:
            while not self._stop.wait(interval_s):
                self._look()
                now = clocks.monotonic_ns()
                if now - self._written_ns >= WRITE_NS:
                    self._written_ns = now
                    self._write(False)
                self.cost_ns = clocks.thread_time_ns() - spent
                share = self.cost_ns / max(now - begin, 1)
                interval_s = (
                    min(interval_s * 1.5, MOST_LOOK_S) if share > SHARE else max(interval_s / 1.5, LOOK_S)
                )
            self._write(True)
        except Exception as error:  # noqa: BLE001  a full disk, say, ends the looking and not the program
            self.failed = f"{type(error).__name__}: {error}"

    def _look(self) -> None:
        frame = sys._current_frames().get(self._driver)
        place: Place = ("", 0, "")
        while frame is not None:
            code = frame.f_code
            if code not in self._told:
                if len(self._told) > 10_000:
                    self._told.clear()
                module = frame.f_globals.get("__name__")
                whose, path = self._whose.of(code.co_filename, module if isinstance(module, str) else "")
                own = whose == "program" and not is_ours(code.co_filename)
                self._told[code] = (path, code.co_name) if own else None
            told = self._told[code]
            if told is not None:
                place = (told[0], frame.f_lineno or code.co_firstlineno, told[1])
                break
            frame = frame.f_back
        del frame  # what its variables hold must go when the program lets go of it
        now = clocks.monotonic_ns()
        self._looks.append((now, place))
        waited = now - self._last
        if waited > max(self._hang_ns, 10 * self._median) and not self._hanging and self._steps:
            self._hanging = True
            if len(self._hangs) < MOST_HANGS:
                self._hang(waited)

    def _hang(self, waited_ns: int) -> None:
        """Writes the stacks of all threads."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        text = [f"No step has ended for {waited_ns / 1e9:.0f} s, after step {self._number}.\n"]
        for ident, frame in sys._current_frames().items():
            name = names.get(ident, "a thread that is not Python's")
            if not name.startswith("stepscope-"):
                here = " (runs the steps)" if ident == self._driver else ""
                text.append(f"\nThread {name}{here}, most recent call last:\n")
                text += traceback.format_stack(frame)
        name = f"hang-{len(self._hangs) + 1}.txt"
        (self._path() / name).write_text("".join(text), encoding="utf-8", errors="backslashreplace")
        self._hangs.append(name)

    def _write(self, ended: bool) -> None:
        steps = list(self._steps)
        self._median = sorted(steps)[len(steps) // 2] if steps else 0
        now, cpu = clocks.monotonic_ns(), clocks.process_time_ns()
        before, cpu_before = self._cpu
        self._cpu = (now, cpu)
        places = Counter(place for at, place in list(self._looks) if at >= now - LINES_NS)
        from .folder import text

        told = {
            "format": 1,
            "pid": os.getpid(),
            "unix_ns": clocks.time_ns(),
            "ended": ended,
            "name": self._name,
            "step": self._number,
            "steps": self._count,
            "since_step_ns": now - self._last,
            "median_ns": self._median,
            "recent_ns": steps,
            "lines": _lines(places),
            "rss_bytes": resident_bytes(),
            "cores": round((cpu - cpu_before) / max(now - before, 1), 3),
            "slow": list(self._slow),
            "hangs": list(self._hangs),
            "cost_ns": self.cost_ns,
        }
        path = self._path() / NAME
        half = path.with_name(f".half.{NAME}")
        half.write_text(text(told), encoding="utf-8")
        half.replace(path)


def _lines(places: "Counter[Place]") -> List[Dict[str, Any]]:
    """The lines seen most, with their shares of the looks; no file where none of the program's ran."""
    total = sum(places.values())
    return [
        {
            "file": file or None,
            "line": line or None,
            "function": function or None,
            "share": round(many / total, 3),
        }
        for (file, line, function), many in places.most_common(MOST_LINES)
    ]
