"""Calls of jitted functions while `jax_disable_jit` is on: JAX runs them as plain Python, and nothing of its
own sees them. The ops within have their frames around."""

import sys
import threading
from types import CodeType, FrameType
from typing import Any, Callable, Dict, NamedTuple, Optional

from .callers import WatchedCall
from .loops import Site
from .places import code_of
from .recorder import Recorder


class _PlainCall(NamedTuple):
    """A call of a jitted function that runs as plain Python."""

    frame: FrameType
    """Kept, so that no later call has the same."""
    site: Site
    begin_ns: int


class PlainCalls:
    """Calls of functions that the program has jitted."""

    def __init__(self, recorder: Recorder, jax: Any) -> None:
        self._recorder = recorder
        self._jax = jax
        self._functions: Dict[CodeType, Any] = {}
        self._local = threading.local()

    def jitted(self, function: Any) -> None:
        """The program has jitted a function."""
        code = code_of(function)
        if code is not None:
            self._functions[code] = function

    def are_made(self) -> bool:
        """Whether jitted functions run as plain Python, in this thread."""
        return bool(self._functions) and bool(getattr(self._jax.config, "jax_disable_jit", False))

    def forget(self) -> None:
        """Lets go of the call that this thread was in."""
        self._local.__dict__.clear()

    def saw(self, begin_ns: int, end_ns: int, settle: Callable[[], Any]) -> bool:
        """An op ran. False where that was in no call of a jitted function. A call has ended when an op runs
        in the next one."""
        frame: Optional[FrameType] = sys._getframe(1)
        outermost = None
        while frame is not None:
            if frame.f_code in self._functions:
                outermost = frame
            frame = frame.f_back
        if outermost is None:
            return False
        last: Optional[_PlainCall] = getattr(self._local, "call", None)
        if last is None or last.frame is not outermost:
            if last is not None:
                self._ended(last, self._local.end_ns, settle)
            self._local.call = _PlainCall(outermost, self._recorder.site(outermost.f_back), begin_ns)
        self._local.end_ns = end_ns
        return True

    def _ended(self, call: _PlainCall, end_ns: int, settle: Callable[[], Any]) -> None:
        code = call.frame.f_code
        function = self._functions[code]
        key = ("jit", *self._recorder.identities.of(function, code))
        self._recorder.step(
            WatchedCall("jax", key, code.co_name, call.begin_ns, end_ns, settle=settle, site=call.site)
        )
