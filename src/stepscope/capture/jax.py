"""Steps of JAX: calls of functions that the program itself has jitted; ops where it jits none.

Compiled calls run in C++ and never come by Python, unless JAX is given no fast path for a function. That is
withheld from the program's own functions while a recording is wanted (a call then costs 70 to 400 us more),
and granted at their next call after. Functions that a step calls often have it as soon as it is known that
another call marks the steps: steps of many small calls would take several times as long.
"""

import inspect
import os
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any, Callable, Collection, Dict, Optional, Set, Tuple

from . import clocks
from .callers import WatchedCall
from .disabled_jit import PlainCalls
from .eager_gradients import EagerGradients
from .places import code_of, is_framework
from .recorder import Recorder

_FAST_PATHS = ("_cpp_pjit_cache_fun_only", "_cpp_pjit_cache_explicit_attributes", "_cpp_pjit_cache")
_OFTEN = 4
"""A function that is called more often than this between two steps is watched no longer. One that is called
less tells where the loop of the steps is over, and costs little."""
_CALLS = ("jit", "pjit")
"""Primitives that call a jitted function, which is seen by itself."""
_HELPERS = ("_run_python_pjit", "_python_pjit_helper")


def watch(recorder: Recorder) -> None:
    """Reports every call of a function jitted by the program."""
    import jax
    from jax._src import api, core, pjit

    helper = next((name for name in _HELPERS if hasattr(pjit, name)), None)
    if helper is None or not hasattr(pjit, "_get_fastpath_data"):
        recorder.problem(
            "steps of JAX cannot be seen",
            f"JAX {jax.__version__} calls jitted functions in another way than those known",
            "mark the steps with stepscope.capture.step(i)",
        )
        return
    plain = PlainCalls(recorder, jax)
    ops = _Ops(recorder, jax, plain)
    signature = inspect.signature(getattr(pjit, helper))
    clean = getattr(core, "trace_state_clean", lambda: True)
    gradients = EagerGradients(recorder, jax, clean)
    calls = _JittedCalls(recorder, jax, pjit, ops, signature, clean, gradients)
    recorder.patches.wrap(pjit, helper, calls.watched_helper)
    recorder.patches.wrap(pjit, "_get_fastpath_data", calls.watched_path)
    ops.watch(core)
    gradients.watch(api, lambda: not plain.are_made(), calls.step_seen)
    _watch_jit(recorder, pjit, plain)
    _watch_compilation(recorder)
    _stay_out_of_places()

    recorder.restoring += [calls.forget, plain.forget]


class _JittedCalls:
    """Calls of jitted functions, as the helper sees them through which all pass that have no fast path."""

    def __init__(
        self,
        recorder: Recorder,
        jax: Any,
        pjit: Any,
        ops: "_Ops",
        signature: inspect.Signature,
        clean: Callable[[], bool],
        gradients: EagerGradients,
    ) -> None:
        """signature: of the helper. clean: nothing is being traced. gradients: what is called within one is
        part of it."""
        self._recorder = recorder
        self._local = recorder.local
        self._jax = jax
        self._pjit = pjit
        self._ops = ops
        self._signature = signature
        self._function_at = list(signature.parameters).index("fun")
        self._clean = clean
        self._gradients = gradients
        self._beside: Dict[Tuple[Any, ...], int] = {}
        """How often functions were called since the last step ended that do not mark it."""
        self._often: Set[Tuple[Any, ...]] = set()
        """Those that are called often."""

    def step_seen(self) -> None:
        """A call was seen that is a better mark of a step than ops."""
        if self._ops.end():
            self.forget()

    def forget(self) -> None:
        """JAX remembers that there was no fast path. What was compiled is kept elsewhere, and stays."""
        for name in _FAST_PATHS:
            cache = getattr(self._pjit, name, None)
            if cache is not None:
                cache.clear()

    def watched_helper(self, run: Any) -> Any:
        """The helper, watched."""

        def helper(*args: Any, **kwargs: Any) -> Any:
            self._local.jitted = None
            function = args[self._function_at]
            if not self._recorder.listening or not self._clean():
                return run(*args, **kwargs)
            begin_ns = clocks.time_ns()
            result = run(*args, **kwargs)
            end_ns = clocks.time_ns()
            with self._recorder.unharmed():
                self._called(function, args, kwargs, begin_ns, end_ns, result[1])
            return result

        return helper

    def watched_path(self, get: Any) -> Any:
        """What gives a call its fast path: none, while somebody listens."""

        def get_fastpath_data(*args: Any, **kwargs: Any) -> Any:
            function, self._local.jitted = getattr(self._local, "jitted", None), None
            if function is not None and self._recorder.listening:
                return None
            return get(*args, **kwargs)

        return get_fastpath_data

    def _called(
        self,
        function: Any,
        args: Tuple[Any, ...],
        kwargs: Dict[str, Any],
        begin_ns: int,
        end_ns: int,
        outputs: Any,
    ) -> None:
        """A jitted function was called. args, kwargs: of the helper that calls it."""
        recorder, local = self._recorder, self._local
        self._compiled(function, args, kwargs, end_ns)
        if self._gradients.are_taken():
            return
        if is_framework(_file(function)):
            name = getattr(function, "__name__", "")
            if self._ops.wanted() and not self._is_often_beside("jax_op", "op", name):
                local.jitted = function
                self._ops.saw(name, begin_ns, end_ns, outputs)
            return
        key = ("jit", *recorder.identities.of(function, code_of(function)))
        if self._is_often_beside("jax", *key):
            return
        local.jitted = function
        self.step_seen()
        recorder.step(
            WatchedCall(
                "jax",
                key,
                getattr(function, "__name__", type(function).__name__),
                begin_ns,
                end_ns,
                source=None,
                settle=lambda: self._jax.block_until_ready(outputs),
                site=recorder.site(),
            )
        )

    def _is_often_beside(self, *key: Any) -> bool:
        """Whether another function marks the steps, or another op, and this one is called often in each: it
        has its fast path. Where ops mark them, the first function that the program jits may be a better
        mark. key: begins with the kind of call."""
        recorder = self._recorder
        anchor = recorder.pace.anchor
        if anchor is None or recorder.in_doubt or (anchor[0], anchor[-1]) != (key[0], threading.get_ident()):
            return False
        if anchor[: len(key)] == key:
            self._beside.clear()
            return False
        if key not in self._often:
            self._beside[key] = self._beside.get(key, 0) + 1
            if self._beside[key] <= _OFTEN:
                return False
            self._often.add(key)
            self.forget()
        return True

    def _compiled(self, function: Any, args: Tuple[Any, ...], kwargs: Dict[str, Any], end_ns: int) -> None:
        """Tells of what was traced or compiled since the last call of a jitted function."""
        local = self._local
        began_ns, local.compile_began_ns = getattr(local, "compile_began_ns", None), None
        if began_ns is None:
            return
        bound = self._signature.bind(*args, **kwargs).arguments
        call = bound.get("args", ()), bound.get("kwargs", {})
        # The frame that called the helper knows which arguments are static.
        info = bound.get("jit_info") or sys._getframe(3).f_locals.get("jit_info")
        static = _static(function, info)
        self._recorder.compiles(
            "jax", function, function, code_of(function), call, began_ns, end_ns, static, static is None
        )


class _Ops:
    """Ops that a program runs one by one, until it calls a function that it has jitted: one that jits nothing
    has no other mark of its steps. Most are functions that JAX itself has jitted; primitives are the rest."""

    def __init__(self, recorder: Recorder, jax: Any, plain: PlainCalls) -> None:
        self._recorder = recorder
        self._jax = jax
        self._plain = plain
        self._jits = False
        self._inside = threading.local()

    def wanted(self) -> bool:
        """True while nothing that the program has jitted was called, or where ops mark its steps."""
        if self._recorder.in_doubt:
            return False
        anchor = self._recorder.pace.anchor
        by_ops = not self._jits if anchor is None else anchor[0] == "jax_op"
        by_ops = by_ops or self._plain.are_made()
        return by_ops and self._recorder.listening and not getattr(self._inside, "op", False)

    def end(self) -> bool:
        """The program calls a function that it has jitted. True when that ends it."""
        ends, self._jits = not self._jits, True
        return ends and self._recorder.pace.anchor is None

    def saw(self, name: str, begin_ns: int, end_ns: int, outputs: Any) -> None:
        """An op ran."""
        settle = partial(self._jax.block_until_ready, outputs)
        if self._plain.are_made() and self._plain.saw(begin_ns, end_ns, settle):
            return
        site = self._recorder.site()
        if site.loops:
            self._recorder.step(
                WatchedCall("jax_op", ("op", name), name, begin_ns, end_ns, settle=settle, site=site)
            )

    def watch(self, core: Any) -> None:
        """Reports primitives."""
        trace = getattr(core, "EvalTrace", None)
        if not hasattr(trace, "process_primitive"):
            return  # versions that run primitives in another way: their steps are those of jitted ops

        def make(run: Any) -> Any:
            def process_primitive(trace: Any, primitive: Any, *rest: Any, **more: Any) -> Any:
                name = str(primitive)
                if not self.wanted() or name in _CALLS:
                    return run(trace, primitive, *rest, **more)
                self._inside.op = True
                begin_ns = clocks.time_ns()
                try:
                    result = run(trace, primitive, *rest, **more)
                finally:
                    self._inside.op = False
                with self._recorder.unharmed():
                    self.saw(name, begin_ns, clocks.time_ns(), result)
                return result

            return process_primitive

        self._recorder.patches.wrap(trace, "process_primitive", make)


def _watch_jit(recorder: Recorder, pjit: Any, plain: PlainCalls) -> None:
    """Tells the pace when the program, or a library that it uses, has a function of its own compiled."""
    if not hasattr(pjit, "make_jit"):
        return  # versions that make them in another way: the pace then goes by how long rounds take

    def watched(make: Any) -> Any:
        def make_jit(function: Any, *rest: Any, **more: Any) -> Any:
            if not is_framework(_file(function)):
                recorder.pace.has_jitted = True
                plain.jitted(function)
            return make(function, *rest, **more)

        return make_jit

    recorder.patches.wrap(pjit, "make_jit", watched)


def _stay_out_of_places() -> None:
    """JAX writes the innermost line that is not its own into compiled programs; the recorder is between both.
    What JAX cannot be told about is left as it is. It keeps this beyond the recording, which changes nothing
    for the program."""
    from jax._src import source_info_util

    leave_out = getattr(source_info_util, "register_exclusion", None)
    if leave_out is not None:
        leave_out(f"{Path(__file__).parent}{os.sep}")


def _file(function: Any) -> str:
    """Where a function is written; empty for other callables."""
    code = code_of(function)
    return str(code.co_filename) if code is not None else ""


def _static(function: Any, info: Any) -> Optional[Collection[str]]:
    """Names of the arguments whose values are compiled in; None when that is not known."""
    numbers, names = getattr(info, "static_argnums", None), getattr(info, "static_argnames", None)
    if numbers is None or names is None:
        return None
    try:
        given = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        given = []
    of_numbers = [
        given[number] if -len(given) <= number < len(given) else f"argument {number}" for number in numbers
    ]
    return {*names, *of_numbers}


def _watch_compilation(recorder: Recorder) -> None:
    """Counts compilations. JAX has no way to take a listener off; this one returns at once afterwards."""
    from jax import monitoring

    local = recorder.local

    def heard(event: str, duration_secs: float, **more: Any) -> None:
        if "compile" in event and recorder.listening:
            recorder.program.compiled += 1
            if event.startswith("/jax/core/compile") and getattr(local, "compile_began_ns", None) is None:
                local.compile_began_ns = clocks.time_ns() - int(duration_secs * 1e9)

    monitoring.register_event_duration_secs_listener(heard)
