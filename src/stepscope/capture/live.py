"""The current state of a program, for viewers while it runs: live.json, rewritten every second.

A thread samples the stacks fifty times a second or less, so that it takes less than half a hundredth of a
core; all its tables are bounded. It also notices steps that take far longer than others, a hanging program,
and its end, and then saves the last steps in full.
"""

import os
import shutil
import signal
import threading
import traceback
from collections import Counter, deque
from pathlib import Path
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Tuple

from . import clocks, ring
from .folder import Folder, text
from .frames import current_frames, walk
from .machine import resident_bytes
from .ring import Moment, Place, Ring, SeenLooks, StepTimes

NAME = "live.json"
LOOK_S = 0.02
MOST_LOOK_S = 1.0
SHARE = 0.004
"""Share of one core, by the thread's own clock. The program pays a little more."""
WINDOW_NS = 10_000_000_000
"""The share holds in each period of this length, so that savings are not spent at once."""
WRITE_NS = 1_000_000_000
DURATIONS = 120
"""Most step durations in live.json."""
RSS_SAMPLES = 120
"""Most samples of memory in live.json, about one per second."""
MOST_LINES, MOST_TOLD = 10, 30
SLOW = 3
"""A step that takes this many times the median is slow."""
LEAST_SLOW_NS = 20_000_000
FEW_STEPS = 10
"""The median of fewer steps is unreliable."""
MOST_SLOW = 20
MOST_KEPT = 5
"""Most saved moments of a kind: the slowest steps, the last signals and hangs."""
SLOWER = 1.5
"""A slow step replaces a saved one if it takes this many times as long."""
HANG_NS = 30_000_000_000
"""Seconds without a step, if also ten times the median, after which a program hangs."""
MOST_HANGS = 5
ON_SIGNAL = "stacks-on-signal.txt"


class _SlowStep(NamedTuple):
    """A slow step, and facts about it."""

    step: StepTimes
    facts: Dict[str, Any]
    seen: SeenLooks
    moment: Optional[Moment]
    """When it will be saved."""


class Live:
    """Watches the thread that runs the steps. how, name: of the calls that mark them. tell: takes the reason
    and the place of what was saved."""

    def __init__(
        self,
        folder: Folder,
        ring: Ring,
        how: str,
        name: str,
        driver: int,
        hang_ns: int = HANG_NS,
        tell: Callable[[str, Path], None] = lambda why, path: None,
    ) -> None:
        self._folder = folder
        self._ring = ring
        self._how = how
        self._name = name
        self._driver = driver
        self._hang_ns = hang_ns
        self._tell = tell
        self._steps: Deque[int] = deque(maxlen=DURATIONS)
        self._slow: Deque[Dict[str, Any]] = deque(maxlen=MOST_SLOW)
        self._pending: Deque[_SlowStep] = deque(maxlen=MOST_SLOW)
        self._kept: List[Tuple[str, float, Path]] = []
        """Kind, distance from normal, and place."""
        self._hangs: List[str] = []
        self._number = self._count = self._median = 0
        self._least_times = 0.0
        """A slow step is saved from this many times the median on."""
        self._last = clocks.monotonic_ns()
        self._last_kept_ns = 0
        self._hanging = False
        self._signals = self._signalled_bytes = 0
        self._cpu = (clocks.monotonic_ns(), clocks.process_time_ns())
        self._written_ns = 0
        self._on_signal: Any = None
        self._stop = threading.Event()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._run, name="stepscope-live", daemon=True)
        self.cost_ns = 0
        self.failed: Optional[str] = None

    def start(self) -> None:
        """Starts watching, and answers SIGUSR2 with the stacks of all threads, unless the program uses that
        signal itself."""
        number = getattr(signal, "SIGUSR2", None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            import faulthandler

            # A Python handler would not run in a hanging program.
            path = self._folder.path / ON_SIGNAL
            self._on_signal = open(str(path), "a", encoding="utf-8")  # noqa: PTH123, SIM115
            faulthandler.register(number, self._on_signal, all_threads=True)
        self._thread.start()

    def stepped(self, step: StepTimes) -> None:
        """A step ended."""
        took = step.end_ns - step.begin_ns
        self._ring.stepped(step)
        if self._median and self._count >= FEW_STEPS and took > max(SLOW * self._median, LEAST_SLOW_NS):
            self._was_slow(step, took / self._median)
        self._steps.append(took)
        self._count += 1
        self._number = step.number
        self._last = clocks.monotonic_ns()
        self._hanging = False

    def _was_slow(self, step: StepTimes, times: float) -> None:
        """Copies a slow step before later ones push it out. The thread does the rest."""
        took_ns = step.end_ns - step.begin_ns
        record = {
            "step": step.number,
            "begin_unix_ns": step.begin_ns,
            "took_ns": took_ns,
            "times": round(times, 1),
        }
        moment = None
        if times >= self._least_times and self._last - self._last_kept_ns >= WRITE_NS:
            self._last_kept_ns = self._last
            why = f"step {step.number:,} took {took_ns / 1e9:,.3g} s, {times:,.1f} times the median"
            moment = self._ring.moment(f"slow-step-{step.number}", why, step)
        self._pending.append(_SlowStep(step, record, self._ring.seen(step.begin_ns), moment))

    def stop(self) -> None:
        """Saves the last steps and writes a last time."""
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

    # --- the thread ----------------------------------------------------------------------------

    def _run(self) -> None:
        interval_s, all_spent = LOOK_S, clocks.thread_time_ns()
        begin, spent = clocks.monotonic_ns(), 0
        try:
            while True:
                asked = clocks.monotonic_ns()
                if self._stop.wait(interval_s):
                    break
                now = clocks.monotonic_ns()
                self._look(max(now - asked - int(interval_s * 1e9), 0))
                if now - self._written_ns >= WRITE_NS:
                    self._written_ns = now
                    self._each_second()
                self.cost_ns = clocks.thread_time_ns() - all_spent
                if now - begin > WINDOW_NS:
                    begin, spent = now, self.cost_ns
                share = (self.cost_ns - spent) / max(now - begin, WRITE_NS)
                interval_s = (
                    min(interval_s * 1.5, MOST_LOOK_S) if share > SHARE else max(interval_s / 1.5, LOOK_S)
                )
            self._tell_slow()
            if self._ring.last() is not None:
                self._keep("end", 0, self._ring.moment("end", "the end of the program"))
            self._write(True)
        except Exception as error:  # noqa: BLE001  a full disk, say, ends the watching and not the program
            self.failed = f"{type(error).__name__}: {error}"
        finally:
            self._ring.close()

    def _look(self, late_ns: int) -> None:
        self._ring.look(late_ns)
        waited = clocks.monotonic_ns() - self._last
        if waited > max(self._hang_ns, 10 * self._median) and not self._hanging and self._steps:
            self._hanging = True
            if len(self._hangs) < MOST_HANGS:
                self._hang(waited)

    def _each_second(self) -> None:
        self._ring.sample(resident_bytes())
        self._tell_slow()
        if self._on_signal is not None:
            size = os.fstat(self._on_signal.fileno()).st_size
            if size > self._signalled_bytes and self._ring.last() is not None:
                self._signals += 1
                name = f"signal-{self._signals}-after-step-{self._number}"
                late = clocks.monotonic_ns() - self._last > max(SLOW * self._median, LEAST_SLOW_NS)
                running = self._running() if late else None
                self._keep("signal", self._signals, self._ring.moment(name, "SIGUSR2", running))
            self._signalled_bytes = size
        self._write(False)

    def _tell_slow(self) -> None:
        while self._pending:
            slow = self._pending.popleft()
            self._slow.append({**slow.facts, "lines": _lines(slow.seen.places())})
            if slow.moment is not None:
                self._keep("slow", slow.facts["times"], slow.moment)

    def _hang(self, waited_ns: int) -> None:
        """Writes the stacks of all threads, and saves the last steps."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        lines = [f"No step has ended for {waited_ns / 1e9:.0f} s, after step {self._number}.\n"]
        for ident, frame in current_frames().items():
            name = names.get(ident, "a thread that is not Python's")
            if not name.startswith("stepscope-"):
                here = " (runs the steps)" if ident == self._driver else ""
                lines.append(f"\nThread {name}{here}, most recent call last:\n")
                callers = [(caller, caller.f_lineno) for caller in reversed(walk(frame))]
                lines += traceback.StackSummary.extract(callers).format()
                del callers
        del frame  # it may be that of this very call
        name = f"hang-{len(self._hangs) + 1}.txt"
        stacks_text = "".join(lines)
        (self._folder.path / name).write_text(stacks_text, encoding="utf-8", errors="backslashreplace")
        self._hangs.append(name)
        last = self._ring.last()
        if last is not None:
            why = f"no step ended for {waited_ns / 1e9:.0f} s after step {last.number:,}"
            moment = self._ring.moment(f"hang-after-step-{last.number}", why, self._running())
            self._keep("hang", len(self._hangs), moment)

    def _running(self) -> Optional[StepTimes]:
        """The step that has not ended yet, up to now."""
        last = self._ring.last()
        now = clocks.time_ns()
        return None if last is None else StepTimes(last.number + 1, last.end_ns, now, now)

    def _keep(self, kind: str, weight: float, moment: Moment) -> None:
        """Writes a moment, and removes the one that it replaces."""
        path = ring.write(moment, self._folder.path, dict(self._folder.facts), self._how, self._name)
        mine = sorted((kept for kept in self._kept if kept[0] == kind), key=lambda kept: kept[1])
        if len(mine) >= MOST_KEPT:
            self._kept.remove(mine[0])
            shutil.rmtree(str(mine[0][2]), ignore_errors=True)
            mine = mine[1:]
        self._kept.append((kind, weight, path))
        if kind == "slow" and len(mine) + 1 >= MOST_KEPT:
            self._least_times = SLOWER * min(weight, *(kept[1] for kept in mine))
        self._folder.facts["kept"] = [f"{ring.FOLDER}/{kept[2].name}" for kept in self._kept]
        self._folder.save()
        self._tell(moment.why, path)

    def _write(self, ended: bool) -> None:
        steps = list(self._steps)
        self._median = sorted(steps)[len(steps) // 2] if steps else 0
        now, cpu = clocks.monotonic_ns(), clocks.process_time_ns()
        before, cpu_before = self._cpu
        self._cpu = (now, cpu)
        seen = self._ring.seen(clocks.time_ns() - ring.LEAST_NS)
        members = {
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
            "lines": _lines(seen.places()),
            **seen.longest_stacks(MOST_TOLD),
            "rss_bytes": resident_bytes(),
            **self._ring.memory(RSS_SAMPLES),
            "cores": round((cpu - cpu_before) / max(now - before, 1), 3),
            "slow": list(self._slow),
            "hangs": list(self._hangs),
            "kept": [path.name for _, _, path in self._kept],
            "cost_ns": self.cost_ns,
        }
        path = self._folder.path / NAME
        half = path.with_name(f".half.{NAME}")
        half.write_text(text(members), encoding="utf-8")
        half.replace(path)


def _lines(places: "Counter[Place]") -> List[Dict[str, Any]]:
    """The most frequent lines, with their shares of the samples; no file where the program's own code did not
    run."""
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
