"""Steps of TensorFlow 2: calls of tf.function from Python, and gradients of a tape where there are none."""

import importlib
import sys
import weakref
from typing import Any, Callable, Dict, Optional, Set, Tuple

from . import clocks
from .arguments import ARRAYS
from .callers import WatchedCall
from .keras import begun_batches
from .loops import Site
from .places import code_of, is_framework
from .recorder import Recorder


def watch(recorder: Recorder) -> None:
    """Reports every call of a tf.function that is not made by another one."""
    try:
        from tensorflow.python.eager.polymorphic_function import polymorphic_function as module
    except ImportError:  # before 2.12
        from tensorflow.python.eager import def_function as module
    local = recorder.local
    xla = _Xla()

    def called(
        self: Any, args: Tuple[Any, ...], kwds: Dict[str, Any], before: int, begin_ns: int, end_ns: int
    ) -> None:
        """A function was called, which had been traced so often before."""
        python = self.python_function
        code = code_of(python)
        traced = _traces(self) != before
        compiled = getattr(self, "_jit_compile", False) and xla.is_new(self, args, kwds)
        if traced or compiled:
            recorder.program.compiled += 1
            by_value = None if traced else ()
            recorder.compiles("tensorflow", self, python, code, (args, kwds), begin_ns, end_ns, by_value)
        local.function = weakref.ref(self)
        if begun_batches(local):
            return  # part of a batch of Keras, which is the step
        library = code is not None and is_framework(code.co_filename)
        recorder.step(
            WatchedCall(
                "library_function" if library else "function_call",
                ("function", *recorder.identities.of(self, code)),
                getattr(python, "__name__", type(python).__name__),
                begin_ns,
                end_ns,
                source=self,
                site=recorder.site(),
            )
        )

    _watch_calls(recorder, module.Function, called)
    _watch_traced(recorder)
    _watch_tapes(recorder)
    _watch_replicas(recorder)


def _watch_calls(recorder: Recorder, owner: Any, called: Callable[..., None]) -> None:
    """Has called(function, args, kwds, before, begin_ns, end_ns) hear of each call of a function that is not
    made by another one. before: how often it had been traced."""
    from tensorflow.python.eager import context

    local = recorder.local

    def make(call: Any) -> Any:
        def __call__(self: Any, *args: Any, **kwds: Any) -> Any:
            if not recorder.listening or getattr(local, "inside", False) or not context.executing_eagerly():
                return call(self, *args, **kwds)
            before = _traces(self)
            local.inside = True
            begin_ns = clocks.time_ns()
            try:
                result = call(self, *args, **kwds)
            finally:
                local.inside = False
            end_ns = clocks.time_ns()
            with recorder.unharmed():
                called(self, args, kwds, before, begin_ns, end_ns)
            return result

        return __call__

    recorder.patches.wrap(owner, "__call__", make)


_TRACED_IN = (
    "polymorphic_function.concrete_function",
    "polymorphic_function.monomorphic_function",  # 2.11 to 2.12
    "function",
)


def _watch_traced(recorder: Recorder) -> None:
    """Reports every call of a function that was traced before: a server calls the signatures of a saved
    model, of which there is no Python."""
    local = recorder.local
    found = None
    for name in _TRACED_IN:
        try:
            found = importlib.import_module(f"tensorflow.python.eager.{name}").ConcreteFunction
            break
        except (ImportError, AttributeError):
            continue
    if found is None:
        return

    def called(
        self: Any, args: Tuple[Any, ...], kwds: Dict[str, Any], before: int, begin_ns: int, end_ns: int
    ) -> None:
        if begun_batches(local):
            return
        caller = sys._getframe(2)  # behind the call that is watched
        recorder.step(
            WatchedCall(
                "library_function" if is_framework(caller.f_code.co_filename) else "function_call",
                ("function", *recorder.identities.of(self, None)),
                _traced_name(self.graph.name),
                begin_ns,
                end_ns,
                source=self.graph,
                site=recorder.site(),
            )
        )

    _watch_calls(recorder, found, called)


def _traced_name(graph: str) -> str:
    """What a traced function is called: signature_wrapper_serve is the signature of `serve`."""
    return graph[len(_SIGNATURE) :].lstrip("_") or "signature" if graph.startswith(_SIGNATURE) else graph


_SIGNATURE = "signature_wrapper"


def _traces(function: Any) -> int:
    """How often a tf.function has been traced; 0 where TensorFlow does not tell, as before 2.3."""
    count = getattr(function, "experimental_get_tracing_count", None)
    return int(count()) if count is not None else 0


class _Xla:
    """The shapes for which XLA has compiled a function. One trace serves several where its signature leaves
    sizes open; a program of XLA does not."""

    def __init__(self) -> None:
        from tensorflow.python.util import nest

        self._flatten = nest.flatten
        self._shapes: weakref.WeakKeyDictionary[Any, Set[int]] = weakref.WeakKeyDictionary()

    def is_new(self, function: Any, args: Tuple[Any, ...], kwds: Dict[str, Any]) -> bool:
        """Whether the function was called with these shapes for the first time. Asked at every call, so it
        looks at shapes alone: to describe the arguments takes up to ten times as long."""
        shapes = hash(tuple(_shape(argument) for argument in self._flatten((args, kwds))))
        known = self._shapes.setdefault(function, set())
        if shapes in known:
            return False
        known.add(shapes)
        return True


def _shape(value: Any) -> Optional[Tuple[Any, Any]]:
    """Shape and dtype of an array; None of anything else, whose attributes may run code of the program."""
    if type(value).__module__.partition(".")[0] not in ARRAYS:
        return None
    return getattr(value, "shape", None), getattr(value, "dtype", None)


def _watch_tapes(recorder: Recorder) -> None:
    """Reports every gradient that the program takes op by op: a loop without tf.function and without a
    dataset has nothing else that is called once in each step."""
    from tensorflow.python.eager import backprop
    from tensorflow.python.ops.resource_variable_ops import ResourceVariable

    local, watched = recorder.local, _watching(recorder)
    latest: Dict[object, int] = {}
    """When a mark was seen last, by its line."""
    begun: Dict[Site, int] = {}
    """When a gradient was first asked for, by the line that asks."""

    def marks(what: str, name: str, site: Site, begin_ns: Optional[int] = None) -> None:
        """A step goes from one mark to the next: apply the gradient, then run forward again. begin_ns: where
        the first step begins, if that is known."""
        now = clocks.time_ns()
        last = latest.get((what, site), begin_ns)
        latest[what, site] = now
        if site.at and last is not None:
            recorder.step(WatchedCall("gradient", (what, site), name, last, now, begin_ns=last, site=site))

    def make(gradient: Any) -> Any:
        def watched_tape(self: Any, *args: Any, **kwds: Any) -> Any:
            if watched():
                with recorder.unharmed():
                    local.gradient_site = site = recorder.site()
                    marks("gradient", "gradients of a tape", site)
                    begun.setdefault(site, latest["gradient", site])
            return gradient(self, *args, **kwds)

        return watched_tape

    def make_update(update: Any) -> Any:
        def watched_variable(self: Any, *args: Any, **kwds: Any) -> Any:
            inner = getattr(local, "gradient_site", None)
            if inner is not None and watched():
                # A loop that adds up gradients is part of a step, which ends with the update behind it.
                local.gradient_site = None
                with recorder.unharmed():
                    site = recorder.site()
                    if len(site.loops) < len(inner.loops) and inner.loops[: len(site.loops)] == site.loops:
                        marks("update", "updates of variables", site, begun[inner])
            return update(self, *args, **kwds)

        return watched_variable

    recorder.patches.wrap(backprop.GradientTape, "gradient", make)
    for name in ("assign", "assign_add", "assign_sub"):
        recorder.patches.wrap(ResourceVariable, name, make_update)


def _watch_replicas(recorder: Recorder) -> None:
    """Reports what a strategy runs op by op: each call starts its replicas as new threads, and the
    gradients of none of them mark a loop."""
    from tensorflow.python.distribute import distribute_lib

    watched = _watching(recorder)
    owner = getattr(distribute_lib, "StrategyBase", None)
    if not hasattr(owner, "run"):
        return  # before 2.2

    def make(run: Any) -> Any:
        def watched_run(self: Any, fn: Any, *args: Any, **kwds: Any) -> Any:
            if not watched():
                return run(self, fn, *args, **kwds)
            begin_ns = clocks.time_ns()
            result = run(self, fn, *args, **kwds)
            end_ns = clocks.time_ns()
            with recorder.unharmed():
                key = ("replicas", *recorder.identities.of(fn, code_of(fn)))
                name, site = getattr(fn, "__name__", type(fn).__name__), recorder.site()
                recorder.step(WatchedCall("function_call", key, name, begin_ns, end_ns, site=site))
            return result

        return watched_run

    recorder.patches.wrap(owner, "run", make)


def _watching(recorder: Recorder) -> Callable[[], bool]:
    """Tells whether what the program calls op by op may be a step: it is not within a function or a batch."""
    from tensorflow.python.eager import context

    def watched() -> bool:
        inside = getattr(recorder.local, "inside", False) or begun_batches(recorder.local)
        return recorder.listening and not inside and context.executing_eagerly()

    return watched


def graph_of(function: Any) -> Any:
    """The graph of the last trace of a tf.function, or None."""
    if hasattr(function, "_list_all_concrete_functions"):
        traces = function._list_all_concrete_functions()
    else:  # TensorFlow 2.0 to 2.2
        defined = [getattr(function, name, None) for name in ("_stateful_fn", "_stateless_fn")]
        traces = [trace for made in defined if made for trace in made._function_cache.primary.values()]
    return traces[-1].graph if traces else None
