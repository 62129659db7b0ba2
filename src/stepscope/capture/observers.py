"""Observers of the program beside its profiler: machine, garbage, stacks, memory, and its current state."""

from functools import partial
from typing import Any, Dict, FrozenSet, Optional

from . import clocks, notes
from .callers import Caller
from .folder import Folder
from .garbage import NAME as GARBAGE
from .garbage import GarbageWatch
from .live import Live
from .machine import Sampler, Shares
from .memory import NAME as MEMORY
from .memory import OF_DEVICES, MemoryWatch, device_profile
from .output import Output
from .plan import RecordingPlan
from .ring import STEPS as KEPT_STEPS
from .ring import Ring, StepTimes
from .stacks import StackSampler

_NO_ROOM = "make room on the disk"


class Observers:
    """The observers of a plan. A failing one is recorded as a problem, and does not affect the others."""

    def __init__(self, plan: RecordingPlan, output: Output) -> None:
        self._plan = plan
        self._output = output
        self._machine: Optional[Sampler] = None
        self._garbage: Optional[GarbageWatch] = None
        self._shares: Optional[Shares] = None
        self._stacks: Optional[StackSampler] = None
        self._memory: Optional[MemoryWatch] = None
        self._live: Optional[Live] = None

    def start(self, folder: Folder, driver: int, loop: Optional[int]) -> None:
        """Starts to sample the machine; stacks are sampled after resume(). driver: the thread of the steps.
        loop: the code with their loop."""
        if "machine" in self._plan.pieces:
            garbage = GarbageWatch(lambda values: folder.line(GARBAGE, "garbage", values), driver)

            def write(values: Dict[str, Any]) -> None:
                folder.line("machine.ndjson", "machine", values)
                garbage.flush()

            self._machine, self._garbage = Sampler(write), garbage
            self._machine.start()
            garbage.start()
        if "stacks" in self._plan.pieces:
            self._stacks = StackSampler(
                lambda data: folder.lines("stacks.ndjson", "stacks", data), driver, loop
            )

    def resume(self, untraced: bool = False) -> None:
        """Samples stacks from now on. untraced: no profiler runs."""
        if self._stacks is not None:
            self._stacks.resume(untraced)

    def pause(self) -> None:
        """Stops sampling stacks: no step runs, or the recorder itself is busy."""
        if self._stacks is not None:
            self._stacks.pause()

    def count_threads(self, threads: Optional[FrozenSet[str]]) -> None:
        """Counts from now on how long threads run, and wait for a core. threads: the program's."""
        self._shares = Shares(threads) if "machine" in self._plan.pieces else None

    def thread_times(self) -> Dict[str, Any]:
        """The counts since then, in the form of a session."""
        return {} if self._shares is None else self._shares.since()

    def look_at_memory(self, folder: Folder, steps: int) -> None:
        """Finds the variables with arrays, after a number of steps; never while steps are recorded."""
        if "memory" not in self._plan.pieces:
            return
        begin = clocks.perf_counter_ns()
        try:
            if self._memory is None:
                self._memory = MemoryWatch(lambda values: folder.line(MEMORY, "memory", values))
            self._memory.look(steps)
        except Exception as error:  # noqa: BLE001  objects may be anything, and the program must go on
            self._output.failed("memory", error)
        try:
            held = device_profile()
            if held is not None:
                folder.add(OF_DEVICES, "device_memory", held)
        except Exception as error:  # noqa: BLE001  some devices of JAX have no profile
            self._output.failed("memory of devices", error)
        self._output.charge("memory_ns", begin)

    def look_between(self, folder: Folder, steps: int) -> None:
        """Looks at memory between two steps, until resume()."""
        self.pause()
        self.look_at_memory(folder, steps)

    def start_again(self) -> None:
        """Discards all samples: another loop turned out to be the steps."""
        self._shares = self._memory = None

    @property
    def looks_at_stacks(self) -> bool:
        """Whether it does when it is asked to."""
        return self._stacks is not None

    @property
    def looks(self) -> int:
        """How often it did."""
        return 0 if self._stacks is None else self._stacks.looks

    def rest(self, folder: Folder) -> None:
        """Ends all but stack sampling, and records costs and write errors."""
        if self._machine is not None:
            self._machine.stop()
            self._output.cost["machine_ns"] = self._machine.cost_ns
            if self._machine.failed:
                self._output.problem("machine.ndjson ends early", self._machine.failed, _NO_ROOM)
            self._machine = None
        if self._garbage is not None:
            self._garbage.stop()
            if self._garbage.dropped:
                seen = f"{self._garbage.dropped} more collections"
                self._output.problem("garbage.ndjson ends early", seen, "record fewer steps")
            self._garbage = None
        if self._stacks is not None:
            self._stacks.pause()
            self._tell_of_stacks(folder)

    def stop(self, folder: Folder) -> None:
        """Ends stack sampling as well, and records its costs and write errors."""
        if self._stacks is not None:
            self._stacks.stop()
            self._tell_of_stacks(folder)
            self._stacks = None

    def _tell_of_stacks(self, folder: Folder) -> None:
        if self._stacks is not None:
            self._output.cost["stacks_ns"] = self._stacks.cost_ns
            folder.facts["stacks"] = self._stacks.facts()
            if self._stacks.failed:
                self._output.problem("stacks.ndjson ends early", self._stacks.failed, _NO_ROOM)

    # --- while the program runs on -------------------------------------------------------------

    @property
    def is_live(self) -> bool:
        """Whether steps are watched to the end of the program."""
        return self._live is not None

    def watch_live(self, folder: Folder, caller: Caller, driver: int) -> None:
        """Watches steps to the end of the program, if planned."""
        if not self._plan.live or self._live is not None:
            return
        ring = Ring(self._plan.ring or KEPT_STEPS, driver, caller.loop())
        live = Live(folder, ring, caller.how, caller.name, driver, tell=partial(notes.kept, self._plan))
        try:
            live.start()
        except Exception as error:  # noqa: BLE001  the program must go on
            self._output.failed("what the program does now", error)
            return
        self._live = live

    def step_ended(self, step: StepTimes) -> None:
        """Reports a step to the live view."""
        if self._live is not None:
            self._live.stepped(step)

    def stop_live(self) -> None:
        """Ends the live view, and records write errors."""
        if self._live is not None:
            self._live.stop()
            if self._live.failed:
                self._output.problem("live.json ends early", self._live.failed, _NO_ROOM)
