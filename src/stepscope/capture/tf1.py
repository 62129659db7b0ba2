"""Steps of TensorFlow 1: Session.run, with RunMetadata of some of them after the XPlane.

RunMetadata is taken of steps of their own, because tracing them so fully would lengthen the steps in the
XPlane, and on a GPU both want the same tracer.
"""

import weakref
from typing import Any, Callable, Tuple

from . import clocks
from .arrays import array_bytes
from .callers import WatchedCall
from .loops import NOWHERE, Site
from .metadata_tracer import Tracer, traces
from .phases import phase
from .recorder import Recorder
from .session_signatures import Graphs, Sessions, signature

Asked = Tuple[Any, Any, Any, bool]
"""Of a run: session, fetches, what is fed, and whether the program traces it itself."""


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
