"""Gradients that a JAX program takes without having jitted what it does: where nothing around them is
compiled, such a call is as sure a mark of a step as a call of a jitted function. What it calls is part of it:
a jitted activation, eight times in a step."""

import functools
import threading
from typing import Any, Callable, Set, Tuple

from . import clocks
from .callers import WatchedCall
from .places import code_of
from .recorder import Recorder

_NAME = "value_and_grad"
"""`jax.grad` asks it as well."""


class EagerGradients:
    """Calls of what `jax.grad` and `jax.value_and_grad` give, while nothing is traced. clean: whether that is
    so."""

    def __init__(self, recorder: Recorder, jax: Any, clean: Callable[[], bool]) -> None:
        self._recorder = recorder
        self._jax = jax
        self._clean = clean
        self._inside = threading.local()
        self._taken: Set[Tuple[Any, ...]] = set()

    def are_taken(self) -> bool:
        """Whether this thread is within one."""
        return getattr(self._inside, "gradient", False)

    def watch(self, api: Any, wanted: Callable[[], bool], ended: Callable[[], None]) -> None:
        """Reports them. api: JAX's module that has the function; wanted: whether they may be steps; ended:
        told after one that was taken before: a single one may set up what ops then do."""

        def make(value_and_grad: Any) -> Any:
            def watched(fun: Any, *rest: Any, **more: Any) -> Any:
                return self._watched(value_and_grad(fun, *rest, **more), fun, wanted, ended)

            return watched

        for owner in (api, self._jax):
            if getattr(owner, _NAME, None) is not None:
                self._recorder.patches.wrap(owner, _NAME, make)

    def _watched(
        self, take: Any, function: Any, wanted: Callable[[], bool], ended: Callable[[], None]
    ) -> Any:
        """take: gives value and gradient of a function."""

        @functools.wraps(take)
        def gradient(*args: Any, **kwargs: Any) -> Any:
            recorder = self._recorder
            if self.are_taken() or not recorder.listening or not self._clean() or not wanted():
                return take(*args, **kwargs)
            self._inside.gradient = True
            begin_ns = clocks.time_ns()
            try:
                taken = take(*args, **kwargs)
            finally:
                self._inside.gradient = False
            end_ns = clocks.time_ns()
            with recorder.unharmed():
                key = ("gradient", *recorder.identities.of(function, code_of(function)))
                if key in self._taken:
                    ended()
                self._taken.add(key)
                name = getattr(function, "__name__", type(function).__name__)
                settle = functools.partial(self._jax.block_until_ready, taken)
                site = recorder.site()
                recorder.step(WatchedCall("jax", key, name, begin_ns, end_ns, settle=settle, site=site))
            return taken

        return gradient
