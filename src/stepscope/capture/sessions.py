"""Several steps of TensorFlow 1 sessions, each with its own files: a hook and a wrapper."""

import sys
import time
from importlib import import_module
from typing import Any, Callable, Container, Optional, Type

from . import attach, clocks, environment
from .folder import Folder
from .metadata_tracer import Tracer, full_trace, traces
from .plan import PIECES, WARMUP, RecordingPlan
from .profiler import now_ns
from .program import Program


class Chosen:
    """Which steps to trace: those in a container of numbers, every N steps, or every N seconds."""

    def __init__(
        self, steps: Optional[Container[int]], every_steps: Optional[int], every_seconds: Optional[float]
    ) -> None:
        given = [option for option in (steps, every_steps, every_seconds) if option is not None]
        if len(given) != 1:
            raise ValueError("give one of steps, every_steps and every_seconds")
        if every_steps is not None and every_steps < 1:
            raise ValueError(f"every_steps must be 1 or more, not {every_steps!r}")
        if every_seconds is not None and not every_seconds > 0:
            raise ValueError(f"every_seconds must be above 0, not {every_seconds!r}")
        self._steps = steps
        self._every_steps = every_steps
        self._every_seconds = every_seconds
        self._first: Optional[int] = None
        self._last: Optional[float] = None

    def wants(self, step: int) -> bool:
        """True when this step is to be traced."""
        if self._steps is not None:
            return step in self._steps
        if self._first is None:
            self._first = step
        if self._every_steps is not None:
            # Not the very first, in which everything is set up.
            return step > self._first and (step - self._first) % self._every_steps == 0
        now = time.monotonic()
        if self._last is None:
            self._last = now
            return False
        if now - self._last >= (self._every_seconds or 0):
            self._last = now
            return True
        return False


class Traces:
    """A capture folder of traced steps."""

    def __init__(self, out: str, show_dataflow: bool, show_memory: bool, partition_graphs: bool) -> None:
        attach.check_empty(out)
        self._show_dataflow = show_dataflow
        self._show_memory = show_memory
        self._partition_graphs = partition_graphs
        self._out = out
        self._folder: Optional[Folder] = None
        self.tracer = Tracer()

    def save(self, step: int, graph: Any, taken: Any, begin_ns: int, end_ns: int) -> None:
        """Writes the traces of a step: RunMetadata, timeline, partition graphs; and once, graph and op
        log."""
        folder = self._open()
        begin = clocks.perf_counter_ns()
        first = not folder.facts["recorded"]["steps"]
        if first:
            attach.graph(folder, None, graph)
            attach.writer_of_op_logs(Program())(folder, None, graph)
        if not self._partition_graphs:
            taken.ClearField("partition_graphs")
        self.tracer.save(folder, step, taken)
        self._timeline(folder, step, taken)
        folder.line(
            "steps.ndjson",
            "steps",
            {
                "step": step,
                "begin_unix_ns": begin_ns,
                "end_unix_ns": end_ns,
                "how": "session_run",
                "recorded": True,
                "run_metadata": True,
            },
        )
        folder.facts["recorded"]["steps"] += 1
        folder.facts["recorded"]["sessions"] += 1
        folder.facts["ended_unix_ns"] = now_ns()
        folder.facts["cost"]["saving_ns"] = (
            folder.facts["cost"].get("saving_ns", 0) + clocks.perf_counter_ns() - begin
        )
        folder.facts["cost"]["profiled_ns"] = folder.facts["cost"].get("profiled_ns", 0) + end_ns - begin_ns
        folder.save()

    def _open(self) -> Folder:
        if self._folder is None:
            pieces = ("run_metadata", "graph", "op_log")
            facts = environment.start_facts(RecordingPlan(self._out, pieces=pieces))
            facts["framework"] = ["tf1_session"]
            self._folder = Folder(self._out, facts)
        return self._folder

    def _timeline(self, folder: Folder, step: int, taken: Any) -> None:
        if not (self._show_dataflow or self._show_memory):
            return
        from tensorflow.python.client import timeline

        text = timeline.Timeline(taken.step_stats).generate_chrome_trace_format(
            show_dataflow=self._show_dataflow, show_memory=self._show_memory
        )
        folder.add(f"run_metadata/timeline-{step}.json", "timeline", text.encode("utf-8"), step=step)


class Session:
    """A tf.compat.v1.Session (or MonitoredSession) of which some runs are traced.

    session: what to wrap; everything but `run` is its own. steps: numbers of runs of this wrapper, from 0 on,
    such as a list or a range. show_dataflow, show_memory: also a timeline of each step, with these shown.
    Runs that the program traces itself are left alone.
    """

    def __init__(
        self,
        session: Any,
        out: str,
        steps: Optional[Container[int]] = None,
        every_steps: Optional[int] = None,
        every_seconds: Optional[float] = None,
        show_dataflow: bool = False,
        show_memory: bool = False,
        partition_graphs: bool = True,
    ) -> None:
        self._session = session
        self._chosen = Chosen(steps, every_steps, every_seconds)
        self._traces = Traces(str(out), show_dataflow, show_memory, partition_graphs)
        self._runs = 0

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """As Session.run."""
        number, self._runs = self._runs, self._runs + 1
        run: Callable[..., Any] = type(self._session).run
        if traces(options) or not self._chosen.wants(number):
            return run(self._session, fetches, feed_dict, options, run_metadata)
        begin_ns = now_ns()
        tracer = self._traces.tracer
        result = tracer.run(run, self._session, fetches, feed_dict, options, run_metadata)
        end_ns = now_ns()
        self._traces.save(number, self._session.graph, tracer.taken(), begin_ns, end_ns)
        return result

    def __enter__(self) -> "Session":
        self._session.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._session.__exit__(*error)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)


def session_hook() -> Type[Any]:
    """The class SessionHook, made of TensorFlow's own when it is first asked for."""
    import tensorflow

    v1 = tensorflow.compat.v1
    hook: Any = v1.train.SessionRunHook

    class SessionHook(hook):  # type: ignore[misc]
        """A hook for MonitoredSession that traces several steps into a capture folder.

        out: a folder, new or empty. steps: numbers of global steps, such as a list or a range; or every_steps
        or every_seconds. Without a global step in the graph, runs are numbered from 0 on. show_dataflow,
        show_memory: also a timeline of each step, with these shown.
        """

        def __init__(
            self,
            out: str,
            steps: Optional[Container[int]] = None,
            every_steps: Optional[int] = None,
            every_seconds: Optional[float] = None,
            show_dataflow: bool = False,
            show_memory: bool = False,
            partition_graphs: bool = True,
        ) -> None:
            self._chosen = Chosen(steps, every_steps, every_seconds)
            self._traces = Traces(str(out), show_dataflow, show_memory, partition_graphs)
            self._next = 0
            self._begin_ns = 0
            self._traced = False
            self._global_step: Any = None

        def begin(self) -> None:
            self._global_step = v1.train.get_global_step()

        def after_create_session(self, session: Any, coord: Any) -> None:
            if self._global_step is not None:
                self._next = int(session.run(self._global_step))

        def before_run(self, run_context: Any) -> Any:
            self._traced = self._chosen.wants(self._next) and not traces(run_context.original_args.options)
            options = full_trace() if self._traced else None
            fetches = {} if self._global_step is None else {"step": self._global_step}
            self._begin_ns = now_ns()
            return v1.train.SessionRunArgs(fetches, options=options)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            end_ns = now_ns()
            if self._traced:
                graph = run_context.session.graph
                taken = run_values.run_metadata
                self._traces.save(self._next, graph, taken, self._begin_ns, end_ns)
            self._next += 1
            if self._global_step is not None:
                # The step that the run saw may be the one before or after its own update; it never goes back.
                self._next = max(self._next, int(run_values.results["step"]))

    return SessionHook


def keras_callback() -> Type[Any]:
    """The class KerasCallback, made of the callback of the Keras in use when it is first asked for."""
    from .recording import record

    # The Keras of the program: tf.keras may be another one than keras.
    tensorflow = sys.modules.get("tensorflow")
    keras: Any = tensorflow.keras if tensorflow is not None else import_module("keras")
    base: Any = keras.callbacks.Callback

    class KerasCallback(base):  # type: ignore[misc]
        """A callback that records batches of `fit` into a capture folder; options as of `record`."""

        def __init__(
            self,
            out: str,
            warmup: int = WARMUP,
            steps: Optional[int] = None,
            seconds: Optional[float] = None,
            every: Optional[int] = None,
            pieces: Any = PIECES,
        ) -> None:
            super().__init__()
            self._recording = record(out, warmup, steps, seconds, every, pieces)
            # At once, so that the lines of a pipeline made after this are known.
            self._recording.__enter__()

        def on_train_end(self, logs: Any = None) -> None:
            self._recording.stop()

    return KerasCallback
