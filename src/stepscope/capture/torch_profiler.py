"""The profiler of PyTorch: its Chrome trace of the recorded steps, and the program's own use of it.

A thread has one profiler. Whoever starts another while ours runs would get an error, so ours ends before.
"""

import contextlib
import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import IO, Any, Callable, Optional, Set

from . import clocks
from .folder import TRACES
from .log_filter import quiet
from .machine import available_bytes, resident_bytes
from .patches import Patches

MOST_GROWN_BYTES = 256 << 20
"""Events are kept in memory until the end, when they take more than three times as much for a moment: a
recording during which the process grew so much ends with the step."""
_EACH_NS = 100_000_000
"""The memory is looked at no more often: to read how much there is hands over the interpreter's lock, and
looks at stacks would show that instead of the program."""
_MOST_EACH_S = {True: 700 << 20, False: 250 << 20}
"""What the profiler takes of a second of nothing but tiny ops, at its end; with shapes, and without. A step
that might take more than half of the memory that is free is not traced."""
_ALLOCATIONS_EACH_S = 2 << 30
"""The same with allocations and calls of Python: 3 KB more an op for these two were measured."""
_LEVEL = 1
"""Of packing. PyTorch's own takes 13 s for 190,000 events, this 0.3 s for a file half as large again."""
_REST = "after the last step"
"""What the mark of a step is called that began and had not ended when the recording did."""
_STARTS = ("_prepare_profiler", "_enable_profiler", "_enable_profiler_legacy")


class TorchProfiler:
    """PyTorch's profiler in this process. program_starts: called before the program starts its own."""

    def __init__(
        self, program_starts: Callable[[], None], state: Optional[str], allocations: bool = False
    ) -> None:
        self._program_starts = program_starts
        self._state = state
        self._allocations = allocations
        self.left_out = False
        """Whether allocations were asked for, and might not have fitted into memory."""
        self._ours = False
        """Whether the current call is the recorder's own."""
        self._theirs: Set[int] = set()
        """Identities of the program's own profilers that were started and not stopped."""
        self._mark: Any = None
        self._marked = ""
        """Name of the mark of the current step."""
        self._bytes = 0
        self._looked_ns = 0

    def watch(self, patches: Patches) -> None:
        """Notes when the program starts a profiler. ImportError or AttributeError where this PyTorch has none
        that writes a trace."""
        import torch.autograd.profiler as autograd
        from torch import profiler

        if not getattr(autograd, "kineto_available", lambda: False)():
            raise ImportError("built without Kineto")
        for name in _STARTS:
            if hasattr(autograd, name):
                patches.wrap(autograd, name, self._starting)
        # One with a schedule may start without recording yet; it marks steps of its own meanwhile.
        patches.wrap(profiler.profile, "start", self._started)
        patches.wrap(profiler.profile, "stop", self._stopped)

    def _starting(self, original: Any) -> Any:
        def start(*args: Any, **kwargs: Any) -> Any:
            if not self._ours:
                self._program_starts()
            return original(*args, **kwargs)

        return start

    def _started(self, original: Any) -> Any:
        def start(profile: Any) -> Any:
            if not self._ours:
                self._program_starts()
                self._theirs.add(id(profile))
            return original(profile)

        return start

    def _stopped(self, original: Any) -> Any:
        def stop(profile: Any) -> Any:
            self._theirs.discard(id(profile))
            return original(profile)

        return stop

    def busy(self) -> bool:
        """Whether a profiler of the program runs."""
        import torch

        enabled = getattr(torch._C._autograd, "_profiler_enabled", lambda: False)
        return bool(self._theirs) or bool(enabled())

    def start(self, step_ns: int) -> Callable[[Path], None]:
        """Starts the profiler; returns the function that stops it and writes the trace into a folder.
        step_ns: duration of a step. MemoryError, with nothing started, when the events of a step might take
        too much memory."""
        from torch import profiler

        with_shapes = _fits(step_ns, _MOST_EACH_S[True])
        if not with_shapes and not _fits(step_ns, _MOST_EACH_S[False]):
            raise MemoryError(f"a step takes {step_ns / 1e9:.0f} s, whose events might not fit into memory")

        with_allocations = self._allocations and _fits(step_ns, _ALLOCATIONS_EACH_S)
        self.left_out = self._allocations and not with_allocations
        self._ours = True
        try:
            with quiet(self._state):
                profile = profiler.profile(
                    activities=_activities(profiler),
                    record_shapes=with_shapes,
                    profile_memory=with_allocations,
                    with_stack=with_allocations,  # an allocation has no line but that of the call around it
                )
                profile.start()
        finally:
            self._ours = False
        self._bytes = resident_bytes()

        def stop(now: Path) -> None:
            # What runs on as the recording is cut off is no step; but the mark got its name as it began, when
            # nobody knew that.
            unfinished = self._marked if self._mark is not None else ""
            self.mark(None)
            self._ours = True
            try:
                with quiet(self._state):
                    _leave_out_tables(profile)
                    profile.stop()
                    _export(profile, now / TRACES, unfinished)
            finally:
                self._ours = False

        return stop

    def mark(self, number: Optional[int]) -> None:
        """A step ends, and the one with this number begins."""
        from torch.autograd.profiler import record_function

        last, self._mark = self._mark, None
        if last is not None:
            last.__exit__(None, None, None)
        if number is not None:
            self._marked = f"ProfilerStep#{number}"
            self._mark = record_function(self._marked)
            self._mark.__enter__()

    def is_full(self) -> bool:
        """Whether the recording has grown so large that it should end."""
        now = clocks.monotonic_ns()
        if now - self._looked_ns < _EACH_NS:
            return False
        self._looked_ns = now
        return resident_bytes() - self._bytes > MOST_GROWN_BYTES


def _activities(profiler: Any) -> Any:
    """What to record: devices only where the program uses them, because they would be opened otherwise."""
    found = {profiler.ProfilerActivity.CPU}
    torch = sys.modules["torch"]
    for name in ("cuda", "xpu"):
        kind = getattr(profiler.ProfilerActivity, name.upper(), None)
        used = getattr(getattr(torch, name, None), "is_initialized", lambda: False)
        if kind is not None and kind in profiler.supported_activities() and used():
            found.add(kind)
    return found


def _leave_out_tables(profile: Any) -> None:
    """Older versions make objects of Python of all events as they stop, for tables that nobody reads
    here: half a minute for 500,000 of them. The trace is written from what C++ has."""
    inner = getattr(profile, "profiler", None)
    if inner is not None and hasattr(inner, "_parse_kineto_results"):
        inner._parse_kineto_results = lambda *_: []


def _export(profile: Any, folder: Path, unfinished: str) -> None:
    """Writes the trace under the name that PyTorch gives it, which tells the host. unfinished: the mark of a
    step that did not end; empty when there is none."""
    import gzip  # most programs are not PyTorch's

    folder.mkdir(parents=True, exist_ok=True)
    name = f"{platform.node() or 'unknown'}_{os.getpid()}.{clocks.time_ns()}.pt.trace.json.gz"
    text, half = folder / ".half.json", folder / f".half.{name}"
    try:
        profile.export_chrome_trace(str(text))
        with text.open("rb") as plain, gzip.open(str(half), "wb", _LEVEL) as packed:
            if unfinished:
                _copy_renamed(plain, packed, json.dumps(unfinished).encode(), json.dumps(_REST).encode())
            else:
                shutil.copyfileobj(plain, packed, 1 << 20)
        half.replace(folder / name)
    finally:
        for path in (text, half):
            with contextlib.suppress(FileNotFoundError):  # it has its name, or was not begun
                path.unlink()


def _copy_renamed(source: IO[bytes], target: Any, name: bytes, becomes: bytes, size: int = 1 << 20) -> None:
    """Copies text, with a name in quotes that becomes another one."""
    kept = b""
    while True:
        read = source.read(size)
        before, found, text = (kept + read).rpartition(name)
        target.write((before + found).replace(name, becomes))
        # The name may begin at the end of what was read.
        end = max(len(text) - (len(name) - 1), 0) if read else len(text)
        target.write(text[:end])
        kept = text[end:]
        if not read:
            return


def _fits(step_ns: int, most_each_s: int) -> bool:
    """Whether the events of a step surely fit into memory."""
    free = available_bytes()
    return free is None or step_ns / 1e9 * most_each_s <= free / 2


def synchronize() -> None:
    """Waits until the devices that the program uses have finished."""
    torch = sys.modules.get("torch")
    for name in ("cuda", "xpu"):
        device = getattr(torch, name, None)
        if device is not None and getattr(device, "is_initialized", lambda: False)():
            device.synchronize()


def is_worker() -> bool:
    """True in a worker process of a DataLoader, which is not recorded by itself."""
    worker = sys.modules.get("torch.utils.data._utils.worker")
    return getattr(worker, "_worker_info", None) is not None
