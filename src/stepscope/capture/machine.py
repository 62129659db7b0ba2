"""Cores, memory and I/O of process and machine over time, from /proc, ten times a second.

A value that the machine does not provide is missing from its line. Other systems than Linux have no such
file.
"""

import contextlib
import os
import threading
from pathlib import Path
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Tuple

from . import clocks

INTERVAL_S = 0.1
_TASKS = Path("/proc/self/task")
_LIMITS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.stat", "anon "),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.stat", "total_rss "),
)
"""The limit of a container, and where its use without caches is: both versions."""
SECTOR_BYTES = 512  # the unit of /proc/diskstats, whatever the disk


class Sampler:
    """A thread that passes a sample to `write` every INTERVAL_S seconds until it is stopped."""

    def __init__(self, write: Callable[[Dict[str, Any]], None]) -> None:
        self._write = write
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stepscope-machine", daemon=True)
        self.cost_ns = 0
        self.samples = 0
        self.failed: Optional[str] = None

    def start(self) -> None:
        """Begins to sample."""
        self._thread.start()

    def stop(self) -> None:
        """Takes a last sample and ends the thread."""
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._stop.set()
            self._thread.join(2.0)

    def _run(self) -> None:
        ticks: Optional[List[Tuple[int, int]]] = None
        last = False
        while True:
            # thread_time: the cost for the program, without waiting for the interpreter
            begin = clocks.thread_time_ns()
            try:
                values, ticks = sample(ticks)
                if "cores" in values:
                    self._write(values)
                    self.samples += 1
            except OSError as error:  # a full disk ends the sampling, not the program
                self.failed = str(error)
                return
            self.cost_ns += clocks.thread_time_ns() - begin
            if last:
                return
            last = self._stop.wait(INTERVAL_S)


def sample(before: Optional[List[Tuple[int, int]]]) -> Tuple[Dict[str, Any], Optional[List[Tuple[int, int]]]]:
    """One sample, and the ticks of the cores for the difference to the next."""
    values: Dict[str, Any] = {"unix_ns": clocks.time_ns()}
    ticks = _ticks()
    if before is not None and ticks is not None and len(before) == len(ticks):
        values["cores"] = [
            round((busy - was_busy) / (total - was_total), 3) if total > was_total else 0.0
            for (busy, total), (was_busy, was_total) in zip(ticks, before)
        ]
    values["process_cpu_ns"] = clocks.process_time_ns()
    _add(values, _children)
    _add(values, _memory)
    _add(values, _io)
    _add(values, _available)
    _add(values, _disks)
    return values, ticks


class Shares:
    """Core time of this process's threads between two moments. A ready thread without a core waits: the
    kernel counts both times for each (Linux, schedstat). Threads that end in between count only in the
    process's time."""

    def __init__(self, program: Optional[FrozenSet[str]] = None) -> None:
        """program: the program's threads, see `threads`; None when they cannot be told from the
        pipeline's."""
        self._program = program
        self._threads = _schedule()
        self._cpu_ns = clocks.process_time_ns()

    def since(self) -> Dict[str, Any]:
        """Processor time of the process in nanoseconds since this object was made; and its threads' time on a
        core and waiting for one, separately for the program and others."""
        shares: Dict[str, Any] = {"cpu_ns": clocks.process_time_ns() - self._cpu_ns}
        now = None if self._threads is None else _schedule()
        if self._threads is None or now is None:
            return shares
        whose: Dict[str, Dict[str, int]] = {}
        for thread, (run_ns, wait_ns) in now.items():
            run_before, wait_before = self._threads.get(thread, (0, 0))
            if run_ns < run_before or wait_ns < wait_before:
                run_before = wait_before = 0  # a new thread with the number of an old one
            owner = "all" if self._program is None else "program" if thread in self._program else "later"
            sums = whose.setdefault(owner, {"cpu_ns": 0, "wait_ns": 0})
            sums["cpu_ns"] += run_ns - run_before
            sums["wait_ns"] += wait_ns - wait_before
        return {**shares, "threads": whose}


def threads() -> Optional[FrozenSet[str]]:
    """The threads of this process; None where the system does not list them."""
    try:
        return frozenset(path.name for path in _TASKS.iterdir())
    except OSError:
        return None


def _schedule() -> Optional[Dict[str, Tuple[int, int]]]:
    """Time on a core and time waiting for one of each thread; None where the kernel does not count it."""
    found = {}
    try:
        for thread in _TASKS.iterdir():
            try:
                run_ns, wait_ns = _read(f"{thread}/schedstat").split()[:2]
            except (FileNotFoundError, ProcessLookupError):
                if thread.exists():
                    return None  # the kernel does not count it
                continue  # it ended just now
            found[thread.name] = (int(run_ns), int(wait_ns))
    except (OSError, ValueError):
        return None
    return found


def _add(values: Dict[str, Any], read: Callable[[], Dict[str, int]]) -> None:
    try:
        values.update(read())
    except (OSError, ValueError, IndexError):
        # Missing here: a container may hide it. The value is left out, as the format says.
        return


def _ticks() -> Optional[List[Tuple[int, int]]]:
    """(busy, total) of each core since the machine began, in ticks."""
    try:
        text = _read("/proc/stat")
    except OSError:
        return None
    found = []
    for line in text.splitlines():
        words = line.split()
        if words and words[0].startswith("cpu") and words[0] != "cpu":
            # user nice system idle iowait irq softirq steal; guest time is within user
            numbers = [int(word) for word in words[1:9]]
            idle = numbers[3] + numbers[4]
            found.append((sum(numbers) - idle, sum(numbers)))
    return found or None


def _children() -> Dict[str, int]:
    """Processor time of the processes that this one started, and of those that they did: of those that are
    there, and of those that ended and were waited for."""
    ended = os.times()
    ticks = _processor_ticks(_TASKS)
    if ticks is None:
        return {}
    per_second = os.sysconf("SC_CLK_TCK")
    living_ns = ticks * 10**9 // per_second
    return {"children_cpu_ns": living_ns + int((ended.children_user + ended.children_system) * 10**9)}


def _processor_ticks(tasks: Path) -> Optional[int]:
    """Those of all processes that threads started; None where the kernel does not tell which these are.
    tasks: the folder of the threads."""
    found, known = 0, False
    for task in tasks.iterdir():
        try:
            children = _read(f"{task}/children").split()
            known = True
        except OSError:  # a thread that ended just now, or a kernel that does not tell
            continue
        for pid in children:
            with contextlib.suppress(OSError, ValueError, IndexError):  # it ended just now
                # user, system, and the same of its own children that it waited for
                words = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()[11:15]
                found += sum(int(word) for word in words) + (_processor_ticks(Path(f"/proc/{pid}/task")) or 0)
    return found if known else None


def _memory() -> Dict[str, int]:
    threads = _read("/proc/self/stat").rpartition(")")[2].split()[17]
    return {"rss_bytes": _resident(), "threads": int(threads)}


def _resident() -> int:
    return int(_read("/proc/self/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _io() -> Dict[str, int]:
    counters = dict(line.split(": ") for line in _read("/proc/self/io").splitlines())
    return {"read_bytes": int(counters["rchar"]), "write_bytes": int(counters["wchar"])}


def _available() -> Dict[str, int]:
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return {"available_bytes": int(line.split()[1]) * 1024}
    return {}


def available_bytes() -> Optional[int]:
    """Memory that this process may still use: of the machine, or of its container. None where neither is
    known."""
    found: List[int] = []
    with contextlib.suppress(OSError, ValueError, IndexError):
        found += _available().values()
    for limit, statistics, name in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # another version of control groups, or "max"
            most = int(_read(limit))
            used = [
                int(line[len(name) :]) for line in _read(statistics).splitlines() if line.startswith(name)
            ]
            found.append(max(most - sum(used), 0))
    return min(found, default=None)


def resident_bytes() -> int:
    """Memory of this process; 0 where unknown."""
    try:
        return _resident()
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


def _disks() -> Dict[str, int]:
    read = written = 0
    for line in _read("/proc/diskstats").splitlines():
        words = line.split()
        # Whole disks only: they include what partitions and mapped devices do.
        if Path("/sys/block", words[2]).exists() and not words[2].startswith(("loop", "ram", "dm-", "md")):
            read += int(words[5])
            written += int(words[9])
    return {"disk_read_bytes": read * SECTOR_BYTES, "disk_write_bytes": written * SECTOR_BYTES}


def _read(path: str) -> str:
    return Path(path).read_text(encoding="utf-8", errors="replace")
