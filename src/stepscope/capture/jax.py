"""Steps of JAX: calls of functions that the program itself has jitted; ops where it jits none.

Compiled calls run in C++ and never come by Python, unless JAX is given no fast path for a function. That is
withheld from the program's own functions while a recording is wanted (a call then costs some 70 us more), and
granted at their next call after.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
from pathlib import Path
from typing import Any, Collection

from .pace import Call
from .places import code_of, is_framework
from .recorder import Recorder

_FAST_PATHS = ("_cpp_pjit_cache_fun_only", "_cpp_pjit_cache_explicit_attributes", "_cpp_pjit_cache")
_MAKES = ("jit", "pjit", "device_put", "convert_element_type", "copy", "copy_p", "iota", "broadcast_in_dim",
          "threefry2x32", "random_bits", "random_wrap", "random_unwrap", "random_seed", "random_fold_in")  # fmt: skip
"""Ops that make and convert arrays: programs do so before their steps, too. A jitted function is no op."""
_HELPERS = ("_run_python_pjit", "_python_pjit_helper")


def watch(recorder: Recorder) -> None:
    """Reports every call of a function jitted by the program."""
    import jax
    from jax._src import core, pjit

    helper = next((name for name in _HELPERS if hasattr(pjit, name)), None)
    if helper is None or not hasattr(pjit, "_get_fastpath_data"):
        recorder.problem(
            "steps of JAX cannot be seen",
            f"JAX {jax.__version__} calls jitted functions in another way than those known",
            "mark the steps with stepscope.capture.step(i)",
        )
        return
    local = recorder.local
    clean = getattr(core, "trace_state_clean", lambda: True)
    signature = inspect.signature(getattr(pjit, helper))
    parameter = list(signature.parameters).index("fun")

    def compiled(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], end_ns: int) -> None:
        """Tells of what was traced or compiled since the last call of a jitted function."""
        began_ns, local.compile_began_ns = getattr(local, "compile_began_ns", None), None
        if began_ns is None:
            return
        bound = signature.bind(*args, **kwargs).arguments
        call = bound.get("args", ()), bound.get("kwargs", {})
        # The frame that called the helper knows which arguments are static.
        info = bound.get("jit_info") or sys._getframe(2).f_locals.get("jit_info")
        static = _static(function, info)
        code = code_of(function)
        recorder.compiles("jax", function, function, code, call, began_ns, end_ns, static, static is None)

    def watched_helper(run: Any) -> Any:
        def helper(*args: Any, **kwargs: Any) -> Any:
            local.jitted = None
            function = args[parameter]
            if not recorder.listening or not clean():
                return run(*args, **kwargs)
            if is_framework(_file(function)):
                result = run(*args, **kwargs)
                compiled(function, args, kwargs, time.time_ns())
                return result
            begin_ns = time.time_ns()
            result = run(*args, **kwargs)
            end_ns = time.time_ns()
            compiled(function, args, kwargs, end_ns)
            local.jitted = function
            outputs = result[1]
            recorder.step(
                Call(
                    "jax",
                    ("jit", *recorder.identities.of(function, code_of(function))),
                    getattr(function, "__name__", type(function).__name__),
                    begin_ns,
                    end_ns,
                    source=None,
                    settle=lambda: jax.block_until_ready(outputs),
                    site=recorder.site(),
                )
            )
            return result

        return helper

    def watched_path(get: Any) -> Any:
        def get_fastpath_data(*args: Any, **kwargs: Any) -> Any:
            function, local.jitted = getattr(local, "jitted", None), None
            if function is not None and recorder.listening:
                return None
            return get(*args, **kwargs)

        return get_fastpath_data

    recorder.patches.wrap(pjit, helper, watched_helper)
    recorder.patches.wrap(pjit, "_get_fastpath_data", watched_path)
    _watch_ops(recorder)
    _watch_compilation(recorder)
    _stay_out_of_places()

    def forget() -> None:
        """JAX remembers that there was no fast path. What was compiled is kept elsewhere, and stays."""
        for name in _FAST_PATHS:
            cache = getattr(pjit, name, None)
            if cache is not None:
                cache.clear()

    recorder.restoring.append(forget)


def _watch_ops(recorder: Recorder) -> None:
    """Reports ops that run one by one: a program that jits nothing has no other mark of its steps."""
    import jax
    from jax._src import core

    trace = getattr(core, "EvalTrace", None)
    if not hasattr(trace, "process_primitive"):
        return  # of versions that run ops in another way only jitted calls mark steps
    local = recorder.local

    def make(run: Any) -> Any:
        def process_primitive(self: Any, primitive: Any, *rest: Any, **more: Any) -> Any:
            inside = getattr(local, "in_op", False)
            anchor = recorder.pace.anchor
            if inside or not recorder.listening or (anchor is not None and anchor[0] != "jax_op"):
                return run(self, primitive, *rest, **more)
            local.in_op = True
            begin_ns = time.time_ns()
            try:
                result = run(self, primitive, *rest, **more)
            finally:
                local.in_op = False
            end_ns = time.time_ns()
            name = str(primitive)
            if name in _MAKES or not (site := recorder.site()).loops:
                return result
            recorder.step(
                Call(
                    "jax_op",
                    ("op", name),
                    name,
                    begin_ns,
                    end_ns,
                    settle=lambda: jax.block_until_ready(result),
                    site=site,
                )
            )
            return result

        return process_primitive

    recorder.patches.wrap(trace, "process_primitive", make)


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


def _static(function: Any, info: Any) -> Collection[str] | None:
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
            recorder.compiled += 1
            if event.startswith("/jax/core/compile") and getattr(local, "compile_began_ns", None) is None:
                local.compile_began_ns = time.time_ns() - int(duration_secs * 1e9)

    monitoring.register_event_duration_secs_listener(heard)
