"""Steps of TensorFlow 1: Session.run, with RunMetadata of some of them after the XPlane.

RunMetadata is taken of steps of their own, because tracing them so fully would lengthen the steps in the
XPlane, and on a GPU both want the same tracer.
"""

import weakref
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from . import clocks
from .callers import WatchedCall
from .folder import Folder
from .log_filter import quiet
from .loops import NOWHERE, Site
from .recorder import Recorder

MOST_SIGNATURES = 1000
"""Most different sets of fetches that are remembered for a session."""


def watch(recorder: Recorder) -> None:
    """Reports every run of a session; MonitoredSession and Keras 1 end here, too."""
    from tensorflow.python.client import session

    local = recorder.local
    tracer = Tracer(recorder.plan.state)
    graphs, sessions = Graphs(), Sessions()

    def make(run: Any) -> Any:
        def run_(
            self: Any, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
        ) -> Any:
            if not recorder.listening or getattr(local, "inside", False):
                return run(self, fetches, feed_dict, options, run_metadata)
            traced, step = False, 0
            key: Tuple[Any, ...] = ()
            site: Site = NOWHERE
            with recorder.unharmed():
                site = recorder.site()
                asked = graphs.asked(self, fetches, site)
                key = (sessions.number(self, asked), asked)
                traced_by_user = traces(options)
                if traced_by_user:
                    recorder.step_aside()
                traced = (
                    recorder.metadata_wanted(key, site)
                    and not traced_by_user
                    and not recorder.profilers.busy(("tensorflow",))
                )
                step = recorder.next_step() if traced else 0
            local.inside = True
            begin_ns = clocks.time_ns()
            try:
                if traced:
                    result = tracer.run(run, self, fetches, feed_dict, options, run_metadata)
                else:
                    result = run(self, fetches, feed_dict, options, run_metadata)
            finally:
                local.inside = False
            end_ns = clocks.time_ns()
            with recorder.unharmed():
                before, prepared, ops = graphs.prepared(self, fetches, feed_dict)
                if prepared:
                    recorder.prepares(begin_ns, end_ns, before, ops)
                taken = tracer.taken()
                if taken is not None and recorder.folder is not None:
                    tracer.save(recorder.folder, step, taken)
                    recorder.course.metadata.saved = True
                name = f"run({signature(fetches)[:80]})"
                recorder.step(
                    WatchedCall("session_run", key, name, begin_ns, end_ns, source=self.graph, site=site)
                )
            return result

        return run_

    recorder.patches.wrap(session.BaseSession, "run", make)


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


def traces(options: Any) -> bool:
    """True for RunOptions with which the program itself traces: such runs are left alone."""
    return options is not None and options.trace_level != 0


class Tracer:
    """Runs steps with FULL_TRACE and keeps their RunMetadata."""

    def __init__(self, state: Optional[str] = None) -> None:
        self._state = state
        self._taken: Any = None
        self._partitions: List[bytes] = []

    def run(
        self, run: Any, session: Any, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        """As Session.run. The program's own RunMetadata gets what it would have got."""
        from tensorflow.core.protobuf import config_pb2
        from tensorflow.python.framework import errors

        asked = config_pb2.RunOptions()
        if options is not None:
            asked.CopyFrom(options)
        own_partitions = asked.output_partition_graphs
        asked.trace_level = config_pb2.RunOptions.FULL_TRACE
        asked.output_partition_graphs = True
        taken = config_pb2.RunMetadata()
        try:
            with quiet(self._state):
                result = run(session, fetches, feed_dict, asked, taken)
        except errors.AlreadyExistsError as error:
            if "profiling session" not in str(error):
                raise
            # Another profiler, that nobody has told of; TensorFlow refused before anything ran.
            return run(session, fetches, feed_dict, options, run_metadata)
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

    def save(self, folder: Folder, step: int, taken: Any) -> None:
        """Writes the RunMetadata, and the partition graphs when they differ from those written last."""
        folder.add(f"run_metadata/step_{step}.pb", "run_metadata", taken.SerializeToString(), step=step)
        partitions = [graph.SerializeToString(deterministic=True) for graph in taken.partition_graphs]
        if partitions != self._partitions:
            self._partitions = partitions
            for number, data in enumerate(partitions):
                folder.add(f"graphs/partition_{step}_{number}.pb", "partition_graph", data, step=step)
        folder.save()
