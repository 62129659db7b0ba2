"""The course of a recording, from settled steps to the steps after it.

Its states are WAITING for settled steps, RECORDING, METADATA (runs are traced for RunMetadata), AFTER (steps
without a profiler), LIVE, IN_DOUBT and DONE.
"""

from typing import Any, Callable, Dict, Optional

from . import clocks, environment, notes
from .callers import Caller, Settle, Span, WatchedCall
from .exits import Exits
from .folder import Folder
from .metadata_runs import MetadataRuns
from .observers import Observers
from .output import Output, write_earlier, write_step
from .pace import StepWatcher
from .pieces import RecordingPieces
from .plan import PATIENCE, STEPS
from .profiler import Profilers, now_ns, settle_devices
from .profiler_runs import ProfilerRuns
from .program import Program
from .session_facts import SessionFacts
from .step_check import SURE, WEAK, Hindsight, may_be_instead
from .steps_after import AFTER_NS, StepsAfter
from .switches import switches
from .torch_profiler import MOST_GROWN_BYTES

WAITING, RECORDING, METADATA, AFTER = "waiting", "recording", "metadata", "after"
LIVE = "live"
"""The recording is complete; steps are counted for the live view."""
IN_DOUBT = "in doubt"
"""The recording is complete, but another loop may turn out to be the steps."""
DONE = "done"

SAMPLE_NS = 250_000_000
"""Seconds between runs of the pieces while steps are recorded."""


class Course:
    """Moves a recording from state to state as steps end. Its methods raise errors. exits: guarded while
    there is something to save. finish: ends the recorder."""

    state = WAITING
    hindsight: Optional[Hindsight] = None
    """Watches the calls after a recording whose steps had a weak mark."""
    held_until_ns = 0
    """When a profiler was last started or stopped: that time belongs to no step."""
    _over = False
    """Whether the loop of the steps ended before enough of them were recorded."""
    _listed = False
    """Whether the steps before the recording have been written."""
    _next_at = 0

    def __init__(
        self, output: Output, profilers: Profilers, program: Program, exits: Exits, finish: Callable[[], None]
    ) -> None:
        plan = self.plan = output.plan
        self.pace = StepWatcher(plan.warmup)
        self.observers = Observers(plan, output)
        self.pieces = RecordingPieces(output, self.observers)
        self.metadata = MetadataRuns(plan, profilers)
        self.session = SessionFacts()
        self._output = output
        self._profilers = profilers
        self._runs = ProfilerRuns(profilers, program, output)
        self._program = program
        self._after = StepsAfter(self.observers)
        self._exits = exits
        self._finish = finish

    def _open(self) -> Folder:
        return self._output.open(self.pace.callers.values())

    # --- steps ---------------------------------------------------------------------------------

    def stepped(
        self, number: int, caller: Caller, call: WatchedCall, span: Span, counts: Dict[str, int]
    ) -> None:
        """Writes a step that ended, and advances the recording. counts: of the runs of a session in its
        thread."""
        if self.state == WAITING:
            if self.session.facts:
                write_step(self._open(), number, caller, span, False)
            if caller.count >= self._next_at:
                self.begin(caller, call.settle, call.number)
            return
        self.pieces.source = call.source
        if self.state == RECORDING:
            of_run: Dict[str, Any] = {"phase": call.phase} if call.phase else {}
            of_run.update(counts if counts["runs"] else {})
            write_step(self._open(), number, caller, span, True, **of_run)
            self._recorded(caller, call)
        elif self.state == METADATA:
            traced, was_last = self.metadata.step_ended()
            more = {"run_metadata": True, "runs": counts["runs"], "traced_runs": traced} if traced else {}
            write_step(self._open(), number, caller, span, False, **more)
            if was_last:
                self._traced(caller)
        elif self.state == AFTER:
            write_step(self._open(), number, caller, span, False)
            if self._after.ended(caller, call, self.held_until_ns):
                self._leave(caller)

    def _recorded(self, caller: Caller, call: WatchedCall) -> None:
        """A step was recorded: the last one wanted ends the recording."""
        self.session.steps += 1
        self._profilers.step_begins(None)
        if self.plan.enough(self.session.all_steps(), self.session.lasted_ns(call.end_ns) / 1e9):
            if call.settle is not None:
                call.settle()
            self.end(caller)
            return
        if self._profilers.are_full:
            self._output.problem(
                "fewer steps than asked for",
                f"{self.session.steps} recorded, in which the process grew by "
                f"{MOST_GROWN_BYTES >> 20} MiB or more",
                "mark shorter steps with stepscope.capture.step(i)",
            )
            self.end(caller)
            return
        if call.end_ns - self.pieces.sampled_ns > SAMPLE_NS:
            self.pieces.sample(self._open())
        if self.session.steps == STEPS and "memory" in self.plan.pieces:
            # The program may end before the recording does, and its variables with it.
            self.observers.look_between(self._open(), caller.count)
            caller.last_end_ns = self.held_until_ns = now_ns()
            self.observers.resume()
        self._profilers.step_begins(caller.count if call.number is None else call.number + 1)

    def called_beside(self, call: WatchedCall) -> None:
        """A call ended that is not a step. If no step has ended for long, the loop of steps is over. After a
        weak mark, a call that may be the step instead ends the look at the steps after the recording."""
        assert self.pace.anchor is not None
        caller = self.pace.callers[self.pace.anchor]
        idle_ns = call.end_ns - max(caller.last_end_ns or 0, self.held_until_ns)
        if self.state == RECORDING and self.plan.gives_up(idle_ns / 1e9):
            self._output.problem(
                "fewer steps than asked for",
                f"{self.session.steps} recorded, and none has ended in {PATIENCE:.0f} s since",
                "mark steps with stepscope.capture.step(i)",
            )
            self._over = True
            self.end(caller)
        elif self.state == AFTER and (
            idle_ns > AFTER_NS or (caller.how in WEAK and may_be_instead(caller, call))
        ):
            self._leave(caller)

    def _traced(self, caller: Caller) -> None:
        """All steps for RunMetadata have run."""
        if self._profilers.of_tensorflow:
            self._rest(caller)
        else:
            self.metadata.taken_before = True
            self.begin(caller, None)

    # --- the beginning -------------------------------------------------------------------------

    def begin(self, caller: Caller, settle: Settle, number: Optional[int] = None) -> None:
        """Starts a recording. number: of the step that ended, in the program's own count."""
        if not notes.claim(self.plan):
            notes.note_sibling(self.plan, caller.name)
            self._finish()
            return
        folder = self._open()
        whose = self._runs.frameworks_of(caller.how, self.pace.callers)
        profiles = "xplane" in self.plan.pieces
        if profiles and self._runs.refused(self._profilers.busy(whose)):
            return
        if not self._listed:
            self._listed = True
            write_earlier(folder, caller)
            number = None  # later counts start from these
        self.session.steps = 0
        if self.metadata.come_first(caller.how):
            self._begin_metadata(caller, folder)
            return
        settle_devices(settle)
        assert self.pace.anchor is not None
        driver: int = self.pace.anchor[-1]
        if not folder.facts["sessions"]:
            self.observers.start(folder, driver, caller.loop())
        self.pieces.sample(folder)
        self.observers.look_at_memory(folder, caller.count)
        self.session.name(caller)
        begin = clocks.perf_counter_ns()
        if profiles and not self._runs.start(caller, folder, whose):
            self._next_at = caller.count + 100
            return
        self._output.charge("profiler_start_ns", begin)
        self.observers.count_threads(self._program.own_threads)
        self.session.begin()
        self.state = RECORDING
        folder.facts["sessions"].append(self.session.facts)
        folder.facts["switches"] = sorted({*folder.facts["switches"], *switches()})
        folder.facts["free_threaded"] = environment.free_threaded()
        folder.facts["ended_unix_ns"] = None  # of a recording that repeats every N steps
        folder.save()
        notes.course(self.plan, "recording", caller.name, caller.count, folder.path)
        self._exits.guard()
        self.observers.watch_live(folder, caller, driver)
        # The time before belongs to the recorder: it is in no step, and no sample of the stacks shows it.
        caller.last_end_ns = self.held_until_ns = self.session.begin()
        self._profilers.step_begins(caller.count if number is None else number + 1)
        self.observers.resume()

    def _begin_metadata(self, caller: Caller, folder: Folder) -> None:
        """Traces runs for RunMetadata before anything else."""
        self.session.name(caller)
        self.session.begin()
        self._await_metadata(caller)
        self._exits.guard()
        notes.course(self.plan, "recording", caller.name, caller.count, folder.path)

    def _await_metadata(self, caller: Caller) -> None:
        """Traces the runs of the next steps."""
        caller.last_end_ns = None
        self.metadata.keys = self.pace.made_each_step()
        self.state = METADATA

    # --- the end -------------------------------------------------------------------------------

    def end(self, caller: Caller, cut: str = "", go_on: bool = False) -> None:
        """Stops the profilers, takes last samples, and continues with the next state. cut: what ended the
        recording early. go_on: the recording continues."""
        folder = self._open()
        lasted_ns = self.session.end(self.observers.thread_times())
        self.state = WAITING
        self.observers.pause()
        self._runs.stop(folder, lasted_ns)
        self.pieces.sample(folder)
        if not cut:  # as the program ends, its functions have returned
            self.observers.look_at_memory(folder, caller.count)
        else:
            self.session.facts["cut"] = cut
        # The profilers name a folder by the second: the next recording could replace it.
        several = self.plan.every is not None or cut or len(folder.facts["sessions"]) > 1
        folder.list_profiles(f"_{len(folder.facts['sessions'])}" if several else "")
        self.session.count(folder)
        if go_on:
            self.session.pause(lasted_ns)
            caller.last_end_ns = None
        elif cut:
            lacks, traced = self.metadata.lacks(caller.how), self.metadata.taken_before
            self.session.say_what_is_missing(self._output, cut, lacks, traced)
        self._output.save()
        self.held_until_ns = now_ns()
        if cut:
            return
        if self.metadata.lacks(caller.how):
            self._await_metadata(caller)
        else:
            self._rest(caller)

    def _rest(self, caller: Caller) -> None:
        """After a recording: waits for the next, or ends."""
        self.session.complete()
        self.metadata.taken_before = False
        caller.last_end_ns = None
        if self.plan.every is not None:
            self.pieces.close(self._open(), caller)
            self._next_at = self.session.facts["first_step"] + self.plan.every
            self.state = WAITING
        else:
            self.pieces.rest(self._open(), caller)
        # Everything is on disk before its place is announced.
        folder = self._open()
        notes.course(self.plan, "recorded", caller.name, folder.facts["recorded"]["steps"], folder.path)
        if self.plan.every is not None:
            return
        # Steps after the recording show the cost of tracing, which a short warm-up does not, and where
        # steps spend their time without it.
        if not self._over and self._after.are_wanted(caller, self.session.facts["first_step"]):
            self.state = AFTER
            return
        self._leave(caller)

    def _leave(self, caller: Caller) -> None:
        """Ends everything, but for a watch for other steps or the live view."""
        folder = self._open()
        self.observers.stop(folder)
        folder.save()
        live = self.observers.is_live
        if not self._over and (caller.how in SURE or (live and caller.how not in WEAK)):
            if not live:
                self._finish()
                return
            self.pieces.rest(self._open(), caller)
            self.state = LIVE
            return
        self.pieces.rest(self._open(), caller)
        self.hindsight = Hindsight(caller, self.plan.warmup, self._over)
        self.state = IN_DOUBT

    def start_again(self, pace: StepWatcher, call: WatchedCall) -> None:
        """Discards the recording, and records the steps that another watcher has found."""
        self.pace, self.hindsight, self._over = pace, None, False
        assert pace.anchor is not None
        folder = self._open()
        given_up = {name: self.session.facts[name] for name in ("name", "how", "steps")}
        folder.start_again({**environment.start_facts(self.plan), "given_up": given_up})
        folder.save()
        self.session.facts = {}
        self.observers.start_again()
        self.pieces.start_again()
        self._listed = False
        self._output.cost.clear()
        self._next_at = 0
        self.state = WAITING
        self.begin(pace.callers[pace.anchor], call.settle, call.number)

    def close(self, cut: str) -> None:
        """Ends running work, and writes the pieces that are written once. cut: what ends it."""
        caller = self.pace.callers.get(self.pace.anchor) if self.pace.anchor is not None else None
        folder = self._output.folder
        if self.state == RECORDING and caller is not None:
            self.end(caller, cut)
            self.metadata.stand_in(self._open(), self.session.facts)
        elif self.state == METADATA and folder is not None:
            self.metadata.keep(folder, self.session.facts, cut)
        self.state = DONE
        if folder is None:
            return
        self.pieces.rest(folder, caller)
        self.observers.stop(folder)
        self.pieces.source = None
        self._output.save()
        folder.close()
