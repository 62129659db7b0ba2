"""Calls that may be steps: their kinds, what is kept of each thing that is called, and how calls of functions
are told apart."""

import weakref
from collections import deque
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional, Tuple

from .loops import NOWHERE, Site

LEVELS = (
    "own",
    "keras_batch",
    "session_run",
    "optimizer",
    "jax",
    "function_call",
    "next_element",
    "next_batch",
    "gradient",
    "library_function",
    "jax_op",
)
"""Kinds of calls, the surest mark of a step first."""

FRAMEWORK = {
    "own": "own",
    "keras_batch": "keras",
    "session_run": "tf1_session",
    "optimizer": "torch",
    "next_batch": "torch",
    "jax": "jax",
    "function_call": "tf2_function",
    "library_function": "tf2_function",
    "jax_op": "jax",
    "next_element": "eager_dataset",
    "gradient": "tf2_eager",
}
"""What a capture calls the kinds of calls it saw."""

_KEPT = 1000
_LOOKED_AT, _UNSETTLED = 10, 8
"""A call never settles when, past the warm-up, so many of so many calls traced or compiled something."""
_ALIKE = 8
"""So many functions of the same code are one that is made anew again and again."""
_LATEST = 50
_TINY_NS, _FEW = 2_000_000, 10
"""Calls that follow each other so closely may be parts of a step, where there is a loop around their loop.
The first few may take several times as long."""
_LONG_NS = 100_000_000
"""Rounds that take longer are steps, however new the ops in them are."""
PATIENCE = 50
"""So many calls are waited for while the loop around theirs has made no call of its own; four times as many
when they are quick, or ops of a program that has jitted a function."""

Span = Tuple[int, int, int]
Settle = Optional[Callable[[], Any]]


class WatchedCall(NamedTuple):
    """A call that ended, as a framework reports it. Times are Unix nanoseconds."""

    how: str
    """One of LEVELS."""
    key: Tuple[Any, ...]
    """Equal for calls of the same thing, within its kind and thread."""
    name: str
    """For people."""
    call_ns: int
    end_ns: int
    source: Any = None
    """What was called."""
    settle: Settle = None
    """Waits until the devices are through with it."""
    begin_ns: Optional[int] = None
    """Begin of the step; None: the step began with the end of the call before."""
    number: Optional[int] = None
    """Number of the step, as the program counts; None: calls are counted."""
    site: Site = NOWHERE
    """From where the program calls."""


class Caller:
    """One thing that is called again and again. name: for people."""

    def __init__(self, how: str, name: str, site: Site = NOWHERE) -> None:
        self.how = how
        self.name = name
        self.site = site
        self.count = 0
        self.settled = 0
        self.latest: Deque[bool] = deque(maxlen=_LOOKED_AT)
        """Whether the latest calls were settled."""
        self.last_end_ns: Optional[int] = None
        self.spans: Deque[Span] = deque(maxlen=_KEPT)

    def saw(self, begin_ns: int, call_ns: int, end_ns: int, settled: bool) -> None:
        """Counts a call. begin_ns: of the step, call_ns: of the call within it."""
        self.spans.append((begin_ns, call_ns, end_ns))
        self.count += 1
        self.settled = self.settled + 1 if settled else 0
        self.latest.append(settled)
        self.last_end_ns = end_ns

    def ready(self, warmup: int) -> bool:
        """True after the warm-up, or when it turns out that this never settles."""
        if self.settled >= warmup:
            return True
        return self.count >= warmup + _LOOKED_AT and self.latest.count(False) >= _UNSETTLED

    def loop(self) -> Optional[int]:
        """Identity of the code with the loop of the steps. Keras loops by itself; the loop around its call
        goes round once for many steps."""
        return self.site.loops[-1][0] if self.site.loops and self.how != "keras_batch" else None

    def weight_ns(self) -> int:
        """Time within its calls, had all been as long as the middle one of the latest.

        Not the sum: on a busy machine one call of a hook that stumbles outweighs thirty short steps.
        """
        latest = sorted(end_ns - call_ns for _, call_ns, end_ns in list(self.spans)[-_LATEST:])
        return latest[(len(latest) - 1) // 2] * self.count

    def tiny(self) -> bool:
        """True when the loop around it goes round so quickly that its rounds are hardly steps."""
        rounds = sorted(end_ns - begin_ns for begin_ns, _, end_ns in list(self.spans)[-_LATEST:])
        # Not the middle one: the first rounds set things up.
        return rounds[len(rounds) // 4] < (_TINY_NS if self.count >= _FEW else 5 * _TINY_NS)

    def starting(self) -> bool:
        """True for the first gradients of a tape, or calls of JAX, unless they take long. What runs for the
        first time is slow: it does not tell yet how quickly the loop goes round."""
        shortest = min(end_ns - begin_ns for begin_ns, _, end_ns in self.spans)
        first = {"gradient": PATIENCE, "jax": _FEW}.get(self.how, 0)
        return self.count < first and shortest < _LONG_NS

    def patient(self, awaited: bool) -> bool:
        """True while the loop around its loop may still make a call of its own. awaited: a surer mark of a
        step may come, however long the rounds take."""
        return self.count < PATIENCE or (self.count < PATIENCE * 4 and (awaited or self.tiny()))


class Identities:
    """Numbers of functions, which distinguish their calls.

    A function that the program makes anew for each call has the same code every time: then all have one
    number.
    """

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._made: Dict[Tuple[str, int, str], int] = {}
        self._next = 0

    def of(self, function: Any, code: Any) -> Tuple[Any, ...]:
        """What to call the function. code: of the Python function behind it, None when it has none."""
        place = None if code is None else (code.co_filename, code.co_firstlineno, code.co_name)
        try:
            number = self._numbers.get(function)
            if number is None:
                number = self._numbers[function] = self._next
                self._next += 1
                if place is not None:
                    self._made[place] = self._made.get(place, 0) + 1
        except TypeError:  # what cannot be referred to weakly, or not hashed
            return ("id", id(function))
        if place is not None and self._made[place] > _ALIKE:
            return place
        return ("number", number)
