"""Steps of TensorFlow 1: Session.run, with RunMetadata of some of them after the XPlane.

RunMetadata is taken of steps of their own, because tracing them so fully would lengthen the steps in the
XPlane, and on a GPU both want the same tracer.
"""

import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Set, Tuple

from . import clocks
from .callers import WatchedCall
from .folder import Folder
from .log_filter import quiet
from .loops import NOWHERE, Site
from .phases import phase
from .recorder import Recorder

Asked = Tuple[Any, Any, Any, bool]
"""Of a run: session, fetches, what is fed, and whether the program traces it itself."""
MOST_SIGNATURES = 1000
"""Most different sets of fetches that are remembered for a session."""


def watch(recorder: Recorder) -> None:
    """Reports every run of a session; MonitoredSession ends here, too. Keras 1 makes callables of its
    session, and calls those."""
    from tensorflow.python.client import session

    runs = WatchedRuns(recorder)
    recorder.patches.wrap(session.BaseSession, "run", runs.of_sessions)
    made = getattr(session.BaseSession, "_Callable", None)
    if made is not None:
        recorder.patches.wrap(made, "__init__", runs.made)
        recorder.patches.wrap(made, "__call__", runs.of_callables)


class WatchedRuns:
    """Wrappers of what runs a session: each reports its runs, and traces those that give RunMetadata."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._local = recorder.local
        self._tracer = Tracer(recorder.plan.state)
        self._graphs, self._sessions = Graphs(), Sessions()
        self._options: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """What each callable runs."""

    def of_sessions(self, run: Any) -> Any:
        """Wraps Session.run."""

        def run_(
            session: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
        ) -> Any:
            return self._around(
                (session, fetches, feed_dict, traces(options)),
                lambda: run(session, fetches, feed_dict, options, run_metadata),
                lambda: self._tracer.run(run, session, fetches, feed_dict, options, run_metadata),
                feed_dict,
            )

        return run_

    def made(self, original: Any) -> Any:
        """Wraps what makes a callable."""

        def init(callable_: Any, session: Any, options: Any) -> None:
            original(callable_, session, options)
            with self._recorder.unharmed():
                if self._recorder.listening:
                    self._options[callable_] = options

        return init

    def of_callables(self, call: Any) -> Any:
        """Wraps the call of a callable."""

        def call_(callable_: Any, *args: Any, **kwargs: Any) -> Any:
            options = self._options.get(callable_)
            if options is None:
                return call(callable_, *args, **kwargs)
            session = callable_._session
            fetches = [*options.fetch, *options.target]
            return self._around(
                (session, fetches, list(options.feed), traces(options.run_options)),
                lambda: call(callable_, *args, **kwargs),
                lambda: self._tracer.call(call, callable_, options, args, kwargs),
                args,
            )

        return call_

    def _around(self, asked: Asked, plain: Callable[[], Any], traced: Callable[[], Any], values: Any) -> Any:
        """Makes a run of a session in one of two ways, and reports it. values: those that are fed."""
        recorder, local = self._recorder, self._local
        if not recorder.listening or getattr(local, "inside", False):
            return plain()
        session, fetches, fed, traced_by_user = asked
        wanted, step = False, 0
        key: Tuple[Any, ...] = ()
        site: Site = NOWHERE
        of_phase = ""
        with recorder.unharmed():
            site = recorder.site()
            of_phase = phase()
            signed = self._graphs.asked(session, fetches, site)
            key = (self._sessions.number(session, signed), signed)
            if traced_by_user:
                recorder.step_aside()
            wanted = (
                recorder.metadata_wanted(key, site)
                and not traced_by_user
                and not recorder.profilers.busy(("tensorflow",))
            )
            step = recorder.next_step() if wanted else 0
        local.inside = True
        begin_ns = clocks.time_ns()
        try:
            result = traced() if wanted else plain()
        finally:
            local.inside = False
        end_ns = clocks.time_ns()
        with recorder.unharmed():
            before, prepared, ops = self._graphs.prepared(session, fetches, fed)
            if prepared:
                recorder.prepares(begin_ns, end_ns, before, ops)
            taken = self._tracer.taken()
            if taken is not None and recorder.folder is not None:
                self._tracer.keep(step, taken)
                recorder.course.metadata.traced += 1
            if recorder.folder is not None and recorder.marks_step(key, site):
                self._tracer.save_kept(recorder.folder)
            name = f"run({signature(fetches)[:80]})"
            moved = array_bytes((values,)), array_bytes((result,))
            recorder.step(
                WatchedCall(
                    "session_run",
                    key,
                    name,
                    begin_ns,
                    end_ns,
                    source=session.graph,
                    site=site,
                    moved=moved,
                    phase=of_phase,
                )
            )
        return result


class Sessions:
    """Numbers of sessions. One that runs what a closed one ran before goes on with its steps: an Estimator
    makes a session for each call of `train`."""

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, Dict[str, int]] = weakref.WeakKeyDictionary()
        self._latest: Dict[str, Tuple[Any, int]] = {}
        """A reference to the last session that began to run it, and its number."""
        self._next = 0

    def number(self, session: Any, asked: str) -> int:
        """The number of a session that runs something. asked: names of what is fetched."""
        try:
            known = self._numbers.setdefault(session, {})
        except TypeError:  # a session of the program's own kind
            return id(session)
        if asked not in known:
            if len(known) >= MOST_SIGNATURES or len(self._latest) >= MOST_SIGNATURES:
                return id(session)
            self._next += 1
            known[asked] = self._number_before(asked) or self._next
            self._latest[asked] = weakref.ref(session), known[asked]
        return known[asked]

    def _number_before(self, asked: str) -> Optional[int]:
        """The number of the session that ran it before, if that is closed."""
        if asked not in self._latest:
            return None
        reference, number = self._latest[asked]
        before = reference()
        return number if before is None or getattr(before, "_closed", False) else None


class Graphs:
    """Which runs make a session prepare its graph: for values that were not asked for before, or because
    the graph has grown."""

    def __init__(self) -> None:
        self._seen: weakref.WeakKeyDictionary[Any, Tuple[int, Set[str]]] = weakref.WeakKeyDictionary()
        self._lines: weakref.WeakKeyDictionary[Any, Dict[Site, Tuple[Set[str], str]]] = (
            weakref.WeakKeyDictionary()
        )
        """What the first run of a line fetched, by name, and its signature."""

    def asked(self, session: Any, fetches: Any, site: Site) -> str:
        """The signature of a run: where the graph has grown since the last one, that of the first run of the
        same line, if both fetch some of the same. A program that makes ops in its loop runs its step with
        them, and no run is like another."""
        whole = signature(fetches)
        try:
            before = self._seen.get(session, (None, None))[0]
            grown = before is not None and int(session.graph.version) != before
            lines = self._lines.setdefault(session, {})
        except (TypeError, AttributeError):  # a session of the program's own kind
            return whole
        if site not in lines:
            if len(lines) < MOST_SIGNATURES:
                lines[site] = set(_names(fetches)), whole
            return whole
        first, asked = lines[site]
        return whole if not grown or first.isdisjoint(_names(fetches)) else asked

    def prepared(self, session: Any, fetches: Any, feed_dict: Any) -> Tuple[Optional[int], bool, int]:
        """After a run: how many ops the graph had at the run before, whether it was prepared, and how many it
        has now."""
        try:
            before, known = self._seen.get(session, (None, set()))
            ops = int(session.graph.version)
            fed = signature(sorted(feed_dict, key=signature)) if feed_dict else ""
            asked = f"{signature(fetches)} {fed}"
            new = asked not in known
            if new and len(known) < MOST_SIGNATURES:
                known.add(asked)
            self._seen[session] = ops, known
        except (TypeError, AttributeError):  # a session of the program's own kind
            return None, False, 0
        return before, new or ops != before, ops


def _names(fetches: Any) -> Iterator[str]:
    """The names of all that is fetched."""
    if isinstance(fetches, (list, tuple)):
        for fetch in fetches:
            yield from _names(fetch)
    elif isinstance(fetches, dict):
        yield from _names(list(fetches.values()))
    else:
        yield signature(fetches)


def signature(fetches: Any) -> str:
    """Names of what is fetched, the same for the same fetches."""
    if isinstance(fetches, (list, tuple)):
        return "[" + ",".join(map(signature, fetches)) + "]"
    if isinstance(fetches, dict):
        return "{" + ",".join(signature(fetches[name]) for name in fetches) + "}"
    if isinstance(fetches, str):
        return fetches
    try:
        return str(fetches.name)
    except Exception:  # noqa: BLE001  a fetch of the program's own kind: its type will do
        return type(fetches).__name__


def array_bytes(values: Iterable[Any]) -> int:
    """The bytes of the arrays and scalars of NumPy among values, in lists and dictionaries as well. What else
    is fed, such as a list of numbers, is not looked into: it may be long, or the program's own kind."""
    found = 0
    for value in values:
        if type(value).__module__ == "numpy":
            found += int(value.nbytes)
        elif isinstance(value, tuple) or (isinstance(value, list) and len(value) <= MOST_SIGNATURES):
            found += array_bytes(value)
        elif isinstance(value, dict):
            found += array_bytes(value.values())
    return found


def traces(options: Any) -> bool:
    """True for RunOptions with which the program itself traces: such runs are left alone."""
    return options is not None and options.trace_level != 0


def full_trace(options: Any = None) -> Any:
    """RunOptions with which a run is traced in full; everything else is as in those that are given."""
    from tensorflow.core.protobuf import config_pb2

    full = config_pb2.RunOptions()
    if options is not None:
        full.CopyFrom(options)
    full.trace_level = full.FULL_TRACE
    full.output_partition_graphs = True
    return full


class Tracer:
    """Runs steps with FULL_TRACE and keeps their RunMetadata."""

    def __init__(self, state: Optional[str] = None) -> None:
        self._state = state
        self._taken: Any = None
        self._kept: Optional[Tuple[int, Any]] = None
        """The number of a step, and what was taken of its runs so far."""
        self._partitions: List[bytes] = []
        self._tracing: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """Of a callable the one that traces."""

    def run(
        self, run: Any, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        """As Session.run. The program's own RunMetadata gets what it would have got."""
        asked = full_trace(options)
        return self._take(
            lambda taken: run(session, fetches, feed_dict, asked, taken),
            lambda: run(session, fetches, feed_dict, options, run_metadata),
            run_metadata,
            options is not None and options.output_partition_graphs,
        )

    def call(
        self, call: Any, callable_: Any, options: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any]
    ) -> Any:
        """As a callable of a session. What it traces is fixed as it is made: another one is."""
        if callable_ not in self._tracing:
            asked = type(options)()
            asked.CopyFrom(options)
            asked.run_options.CopyFrom(full_trace(options.run_options))
            self._tracing[callable_] = type(callable_)(callable_._session, asked)
        tracing = self._tracing[callable_]
        return self._take(
            lambda taken: call(tracing, *args, **{**kwargs, "run_metadata": taken}),
            lambda: call(callable_, *args, **kwargs),
            kwargs.get("run_metadata"),
            options.run_options.output_partition_graphs,
        )

    def _take(
        self, traced: Callable[[Any], Any], plain: Callable[[], Any], run_metadata: Any, own_partitions: bool
    ) -> Any:
        """Makes a run that fills a RunMetadata; a plain one where TensorFlow refuses."""
        from tensorflow.core.protobuf import config_pb2
        from tensorflow.python.framework import errors

        taken = config_pb2.RunMetadata()
        try:
            with quiet(self._state):
                result = traced(taken)
        except errors.AlreadyExistsError as error:
            if "profiling session" not in str(error):
                raise
            # Another profiler is at work; TensorFlow refused before anything ran.
            return plain()
        if run_metadata is not None:
            run_metadata.CopyFrom(taken)
            run_metadata.ClearField("step_stats")
            if not own_partitions:
                run_metadata.ClearField("partition_graphs")
        self._taken = taken
        return result

    def taken(self) -> Any:
        """The RunMetadata of the last run."""
        taken, self._taken = self._taken, None
        return taken

    def keep(self, step: int, taken: Any) -> None:
        """Keeps the RunMetadata of a run, with that of the other runs of its step."""
        if self._kept is None or self._kept[0] != step:
            self._kept = step, taken
        else:
            self._kept[1].MergeFrom(taken)

    def save_kept(self, folder: Folder) -> None:
        """Writes what was kept of a step, if there is any."""
        kept, self._kept = self._kept, None
        if kept is not None:
            self.save(folder, *kept)

    def save(self, folder: Folder, step: int, taken: Any) -> None:
        """Writes the RunMetadata, and the partition graphs when they differ from those written last."""
        folder.add(f"run_metadata/step_{step}.pb", "run_metadata", taken.SerializeToString(), step=step)
        partitions = [graph.SerializeToString(deterministic=True) for graph in taken.partition_graphs]
        if partitions != self._partitions:
            self._partitions = partitions
            for number, data in enumerate(partitions):
                folder.add(f"graphs/partition_{step}_{number}.pb", "partition_graph", data, step=step)
        folder.save()
