"""The recorder of a process: frameworks report every call that may be a step to it, and it finds the steps.

It never raises into the program: what goes wrong in a piece is stated as a problem of the capture.
"""

import contextlib
import os
import threading
from types import FrameType
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import clocks, notes
from .callers import Identities, WatchedCall
from .compilations import Compilations
from .course import DONE, IN_DOUBT, METADATA, RECORDING, WAITING, Course
from .exits import Exits
from .folder import Folder
from .loops import NOWHERE, LoopSites, Site
from .output import Output
from .pace import StepWatcher, why_no_steps
from .patches import Patches
from .phases import NAME as PHASES
from .phases import Phases
from .plan import RecordingPlan
from .profiler import Profilers
from .program import Program
from .ring import StepTimes

MOST_CALLERS = 10_000


class Recorder:
    """Records one program. Frameworks report to `step`, and add pieces to `course.pieces`."""

    stopped = False
    watcher: Any = None

    def __init__(self, plan: RecordingPlan) -> None:
        self.plan = plan
        self.program = Program()
        self.output = Output(plan)
        self.identities = Identities()
        self.sites = LoopSites()
        self.patches = Patches()
        self.profilers = Profilers(plan.state, plan.allocations)
        self.profilers.make_way = self._make_way
        self.local = threading.local()
        self.compilations: Optional[Compilations] = Compilations(self._compiled)
        self.restoring: List[Callable[[], None]] = []
        """Further clean-up after the wrappers are removed. It does not raise."""
        self._exits = Exits(self.finish)
        self.course = Course(self.output, self.profilers, self.program, self._exits, self.finish)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._compiled_before: Dict[Tuple[Any, ...], int] = {}
        self._runs = 0
        """Runs of a session since the last step, in its thread."""
        self._moved = [0, 0]
        """Bytes that they were fed, and gave back."""
        self._phases = Phases(self._tell_phase)

    # --- what frameworks report ----------------------------------------------------------------

    @property
    def listening(self) -> bool:
        """False after the last recording, and in processes that were forked from this one."""
        return self.course.state != DONE and os.getpid() == self._pid

    def step(self, call: WatchedCall) -> None:
        """A call ended that may be a step."""
        if not self.listening:
            return
        with self._lock:
            if self.course.state != DONE:
                with self.unharmed():
                    self._saw(call)

    @contextlib.contextmanager
    def unharmed(self) -> Iterator[None]:
        """Guards the work of a wrapper beside the original call: when it fails, the recording ends, and the
        program goes on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  whatever it is, it is no error of the program
            self.output.failed("recording", error)
            self.finish()

    def compiles(self, framework: str, *call: Any) -> None:
        """A call traced or compiled something; see Compilations.saw."""
        if not self.listening or self.compilations is None:
            return
        begin = clocks.perf_counter_ns()
        try:
            self.compilations.saw(framework, *call)
        except Exception as error:  # noqa: BLE001  arguments may be anything, and the program must go on
            self.compilations = None
            self.output.failed("what is compiled, from here on,", error)
        self.output.charge("compilations_ns", begin)

    def prepares(self, begin_ns: int, end_ns: int, ops_before: Optional[int], ops: int) -> None:
        """A session prepared its graph for a run; see Compilations.saw_run."""
        if not self.listening or self.compilations is None:
            return
        begin = clocks.perf_counter_ns()
        self.program.compiled += 1
        self.compilations.saw_run(begin_ns, end_ns, ops_before, ops)
        self.output.charge("compilations_ns", begin)

    def _compiled(self, line: Dict[str, Any]) -> None:
        with self._lock:
            if self.course.state != DONE or self.folder is None:
                self.output.write_compilation(line)

    def own_step(self, number: int, now: int) -> None:
        """The program says that a step begins."""
        last = getattr(self.local, "last_step", None)
        self.local.last_step = (number, now)
        if last is not None:
            self.step(WatchedCall("own", ("own",), "step", last[1], now, begin_ns=last[1], number=last[0]))

    def problem(self, what: str, seen: str, todo: str) -> None:
        """Records what is missing and why."""
        self.output.problem(what, seen, todo)

    # --- what frameworks ask -------------------------------------------------------------------

    @property
    def folder(self) -> Optional[Folder]:
        """The folder of the recording, once there is one."""
        return self.output.folder

    @property
    def pace(self) -> StepWatcher:
        """Facts about the calls that may be steps."""
        return self.course.pace

    @property
    def in_doubt(self) -> bool:
        """Whether only more certain marks of steps than the recorded one count."""
        return self.course.state == IN_DOUBT

    def why(self) -> str:
        """Why nothing was recorded, in code mode."""
        if self.output.problems:
            return "; ".join(f"{what}: {seen}" for what, seen, _ in self.output.problems)
        if not self.program.frameworks:
            return "none of TensorFlow, JAX, Keras and PyTorch was imported"
        return why_no_steps(self.pace.counted_calls(), self.plan.warmup)

    def wants(self, piece: str) -> bool:
        """True when a piece was not switched off."""
        return piece in self.plan.pieces

    def site(self, frame: Optional[FrameType] = None) -> Site:
        """Where the program calls from, or where a frame is; searched only while it is needed."""
        try:
            return self.sites.here(frame) if self.listening else NOWHERE
        except Exception as error:  # noqa: BLE001  code may be anything, and the program must go on
            self.output.failed("where the program calls from", error)
            return NOWHERE

    def metadata_wanted(self, key: Tuple[Any, ...], site: Site) -> bool:
        """True when the next run of a session with this key is to be traced."""
        if self.course.state != METADATA or not self.listening:
            return False
        return self._key("session_run", key, site) in self.course.metadata.keys

    def marks_step(self, key: Tuple[Any, ...], site: Site) -> bool:
        """True when a step ends with a run of a session with this key."""
        return self._key("session_run", key, site) == self.pace.anchor

    def next_step(self) -> int:
        """The number of the current step."""
        assert self.pace.anchor is not None
        return self.pace.callers[self.pace.anchor].count

    # --- which calls are steps -----------------------------------------------------------------

    def _key(self, how: str, key: Tuple[Any, ...], site: Site) -> Tuple[Any, ...]:
        """The key of a call: callee, site and thread."""
        return self.pace.known_as((how, *key, site.at, threading.get_ident()), site.loops)

    def _saw(self, call: WatchedCall) -> None:
        """Counts a call; a step, or a call that may turn out to be one, moves the recording on."""
        key, course = self._key(call.how, call.key, call.site), self.course
        if course.state == IN_DOUBT:
            self._judge_again(key, call)
            return
        if _is_one_too_many(self.pace, key):
            self.output.problem(
                "some calls were not looked at",
                f"more than {MOST_CALLERS:,} different calls, as of a tf.function made anew at every step",
                "make functions once, outside of the loop",
            )
            return
        beside = self._is_run_of_steps(key) and self._phases.saw(call, key == self.pace.anchor)
        over_ns = max(course.held_until_ns, self._phases.over_ns)
        begin_ns = min(max(self.pace.begins(key, call), over_ns), call.end_ns)
        call_ns = max(call.call_ns, begin_ns)
        settled = self._settled(key)
        caller = self.pace.saw(call.how, key, call.name, begin_ns, call_ns, call.end_ns, settled, call.site)
        if course.state == WAITING:
            if self.folder is None:
                notes.seen(self.plan, self.program.frameworks, self.pace)
            self.pace.ready()
        anchor = self.pace.anchor
        if self._is_run_of_steps(key) and not beside:
            self._runs += 1
            self._moved = [before + now for before, now in zip(self._moved, call.moved)]
        if key != anchor:
            if anchor is not None:
                course.called_beside(call)
            return
        number = caller.count - 1 if call.number is None else call.number
        course.observers.step_ended(StepTimes(number, begin_ns, call_ns, call.end_ns))
        counts = {"runs": self._runs, "fed_bytes": self._moved[0], "fetched_bytes": self._moved[1]}
        self._runs, self._moved = 0, [0, 0]
        course.stepped(number, caller, call, (begin_ns, call_ns, call.end_ns), counts)

    def _is_run_of_steps(self, key: Tuple[Any, ...]) -> bool:
        """Whether a call runs a session in the thread of the steps."""
        anchor = self.pace.anchor
        return anchor is not None and (key[0], key[-1]) == ("session_run", anchor[-1])

    def _tell_phase(self, line: Dict[str, Any]) -> None:
        """Writes what lay between two steps."""
        if self.folder is not None:
            self.folder.line(PHASES, "phases", line)

    def _settled(self, key: Tuple[Any, ...]) -> bool:
        """Whether nothing was traced or compiled since the last such call. The very first is never settled,
        because it sets everything up."""
        settled = self.program.compiled == self._compiled_before.get(key, -1)
        self._compiled_before[key] = self.program.compiled
        return settled

    def _judge_again(self, key: Tuple[Any, ...], call: WatchedCall) -> None:
        """Looks at a call after a recording of a weak mark: steps that come only now are recorded instead."""
        doubt = self.course.hindsight
        if doubt is None:
            return
        if key == self.pace.anchor:
            if not doubt.goes_on(call):
                self.finish()
            return
        if not doubt.counts(call) or _is_one_too_many(doubt.pace, key):
            return
        if doubt.saw(call, key, self._settled(key)):
            self.course.start_again(doubt.pace, call)

    # --- the end -------------------------------------------------------------------------------

    def _make_way(self, whose: str) -> None:
        with self._lock:
            if self.course.state == RECORDING and self.listening and self.profilers.running:
                self.finish(f"the program's own profiler, started by {whose},")

    def step_aside(self) -> None:
        """The program is about to trace a run itself, which it cannot while our profiler runs. The recording
        is continued after that run."""
        with self._lock:
            if self.course.state != RECORDING or not self.listening or not self.profilers.running:
                return
            assert self.pace.anchor is not None
            with self.unharmed():
                caller = self.pace.callers[self.pace.anchor]
                self.course.end(caller, "a run that the program traced", go_on=True)

    def finish(self, cut: str = "") -> None:
        """Ends running work, runs the pieces that run once, and removes the wrappers."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            if self.course.state == DONE:
                return
            try:
                self.course.observers.stop_live()
                self._say_what_was_left_out()
                self.course.close(cut or "the end of the program")
            except Exception as error:  # noqa: BLE001  the program must end as it would
                self.output.failed("the end of the recording", error)
            finally:
                self.course.state = DONE
                self.patches.undo()
                for restore in self.restoring:
                    restore()
                self._exits.release()

    def _say_what_was_left_out(self) -> None:
        """Writes how many compilations were only counted."""
        if self.folder is not None and self.compilations is not None and self.compilations.dropped:
            self.output.write_compilation({"dropped": self.compilations.dropped})


def _is_one_too_many(pace: StepWatcher, key: Tuple[Any, ...]) -> bool:
    return key not in pace.callers and len(pace.callers) >= MOST_CALLERS
