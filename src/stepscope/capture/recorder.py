"""The recorder of a process: it sees every call that may be a step, and records once they have settled.

Past 400 lines because it is one machine of six states, whose changes are best read in one place.

It never raises into the program: what goes wrong in a piece is stated as a problem of the capture.
"""

import contextlib
import os
import threading
from functools import partial
from typing import Any, Callable, Dict, FrozenSet, Iterator, List, Optional, Tuple

from . import clocks, environment, notes
from .callers import FRAMEWORK, Caller, Identities, Settle, WatchedCall
from .compilations import Compilations
from .exits import Exits
from .folder import Folder
from .live import Live
from .loops import NOWHERE, LoopSites, Site
from .observers import Observers
from .pace import StepWatcher, why_no_steps
from .patches import Patches
from .plan import METADATA_STEPS, STEPS, RecordingPlan
from .profiler import Busy, Profilers, now_ns, settle_devices
from .ring import STEPS as KEPT_STEPS
from .ring import Ring, StepTimes
from .step_check import WEAK, Hindsight
from .torch_profiler import MOST_GROWN_BYTES

WAITING, RECORDING, METADATA, AFTER = "waiting", "recording", "metadata", "after"
LIVE = "live"
"""All is written; steps are only counted, for whoever looks while the program runs."""
IN_DOUBT = "in doubt"
"""All is written, but what comes now may turn out to be the steps."""
DONE = "done"

MOST_CALLERS = 10_000
STEPS_BEFORE, STEPS_AFTER = 10, 30
"""How many steps before the recording, or after it, show what a step takes without a profiler."""
FEW_AFTER, AFTER_NS = 3, 5_000_000_000
"""Of long steps so few are enough, once they have taken so long."""
MOST_AFTER = 3000
"""Of short ones no more are written, where they are sampled for so long."""


def _settle(settle: Settle) -> None:
    """Waits until what was called has been computed."""
    if settle is not None:
        settle()
    settle_devices()


class Recorder:
    """Records one program. Frameworks report to `step`; pieces are added by `at_begin` and `at_end`."""

    state = WAITING
    compiled = 0
    """Goes up whenever something is traced or compiled."""
    stopped = False
    watcher: Any = None
    folder: Optional[Folder] = None
    own_threads: Optional[FrozenSet[str]] = None
    """Threads that were there before the first iterator: the framework's and the program's."""
    _live: Optional[Live] = None
    _steps = 0
    _runs = 0
    """Runs of a session since the last step, in its thread."""
    _metadata = 0.0
    _has_metadata = False
    """Whether the RunMetadata of this recording was taken before it."""
    _listed = False
    """Whether the steps before the recording were written."""
    _after = 0
    """Steps since the last recording ended."""
    _hindsight: Optional[Hindsight] = None
    _complete = False
    """Whether all is written but the steps after the recording."""
    _closed = False
    """Whether the pieces of `closing` are written."""
    _before = (0, 0)
    """Steps and nanoseconds of parts of this recording that ended for the program's own tracing."""
    metadata_saved = False
    """Whether the run that ended was traced for RunMetadata."""
    _next_at = 0
    _sampled_ns = 0
    _held_until_ns = 0
    """When a profiler last had been started or stopped: that time is not the program's step's."""
    _refused: Optional[str] = None
    _source: Any = None

    def __init__(self, plan: RecordingPlan) -> None:
        self.plan = plan
        self.pace = StepWatcher(plan.warmup)
        self.identities = Identities()
        self.sites = LoopSites()
        self.patches = Patches()
        self.profilers = Profilers(plan.state, plan.allocations)
        self.profilers.make_way = self._make_way
        self.local = threading.local()
        self.compilations: Optional[Compilations] = Compilations(self._compiles)
        self._untold: List[Dict[str, Any]] = []
        """What was compiled before the folder was made."""
        self.frameworks: List[str] = []
        self.problems: List[Tuple[str, str, str]] = []
        self.sampling: List[Callable[[Folder, int], None]] = []
        """Pieces that look at the program as a recording begins, now and then during it, and as it ends."""
        self.closing: List[Callable[[Folder, Caller, Any], None]] = []
        """Pieces that are written once, after the last recording, with the thing that was called."""
        self.live_iterators: Callable[[], List[Any]] = list
        self.optimizes: Callable[[], bool] = lambda: False
        """Whether the program has an optimizer of PyTorch, whose steps are still to come."""
        self.restoring: List[Callable[[], None]] = []
        """What else is put back when the wrappers are off. They do not raise."""
        self.cost: Dict[str, int] = {}
        self._observers = Observers(plan, self.cost, self.problem, self.failed)
        self._exits = Exits(self.finish)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._compiled_before: Dict[Tuple[Any, ...], int] = {}
        self._session: Dict[str, Any] = {}
        self._traced_run: Optional[Tuple[Any, ...]] = None
        """Of the runs of sessions, those that give RunMetadata."""

    # --- what frameworks report ----------------------------------------------------------------

    @property
    def listening(self) -> bool:
        """False once nothing more is wanted, and in processes that were forked from this one."""
        return self.state != DONE and os.getpid() == self._pid

    def step(self, call: WatchedCall) -> None:
        """A call ended that may be a step."""
        if not self.listening:
            return
        with self._lock:
            if self.state == DONE:
                return
            try:
                self._saw(call)
            except Exception as error:  # noqa: BLE001  whatever it is, the program must go on
                self.failed("recording", error)
                self.finish()

    @contextlib.contextmanager
    def unharmed(self) -> Iterator[None]:
        """What a wrapper does besides the call that it stands for: when that fails, the recording ends, and
        the program goes on."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  whatever it is, it is no error of the program
            self.failed("recording", error)
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
            self.failed("what is compiled, from here on,", error)
        self._charge("compilations_ns", begin)

    def prepares(self, begin_ns: int, end_ns: int, ops_before: Optional[int], ops: int) -> None:
        """A session prepared its graph for a run; see Compilations.saw_run."""
        if not self.listening or self.compilations is None:
            return
        begin = clocks.perf_counter_ns()
        self.compiled += 1
        self.compilations.saw_run(begin_ns, end_ns, ops_before, ops)
        self._charge("compilations_ns", begin)

    def _compiles(self, line: Dict[str, Any]) -> None:
        with self._lock:
            if self.folder is None:
                self._untold.append(line)
            elif self.state != DONE:
                self.folder.line("compilations.ndjson", "compilations", line)

    def own_step(self, number: int, now: int) -> None:
        """The program says that a step begins."""
        last = getattr(self.local, "own", None)
        self.local.own = (number, now)
        if last is not None:
            self.step(WatchedCall("own", ("own",), "step", last[1], now, begin_ns=last[1], number=last[0]))

    def why(self) -> str:
        """Why nothing was recorded, in code mode."""
        if self.problems:
            return "; ".join(f"{what}: {seen}" for what, seen, _ in self.problems)
        if not self.frameworks:
            return "none of TensorFlow, JAX, Keras and PyTorch was imported"
        return why_no_steps(self.pace.told(), self.plan.warmup)

    def failed(self, piece: str, error: BaseException) -> None:
        """States that a piece could not be had."""
        self.problem(
            f"{piece} could not be recorded",
            f"{type(error).__name__}: {error}",
            "report it, or leave the piece out if it is not needed",
        )

    def problem(self, what: str, seen: str, todo: str) -> None:
        """States what is missing and why."""
        if (what, seen, todo) not in self.problems:
            self.problems.append((what, seen, todo))
        if self.folder is not None:
            self.folder.problem(what, seen, todo)
        notes.problem(self.plan, what, seen, todo)

    def wants(self, piece: str) -> bool:
        """True when a piece was not switched off."""
        return piece in self.plan.pieces

    def site(self) -> Site:
        """From where the program calls; looked for only while that is wanted."""
        try:
            return self.sites.here() if self.listening else NOWHERE
        except Exception as error:  # noqa: BLE001  code may be anything, and the program must go on
            self.failed("where the program calls from", error)
            return NOWHERE

    def metadata_wanted(self, key: Tuple[Any, ...], site: Site) -> bool:
        """True when the next run of a session with this key is to be traced."""
        if self.state != METADATA or not self.listening:
            return False
        return self._key("session_run", key, site) == self._traced_run

    def _key(self, how: str, key: Tuple[Any, ...], site: Site) -> Tuple[Any, ...]:
        """What a call is known by: what is called, where, and in which thread."""
        return self.pace.known_as((how, *key, site.at, threading.get_ident()), site.loops)

    def next_step(self) -> int:
        """The number of the step that runs."""
        assert self.pace.anchor is not None
        return self.pace.callers[self.pace.anchor].count

    # --- the course of a recording -------------------------------------------------------------

    def _saw(self, call: WatchedCall) -> None:
        """Counts a call; a step, or a call that may turn out to be one, moves the recording on."""
        key = self._key(call.how, call.key, call.site)
        if self.state == IN_DOUBT:
            self._judge_again(key, call)
            return
        if _is_one_too_many(self.pace, key):
            self.problem(
                "some calls were not looked at",
                f"more than {MOST_CALLERS:,} different calls, as of a tf.function made anew at every step",
                "make functions once, outside of the loop",
            )
            return
        begin_ns = min(max(self.pace.begins(key, call), self._held_until_ns), call.end_ns)
        call_ns = max(call.call_ns, begin_ns)
        settled = self._settled(key)
        caller = self.pace.saw(call.how, key, call.name, begin_ns, call_ns, call.end_ns, settled, call.site)
        if self.state == WAITING and self.folder is None:
            notes.seen(self.plan, self.frameworks, self.pace)
        if self.state == WAITING:
            self.pace.ready()
        if self.pace.anchor is not None and call.how == "session_run" and key[-1] == self.pace.anchor[-1]:
            self._runs += 1
        if key != self.pace.anchor:
            return
        number = caller.count - 1 if call.number is None else call.number
        span = (begin_ns, call_ns, call.end_ns)
        if self._live is not None:
            self._live.stepped(StepTimes(number, begin_ns, call_ns, call.end_ns))
        self._stepped(number, caller, call, span)

    def _stepped(self, number: int, caller: Caller, call: WatchedCall, span: Tuple[int, int, int]) -> None:
        """Writes a step that ended, and moves the recording on."""
        runs, self._runs = self._runs, 0
        if self.state == WAITING:
            if self._session:
                self._write_step(number, caller, span, False)
            if caller.count >= self._next_at:
                self._begin(caller, call.settle, call.number)
            return
        self._source = call.source
        if self.state == RECORDING:
            self._write_step(number, caller, span, True, **({"runs": runs} if runs > 1 else {}))
            self._recorded(caller, call)
        elif self.state == METADATA:
            taken, self.metadata_saved = self.metadata_saved, False
            self._write_step(number, caller, span, False, **({"run_metadata": True} if taken else {}))
            self._traced(caller, taken)
        elif self.state == AFTER:
            self._write_step(number, caller, span, False)
            self._after += 1
            looks = self._is_looked_at_after(caller)
            if looks and self._after == 1:  # what the profiler left behind is over
                self._observers.resume(untraced=True)
            long = call.end_ns - self._held_until_ns >= AFTER_NS and self._after >= FEW_AFTER
            most = MOST_AFTER if looks else STEPS_AFTER
            if long or self._after >= most:
                self._leave(caller)

    def _settled(self, key: Tuple[Any, ...]) -> bool:
        """Whether nothing was traced or compiled since the last such call. The first of all is never settled:
        whatever is to be set up is set up in it."""
        settled = self.compiled == self._compiled_before.get(key, -1)
        self._compiled_before[key] = self.compiled
        return settled

    def _judge_again(self, key: Tuple[Any, ...], call: WatchedCall) -> None:
        """Looks at a call after a recording of a weak mark: steps that come only now are recorded instead."""
        doubt = self._hindsight
        if doubt is None or not doubt.surer(call) or _is_one_too_many(doubt.pace, key):
            return
        if not doubt.saw(call, key, self._settled(key)):
            return
        self.pace, self._hindsight = doubt.pace, None
        assert self.folder is not None
        assert self.pace.anchor is not None
        given_up = {name: self._session[name] for name in ("name", "how", "steps")}
        self.folder.start_again({**environment.start_facts(self.plan), "given_up": given_up})
        self.folder.save()
        self._session = {}
        self._observers.start_again()
        self._complete = self._closed = self._listed = False
        self.cost.clear()
        self._next_at = 0
        self.state = WAITING
        caller = self.pace.callers[self.pace.anchor]
        self._begin(caller, call.settle, call.number)

    def _recorded(self, caller: Caller, call: WatchedCall) -> None:
        """A step was recorded: the last one wanted ends the recording."""
        self._steps += 1
        steps, before_ns = self._before
        lasted_ns = before_ns + call.end_ns - self._session["begin_unix_ns"]
        self.profilers.step_begins(None)
        if self.plan.enough(steps + self._steps, lasted_ns / 1e9):
            if call.settle is not None:
                call.settle()
            self._end(caller)
            return
        if self.profilers.are_full:
            self.problem(
                "fewer steps than asked for",
                f"{self._steps} recorded, in which the process grew by {MOST_GROWN_BYTES >> 20} MiB or more",
                "mark shorter steps with stepscope.capture.step(i)",
            )
            self._end(caller)
            return
        if call.end_ns - self._sampled_ns > 250_000_000:
            self._sample()
        if self._steps == STEPS and self.wants("memory"):
            self._look_between(caller)
        self.profilers.step_begins(caller.count if call.number is None else call.number + 1)

    def _traced(self, caller: Caller, taken: bool) -> None:
        """A step ran that was to give RunMetadata."""
        # Runs that the program traces itself give none; it is not waited for forever.
        self._metadata += 1 if taken else 0.1
        # Without an XPlane they are all that shows the ops.
        few = METADATA_STEPS if self.profilers.of_tensorflow else STEPS
        if self._metadata < min(self.plan.steps or few, few):
            return
        if self.profilers.of_tensorflow:
            self._rest(caller)
        else:
            self._has_metadata = True
            self._begin(caller, None)

    def _begin(self, caller: Caller, settle: Settle, number: Optional[int] = None) -> None:
        """Starts a recording. number: of the step that ended, where the program counts."""
        if not notes.claim(self.plan):
            self.finish()
            return
        folder = self._open()
        whose = self._which(caller.how)
        if self.wants("xplane") and self._is_refused(self.profilers.busy(whose)):
            return
        if not self._listed:
            self._list_earlier(caller)
            number = None  # counted on from these
        self._steps = self._metadata = 0
        traced = caller.how == "session_run" and self.wants("run_metadata")
        if traced and not self.profilers.of_tensorflow and not self._has_metadata:
            self._begin_metadata(caller, folder)
            return
        _settle(settle)
        if not folder.facts["sessions"]:
            assert self.pace.anchor is not None
            self._observers.start(folder, self.pace.anchor[-1], caller.loop())
        self._sample()
        self._observers.look_at_memory(folder, caller.count)
        self._session = {"first_step": caller.count, "how": caller.how, "name": caller.name}
        begin = clocks.perf_counter_ns()
        if self.wants("xplane") and not self._start_profilers(caller, folder, whose):
            return
        self._charge("profiler_start_ns", begin)
        self._observers.count_threads(self.own_threads)
        self._session["begin_unix_ns"] = now_ns()
        self.state = RECORDING
        folder.facts["sessions"].append(self._session)
        folder.facts["ended_unix_ns"] = None  # of a recording that is made again every N steps
        folder.save()
        notes.course(self.plan, "recording", caller.name, caller.count, folder.path)
        self._exits.guard()
        self._watch_live(caller, folder)
        # What came before is the recorder's: no step holds it, and no look at the stacks sees it.
        caller.last_end_ns = self._held_until_ns = self._session["begin_unix_ns"] = now_ns()
        self.profilers.step_begins(caller.count if number is None else number + 1)
        self._observers.resume()

    def _list_earlier(self, caller: Caller) -> None:
        """Writes the steps before the recording."""
        self._listed = True
        for number, span in enumerate(caller.spans, caller.count - len(caller.spans)):
            self._write_step(number, caller, span, False)

    def _begin_metadata(self, caller: Caller, folder: Folder) -> None:
        """Has runs traced for RunMetadata. All that shows the ops comes first: the program may be short."""
        self._session = {"first_step": caller.count, "how": caller.how, "name": caller.name}
        self._session["begin_unix_ns"] = now_ns()
        caller.last_end_ns = None
        self._await_metadata()
        self._exits.guard()
        notes.course(self.plan, "recording", caller.name, caller.count, folder.path)

    def _await_metadata(self) -> None:
        """The next runs of what takes most of a step are traced."""
        self._traced_run = self.pace.heaviest_beside()
        self.state = METADATA

    def _start_profilers(self, caller: Caller, folder: Folder, whose: FrozenSet[str]) -> bool:
        """Starts the profilers; False where the program's own is running, and the recording waits."""
        begin_ns, _, end_ns = caller.spans[-1]
        try:
            self.profilers.start(folder.path, whose, end_ns - begin_ns)
        except MemoryError as error:
            self.problem("no trace of ops", str(error), "mark shorter steps with stepscope.capture.step(i)")
        except Busy as busy:
            self._is_refused(str(busy))
            self._next_at = caller.count + 100
            return False
        if self.profilers.leave_allocations_out:
            self.problem(
                "no allocations",
                f"a step takes {(end_ns - begin_ns) / 1e9:.1f} s: they might not fit into memory",
                "record shorter steps, or where more memory is free",
            )
        return True

    def _which(self, how: str) -> FrozenSet[str]:
        """Whose profilers a recording needs."""
        if self._is_of_torch(how):
            return frozenset(("torch",))
        jax = "jax" in self.frameworks and (how in ("jax", "jax_op") or environment.jax_is_used())
        tensorflow = self.profilers.of_tensorflow and (
            not jax or how not in ("jax", "jax_op") or bool(self.live_iterators())
        )
        wanted = {"tensorflow": tensorflow, "jax": jax}
        return frozenset(name for name in wanted if wanted[name])

    def _is_of_torch(self, how: str) -> bool:
        """Whether the steps are PyTorch's. A program that imports TensorFlow, too, may only write logs with
        it; one that imports PyTorch may only load with it."""
        if "torch" not in self.frameworks or how not in ("own", "keras_batch"):
            return FRAMEWORK[how] == "torch"
        seen = any(FRAMEWORK[caller.how] == "torch" for caller in self.pace.callers.values())
        return seen or self.optimizes() or not {"tensorflow", "jax"}.intersection(self.frameworks)

    def _is_refused(self, whose: str) -> bool:
        """True while the program's own profiler runs; tried again at every step until that has ended."""
        if whose and self._refused != whose:
            self._refused = whose
            self.problem(
                "the profiler was busy",
                f"{whose}; it was left alone",
                "switch that one off to let this recording run, or read what it wrote",
            )
        return bool(whose)

    def _end(self, caller: Caller, cut: str = "", go_on: bool = False) -> None:
        """Stops the profilers, samples once more, and goes on to what comes next."""
        folder = self._open()
        self._session["end_unix_ns"] = now_ns()
        self._session["steps"] = self._steps
        self._session.update(self._observers.thread_times())
        self.state = WAITING
        self._observers.pause()
        lasted_ns = self._session["end_unix_ns"] - self._session["begin_unix_ns"]
        self._stop_profilers(folder, lasted_ns)
        self._sample()
        if not cut:  # as the program ends, its functions have returned
            self._observers.look_at_memory(folder, caller.count)
        else:
            self._session["cut"] = cut
        # The profilers name a folder by the second: the next recording could replace it.
        several = self.plan.every is not None or cut or len(folder.facts["sessions"]) > 1
        folder.list_profiles(f"_{len(folder.facts['sessions'])}" if several else "")
        folder.facts["recorded"]["steps"] += self._steps
        folder.facts["recorded"]["sessions"] += 1
        if go_on:
            self._before = (self._before[0] + self._steps, self._before[1] + lasted_ns)
            caller.last_end_ns = None
        elif cut:
            self._tell_what_is_missing(caller, cut)
        folder.facts["cost"] = dict(self.cost)
        folder.save()
        self._held_until_ns = now_ns()
        if self._lacks_metadata(caller) and not cut:
            caller.last_end_ns = None
            self._await_metadata()
        elif not cut:
            self._rest(caller)

    def _stop_profilers(self, folder: Folder, lasted_ns: int) -> None:
        """Stops the profilers and writes what they saw. lasted_ns: how long they ran, if any did."""
        begin = clocks.perf_counter_ns()
        profiled = bool(self.profilers.running)
        try:
            settle_devices()
            folder.check()
            self.profilers.stop(folder.path)
        except Exception as error:  # noqa: BLE001  a full disk must not end the program
            self.failed("xplane", error)
        self._charge("profiler_stop_ns", begin)
        self.cost["profiled_ns"] = self.cost.get("profiled_ns", 0) + (lasted_ns if profiled else 0)

    def _tell_what_is_missing(self, caller: Caller, cut: str) -> None:
        """Says what a recording lacks that ended early."""
        if self.plan.steps or self.plan.seconds or self._before[0] + self._steps < STEPS:
            self.problem(
                "fewer steps than asked for",
                f"{self._steps} recorded when {cut} ended it",
                "let the program run longer, or ask for less with --steps or --seconds",
            )
        if self._lacks_metadata(caller):
            self.problem(
                "no RunMetadata",
                f"it is taken of steps after the XPlane, and {cut} came before",
                "ask for fewer steps with --steps",
            )

    def _lacks_metadata(self, caller: Caller) -> bool:
        """Whether the RunMetadata of steps is still to be taken."""
        return caller.how == "session_run" and self.wants("run_metadata") and not self._has_metadata

    def _rest(self, caller: Caller) -> None:
        """After a recording: waits for the next, or ends."""
        self._before = (0, 0)
        self._has_metadata = False
        caller.last_end_ns = None
        if self.plan.every is not None:
            self._write_closing(caller)
            self._next_at = self._session["first_step"] + self.plan.every
            self.state = WAITING
        else:
            self._write_rest(caller)
        if self.folder is not None:  # all is on disk: whoever is told of it may read it
            steps = self.folder.facts["recorded"]["steps"]
            notes.course(self.plan, "recorded", caller.name, steps, self.folder.path)
        if self.plan.every is not None:
            return
        # It is to be told what tracing cost, which a short warm-up does not tell; and where steps spend their
        # time without it.
        if self._session["first_step"] < STEPS_BEFORE or self._is_looked_at_after(caller):
            self.state = AFTER
            return
        self._leave(caller)

    def _is_looked_at_after(self, caller: Caller) -> bool:
        """Whether stacks tell where steps spend their time without a profiler. After a weak mark, surer ones
        are not to be missed for that."""
        return self._observers.looks_at_stacks and caller.how not in WEAK

    def _leave(self, caller: Caller) -> None:
        """Ends all, but where the mark of the steps was a weak one, or somebody may look while it runs."""
        assert self.folder is not None
        self._observers.stop(self.folder)
        self.folder.save()
        if caller.how not in WEAK:
            if self._live is None:
                self.finish()
                return
            self._write_rest(caller)
            self.state = LIVE
            return
        self._write_rest(caller)
        self._hindsight = Hindsight(caller, self.plan.warmup)
        self.state = IN_DOUBT

    @property
    def in_doubt(self) -> bool:
        """Whether only surer marks of steps than the recorded one are wanted."""
        return self.state == IN_DOUBT

    def _make_way(self, whose: str) -> None:
        with self._lock:
            if self.state == RECORDING and self.listening and self.profilers.running:
                self.finish(f"the program's own profiler, started by {whose},")

    def step_aside(self) -> None:
        """The program is about to trace a run itself, which it cannot while our profiler runs. The recording
        is continued after that run."""
        with self._lock:
            if self.state != RECORDING or not self.listening or not self.profilers.running:
                return
            assert self.pace.anchor is not None
            try:
                self._end(self.pace.callers[self.pace.anchor], "a run that the program traced", go_on=True)
            except Exception as error:  # noqa: BLE001  the program must go on
                self.failed("recording", error)
                self.finish()

    def finish(self, cut: str = "") -> None:
        """Ends everything that runs, writes what is written once, and takes the wrappers off."""
        if os.getpid() != self._pid:
            return
        with self._lock:
            if self.state == DONE:
                return
            try:
                self._stop_live()
                self._finish(cut or "the end of the program")
            except Exception as error:  # noqa: BLE001  the program must end as it would
                self.failed("the end of the recording", error)
            finally:
                self.state = DONE
                self.patches.undo()
                for restore in self.restoring:
                    restore()
                self._exits.release()

    def _finish(self, cut: str) -> None:
        caller = self.pace.callers.get(self.pace.anchor) if self.pace.anchor is not None else None
        if self.state == RECORDING and caller is not None:
            self._end(caller, cut)
        elif self.state == METADATA and self._metadata >= 1 and self.folder is not None:
            self._keep_metadata(self.folder, cut)
        self.state = DONE
        if self.folder is None:
            return
        self._write_rest(caller)
        self._observers.stop(self.folder)
        self._source = None
        self.folder.facts["cost"] = dict(self.cost)
        self.folder.save()
        self.folder.close()

    def _keep_metadata(self, folder: Folder, cut: str) -> None:
        """The program ended while its steps were traced. Where that comes before the rest of a recording,
        they are the recording."""
        if self.profilers.of_tensorflow:
            return
        steps = int(self._metadata)
        self._session.update(end_unix_ns=now_ns(), steps=steps, cut=cut)
        folder.facts["sessions"].append(self._session)
        folder.facts["recorded"]["steps"] += steps
        folder.facts["recorded"]["sessions"] += 1

    def _write_rest(self, caller: Optional[Caller]) -> None:
        """Writes what is written once, when no more is recorded."""
        if self._complete or self.folder is None:
            return
        self._complete = True
        self._observers.rest(self.folder)
        if self.compilations is not None and self.compilations.dropped:
            self._compiles({"dropped": self.compilations.dropped})
        self._write_closing(caller)

    def _write_closing(self, caller: Optional[Caller]) -> None:
        """Writes the pieces that look at the thing that was called, once, and says that all is complete."""
        assert self.folder is not None
        if caller is not None and not self._closed:
            self._closed = True
            for piece in self.closing:
                begin = clocks.perf_counter_ns()
                try:
                    piece(self.folder, caller, self._source)
                except Exception as error:  # noqa: BLE001  one piece must not cost the others
                    self.failed(piece.__name__, error)
                self._charge(f"{piece.__name__}_ns", begin)
        self._source = None
        self.folder.facts["cost"] = dict(self.cost)
        if self.plan.mode == "code" or self.folder.facts["recorded"]["sessions"]:
            self.folder.facts["ended_unix_ns"] = now_ns()
        self.folder.save()

    # --- small pieces --------------------------------------------------------------------------

    def _open(self) -> Folder:
        if self.folder is None:
            self.folder = Folder(
                self.plan.out,
                environment.start_facts(self.plan),
                lambda path: notes.moved(self.plan, path),
            )
            for what, seen, todo in self.problems:
                self.folder.problem(what, seen, todo)
            for line in self._untold:
                self._compiles(line)
            self._untold = []
        self.folder.facts["framework"] = sorted(
            {FRAMEWORK[caller.how] for caller in self.pace.callers.values()}
        )
        return self.folder

    def _write_step(
        self, number: int, caller: Caller, span: Tuple[int, int, int], recorded: bool, **more: Any
    ) -> None:
        begin_ns, call_ns, end_ns = span
        line = {
            "step": number,
            "begin_unix_ns": begin_ns,
            "end_unix_ns": end_ns,
            "how": caller.how,
            "recorded": recorded,
            "call_unix_ns": call_ns,
        }
        self._open().line("steps.ndjson", "steps", {**line, **more})

    def _sample(self) -> None:
        begin = clocks.perf_counter_ns()
        for piece in self.sampling:
            try:
                piece(self._open(), now_ns())
            except Exception as error:  # noqa: BLE001  one piece must not cost the others
                self.failed(piece.__name__, error)
        self._sampled_ns = now_ns()
        self._charge("sampling_ns", begin)

    def _watch_live(self, caller: Caller, folder: Folder) -> None:
        """From the first recording on, to the end of the program."""
        if not self.plan.live or self._live is not None:
            return
        assert self.pace.anchor is not None
        driver = self.pace.anchor[-1]
        ring = Ring(self.plan.ring or KEPT_STEPS, driver, caller.loop())
        live = Live(folder, ring, caller.how, caller.name, driver, tell=partial(notes.kept, self.plan))
        try:
            live.start()
        except Exception as error:  # noqa: BLE001  the program must go on
            self.failed("what the program does now", error)
            return
        self._live = live

    def _stop_live(self) -> None:
        if self._live is not None:
            self._live.stop()
            if self._live.failed:
                self.problem("live.json ends early", self._live.failed, "make room on the disk")

    def _look_between(self, caller: Caller) -> None:
        """Looks at memory between two steps: the program may end before the recording does, and what it held
        with it."""
        self._observers.pause()
        self._observers.look_at_memory(self._open(), caller.count)
        caller.last_end_ns = self._held_until_ns = now_ns()
        self._observers.resume()

    def _charge(self, name: str, begin_perf_ns: int) -> None:
        self.cost[name] = self.cost.get(name, 0) + clocks.perf_counter_ns() - begin_perf_ns


def _is_one_too_many(pace: StepWatcher, key: Tuple[Any, ...]) -> bool:
    return key not in pace.callers and len(pace.callers) >= MOST_CALLERS
