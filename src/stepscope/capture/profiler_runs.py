"""Runs of the profilers: whose a recording needs, and what to do while the program's own runs."""

from typing import Dict, FrozenSet, Optional, Tuple

from . import clocks, environment
from .callers import FRAMEWORK, Caller
from .folder import Folder
from .output import Output
from .profiler import Busy, Profilers, settle_devices
from .program import Program

Callers = Dict[Tuple[object, ...], Caller]


class ProfilerRuns:
    """Starts and stops the profilers of a recording. Failures are recorded as problems."""

    def __init__(self, profilers: Profilers, program: Program, output: Output) -> None:
        self._profilers = profilers
        self._program = program
        self._output = output
        self._refused: Optional[str] = None

    def frameworks_of(self, how: str, callers: Callers) -> FrozenSet[str]:
        """Whose profilers a recording needs whose steps are calls of this kind."""
        if self._is_of_torch(how, callers):
            return frozenset(("torch",))
        jax = "jax" in self._program.frameworks and (how in ("jax", "jax_op") or environment.jax_is_used())
        tensorflow = self._profilers.of_tensorflow and (
            not jax or how not in ("jax", "jax_op") or bool(self._program.live_iterators())
        )
        wanted = {"tensorflow": tensorflow, "jax": jax}
        return frozenset(name for name in wanted if wanted[name])

    def _is_of_torch(self, how: str, callers: Callers) -> bool:
        """Whether the steps are PyTorch's. A program that imports TensorFlow, too, may only write logs with
        it; one that imports PyTorch may only load with it."""
        frameworks = self._program.frameworks
        if "torch" not in frameworks or FRAMEWORK[how] not in ("own", "keras"):
            return FRAMEWORK[how] == "torch"
        seen = any(FRAMEWORK[caller.how] == "torch" for caller in callers.values())
        return seen or self._program.optimizes() or not {"tensorflow", "jax"}.intersection(frameworks)

    def refused(self, whose: str) -> bool:
        """True while the program's own profiler runs; tried again at every step until that has ended."""
        if whose and self._refused != whose:
            self._refused = whose
            self._output.problem(
                "the profiler was busy",
                f"{whose}; it was left alone",
                "switch that one off to let this recording run, or read what it wrote",
            )
        return bool(whose)

    def start(self, caller: Caller, folder: Folder, whose: FrozenSet[str]) -> bool:
        """Starts the profilers; False where the program's own is running, and the recording waits."""
        begin_ns, _, end_ns = caller.spans[-1]
        try:
            self._profilers.start(folder.path, whose, end_ns - begin_ns)
        except MemoryError as error:
            self._output.problem(
                "no trace of ops", str(error), "mark shorter steps with stepscope.capture.step(i)"
            )
        except Busy as busy:
            self.refused(str(busy))
            return False
        if self._profilers.leave_allocations_out:
            self._output.problem(
                "no allocations",
                f"a step takes {(end_ns - begin_ns) / 1e9:.1f} s: they might not fit into memory",
                "record shorter steps, or where more memory is free",
            )
        return True

    def stop(self, folder: Folder, lasted_ns: int) -> None:
        """Stops the profilers and writes their traces. lasted_ns: how long they ran, if any did."""
        begin = clocks.perf_counter_ns()
        profiled = bool(self._profilers.running)
        try:
            settle_devices()
            folder.check()
            self._profilers.stop(folder.path)
        except Exception as error:  # noqa: BLE001  a full disk must not end the program
            self._output.failed("xplane", error)
        self._output.charge("profiler_stop_ns", begin)
        cost = self._output.cost
        cost["profiled_ns"] = cost.get("profiled_ns", 0) + (lasted_ns if profiled else 0)
