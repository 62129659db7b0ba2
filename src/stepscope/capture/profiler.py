"""The XPlane, or the trace: starts and stops the profilers of TensorFlow, JAX and PyTorch, and makes way for
the program's own.

A process has one profiler a framework. If the program's runs, ours waits; if the program starts its own while
ours runs, ours ends first.
"""

import contextlib
import os
import sys
from pathlib import Path
from typing import Any, Callable, Collection, List, Optional

from . import clocks
from .log_filter import quiet
from .patches import Patches
from .places import caller
from .torch_profiler import TorchProfiler, synchronize


class Busy(Exception):
    """The program's own profiler runs; the text names it."""


class Profilers:
    """The profilers of this process. make_way: called before the program's own profiler starts."""

    def __init__(self, state: Optional[str] = None, allocations: bool = False) -> None:
        self._state = state
        self._allocations = allocations
        self.make_way: Callable[[str], None] = lambda whose: None
        self.theirs = ""
        self.running: List[Callable[[Path], None]] = []
        """For each running profiler, the function that stops it and writes into a folder."""
        self.of_tensorflow = False
        """Whether TensorFlow has a profiler that writes an XPlane: it has from 2.3 on."""
        self.of_torch: Optional[TorchProfiler] = None
        """Where PyTorch has a profiler that writes a trace."""
        self._start_jax_trace: Any = None

    def watch_tensorflow(self, patches: Patches) -> None:
        """Notes when the program starts TensorFlow's profiler, by whatever name it calls it. ImportError
        where it has none, or one that writes no XPlane: TensorFlow 2.2's, which takes no options either."""
        from tensorflow.python.profiler import profiler_v2

        if not hasattr(profiler_v2, "ProfilerOptions"):
            raise ImportError("it writes no XPlane")
        self.of_tensorflow = True
        patches.put(profiler_v2, "_pywrap_profiler", _Watched(profiler_v2._pywrap_profiler, self))

    def watch_jax(self, patches: Patches) -> None:
        """Notes when the program starts JAX's profiler."""
        import jax
        from jax._src import profiler

        self._start_jax_trace = profiler.start_trace

        def make(start: Any) -> Any:
            def start_trace(*args: Any, **kwargs: Any) -> Any:
                self.program_starts()
                return start(*args, **kwargs)

            return start_trace

        patches.wrap(profiler, "start_trace", make)
        patches.put(jax.profiler, "start_trace", profiler.start_trace)

    def watch_torch(self, patches: Patches) -> None:
        """Notes when the program starts PyTorch's profiler. ImportError or AttributeError where it has
        none."""
        torch = TorchProfiler(self.program_starts, self._state, self._allocations)
        torch.watch(patches)
        self.of_torch = torch

    def step_begins(self, number: Optional[int]) -> None:
        """A step that is recorded ended, and the one with this number begins; None when none does."""
        if self.of_torch is not None and self.running:
            self.of_torch.mark(number)

    @property
    def are_full(self) -> bool:
        """Whether a recording should end, because it holds as much memory as it may."""
        return self.of_torch is not None and self.of_torch.is_full()

    @property
    def leave_allocations_out(self) -> bool:
        """Whether a recording that runs lacks the allocations that were asked for."""
        return self.of_torch is not None and self.of_torch.left_out

    def program_starts(self) -> None:
        """Ends our recording because the program begins its own."""
        self.theirs = caller() or "the program"
        self.make_way(self.theirs)

    def busy(self, whose: Collection[str]) -> str:
        """Which of the profilers of these frameworks the program runs itself, and where it was started; empty
        when none."""
        if "torch" in whose and self.of_torch is not None and self.of_torch.busy():
            return f"PyTorch's profiler, started by {self.theirs or 'the program'}"
        if "tensorflow" in whose and self.of_tensorflow:
            from tensorflow.python.profiler import profiler_v2

            if getattr(profiler_v2, "_profiler", None) is not None:
                return f"TensorFlow's profiler, started by {self.theirs or 'the program'}"
        if "jax" in whose:
            from jax._src import profiler

            if getattr(profiler._profile_state, "profile_session", None) is not None:
                return f"JAX's profiler, started by {self.theirs or 'the program'}"
        return ""

    def start(self, folder: Path, whose: Collection[str], step_ns: int = 0) -> None:
        """Starts the profilers of these frameworks; Busy, with none started, when another profiler runs.
        step_ns: duration of a step. MemoryError when the recording might not fit."""
        busy = self.busy(whose)
        if busy:
            raise Busy(busy)
        # JAX and TensorFlow write the same file name; the second gets a folder of its own.
        try:
            if "torch" in whose and self.of_torch is not None:
                self.running.append(self.of_torch.start(step_ns))
            if "jax" in whose:
                self.running.append(self._start_jax(folder))
            if "tensorflow" in whose and self.of_tensorflow:
                inside = "tensorflow" if "jax" in whose else "."
                self.running.append(self._start_tensorflow(folder, inside))
        except BaseException:
            self.stop(folder)
            raise

    def stop(self, folder: Path) -> None:
        """Stops the profilers, which write into a folder: perhaps another one than at the start."""
        while self.running:
            self.running.pop()(folder)

    def _start_tensorflow(self, folder: Path, inside: str) -> Callable[[Path], None]:
        from tensorflow.python.framework import errors
        from tensorflow.python.profiler import profiler_v2

        wrapped = profiler_v2._pywrap_profiler
        session = getattr(wrapped, "stepscope_original", wrapped).ProfilerSession()
        # TensorFlow is told at the start where to write at the end: a link can be turned to another place.
        link = _Link(self._state, folder / inside)
        with quiet(self._state):
            try:
                # No options: the defaults are what is wanted (host level 2, no Python), and TensorFlow 2.21
                # ignores options with a warning for each.
                session.start(str(link.path), {})
            except errors.AlreadyExistsError as error:
                link.remove()
                raise Busy(
                    "TensorFlow's profiler, started by a profiler server or another library"
                ) from error

        def stop(now: Path) -> None:
            try:
                link.turn(now / inside)
                with quiet(self._state):
                    session.export_to_tb()
            finally:
                link.remove()

        return stop

    def _start_jax(self, folder: Path) -> Callable[[Path], None]:
        import jax
        from jax._src import profiler

        start = self._start_jax_trace or profiler.start_trace
        more = {}
        if hasattr(jax.profiler, "ProfileOptions"):
            options = jax.profiler.ProfileOptions()
            options.python_tracer_level = 0
            more["profiler_options"] = options
        with quiet(self._state):
            start(str(folder), **more)

        def stop(now: Path) -> None:
            if now != folder:
                profiler._profile_state.log_dir = str(now)
            with quiet(self._state):
                jax.profiler.stop_trace()
            # JAX writes the same once more as JSON, cut at a million events.
            for path in now.glob("plugins/profile/*/*.trace.json.gz"):
                path.unlink()

        return stop


class _Link:
    """A link to a folder, which can be changed to another one. Where links are impossible, it is the folder
    itself, and cannot be changed."""

    def __init__(self, state: Optional[str], folder: Path) -> None:
        self.path = self._folder = folder
        if state is None:
            return
        link = Path(state) / f"profile-{os.getpid()}"
        with contextlib.suppress(OSError):  # not every file system has links
            link.symlink_to(folder, target_is_directory=True)
            self.path = link

    def turn(self, folder: Path) -> None:
        """Points the link at a folder, created if missing. OSError when it cannot."""
        folder.mkdir(parents=True, exist_ok=True)
        if self.path != self._folder:
            self.remove()
            self.path.symlink_to(folder, target_is_directory=True)
        elif folder != self._folder:
            raise OSError(f"the profiler writes into {self._folder} and nowhere else")

    def remove(self) -> None:
        """Removes the link, and never the folder."""
        with contextlib.suppress(OSError):  # the launcher is gone, and its folder
            if self.path.is_symlink():
                self.path.unlink()


class _Watched:
    """TensorFlow's profiler module, with the birth of a session seen."""

    def __init__(self, original: Any, profilers: Profilers) -> None:
        self.stepscope_original = original
        self._profilers = profilers

    def ProfilerSession(self) -> Any:
        self._profilers.program_starts()
        return self.stepscope_original.ProfilerSession()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stepscope_original, name)


def settle_devices(settle: Optional[Callable[[], Any]] = None) -> None:
    """Waits until the devices have finished, so that a recording contains whole steps. settle: waits for the
    callee."""
    if settle is not None:
        settle()
    synchronize()
    tensorflow = sys.modules.get("tensorflow")
    eager = getattr(tensorflow, "executing_eagerly", None)
    if tensorflow is not None and eager is not None and eager():
        sync: Optional[Callable[[], None]] = getattr(
            tensorflow.test.experimental if hasattr(tensorflow.test, "experimental") else None,
            "sync_devices",
            None,
        )
        if sync is not None and tensorflow.config.list_logical_devices("GPU"):
            sync()


def now_ns() -> int:
    """Unix time, as the profilers stamp their recordings."""
    return clocks.time_ns()
