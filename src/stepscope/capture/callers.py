"""Calls that may be steps: their kinds, the record of each callee, and numbers for functions."""

import weakref
from collections import deque
from typing import Any, Callable, Deque, Dict, NamedTuple, Optional, Set, Tuple

from .loops import NOWHERE, Site

LEVELS = (
    "own", "keras_batch", "session_run", "optimizer", "jax", "function_call", "next_element",
    "keras_evaluation", "next_batch", "gradient", "library_function", "jax_op", "backward", "module",
)  # fmt: skip
"""Kinds of calls, the most certain mark of a step first."""

FRAMEWORK = {
    "own": "own",
    "keras_batch": "keras",
    "keras_evaluation": "keras",
    "session_run": "tf1_session",
    "optimizer": "torch",
    "next_batch": "torch",
    "backward": "torch",
    "module": "torch",
    "jax": "jax",
    "function_call": "tf2_function",
    "library_function": "tf2_function",
    "jax_op": "jax",
    "next_element": "eager_dataset",
    "gradient": "tf2_eager",
}
"""Names of the kinds of calls in a capture."""

_KEPT = 1000
_LOOKED_AT, _UNSETTLED = 10, 8
"""A call never settles when, after the warm-up, this many of that many calls traced or compiled something."""
_FEWEST_LOOKED_AT, _UNSETTLED_NS = 3, 10_000_000_000
"""Nor does one if its calls after the warm-up, at least this many, have all compiled for this long: a program
may end before ten more of them."""
_ANEW_NS = 3_000_000_000
"""The same for a function that is created again for each call, which can only be compiled again."""
ANEW = "anew"
_ALIKE, _ALIKE_ONCE = 8, 3
"""After this many functions with the same code, they count as one that is made anew each time; after the
second number as long as none of them was called again."""
_GONE = 2
"""After this many models that were gone when the next of their class was called, they count as one."""
_LATEST = 50
_TINY_NS, _FEW = 2_000_000, 10
"""Calls that follow one another this closely may be parts of a step, if a loop surrounds their loop. The
first few may take several times as long."""
_WATCHED_NS = {"jax": 400_000}
"""What it costs a call of a kind to be watched, at most."""
_LONG_NS = 100_000_000
"""Rounds that take longer are steps, however new their ops are."""
PATIENCE = 50
"""Most calls to wait for while the loop around theirs has made no call of its own; four times as many when
they are quick, or ops of a program that has jitted a function."""

Span = Tuple[int, int, int]
Settle = Optional[Callable[[], Any]]


class WatchedCall(NamedTuple):
    """A call that ended, as a framework reports it. Times are Unix nanoseconds."""

    how: str
    """One of LEVELS."""
    key: Tuple[Any, ...]
    """Equal for calls of the same thing, within its kind and thread."""
    name: str
    """Display name."""
    call_ns: int
    end_ns: int
    source: Any = None
    """The callee."""
    settle: Settle = None
    """Waits until the devices have finished it."""
    begin_ns: Optional[int] = None
    """Begin of the step; None: the step began when the previous call ended."""
    number: Optional[int] = None
    """Number of the step in the program's own count; None: calls are counted."""
    site: Site = NOWHERE
    """Where the program calls from."""
    moved: Tuple[int, int] = (0, 0)
    """Bytes of the arrays that a run of a session is fed, and gives back."""
    phase: str = ""
    """What an Estimator makes a run for; empty where none does."""


class Caller:
    """A callee that is called repeatedly. name: display name; anew: it is made anew for each call."""

    def __init__(self, how: str, name: str, site: Site = NOWHERE, anew: bool = False) -> None:
        self.how = how
        self.anew = anew
        self.name = name
        self.site = site
        self.count = 0
        self.settled = 0
        self.latest: Deque[bool] = deque(maxlen=_LOOKED_AT)
        """Whether the latest calls were settled."""
        self.last_end_ns: Optional[int] = None
        self.spans: Deque[Span] = deque(maxlen=_KEPT)
        self._weight_ns: Optional[int] = None

    def saw(self, begin_ns: int, call_ns: int, end_ns: int, settled: bool) -> None:
        """Counts a call. begin_ns: of the step, call_ns: of the call within it."""
        self.spans.append((begin_ns, call_ns, end_ns))
        self._weight_ns = None
        self.count += 1
        self.settled = self.settled + 1 if settled else 0
        self.latest.append(settled)
        self.last_end_ns = end_ns

    def ready(self, warmup: int) -> bool:
        """True after the warm-up, or when calls turn out never to settle."""
        if self.settled >= warmup:
            return True
        if self.count >= warmup + _LOOKED_AT:
            return self.latest.count(False) >= _UNSETTLED
        if self.count < warmup + _FEWEST_LOOKED_AT or any(self.latest):
            return False
        return self.spans[-1][2] - self.spans[0][2] >= (_ANEW_NS if self.anew else _UNSETTLED_NS)

    def unsettled(self) -> int:
        """How many of the latest calls traced or compiled something, when all of those looked at did."""
        return 0 if any(self.latest) else len(self.latest)

    def loop(self) -> Optional[int]:
        """Identity of the code with the loop of the steps. Keras loops by itself; the loop around its call
        runs once for many steps."""
        return self.site.loops[-1][0] if self.site.loops and FRAMEWORK[self.how] != "keras" else None

    def weight_ns(self) -> int:
        """Time within its calls if all had been as long as the latest ones' median. Not the sum: on a busy
        machine, one slow call of a hook outweighs thirty short steps."""
        if self._weight_ns is None:  # asked of all callers at each call of any
            latest = sorted(end_ns - call_ns for _, call_ns, end_ns in list(self.spans)[-_LATEST:])
            self._weight_ns = latest[(len(latest) - 1) // 2] * self.count
        return self._weight_ns

    def tiny(self, watched: float = 1.0) -> bool:
        """True when the loop around it runs so fast that its rounds are hardly steps. watched: how many calls
        of its kind a round makes."""
        rounds = sorted(end_ns - begin_ns for begin_ns, _, end_ns in list(self.spans)[-_LATEST:])
        # The lower quartile, because the first rounds set things up.
        cost_ns = watched * _WATCHED_NS.get(self.how, 0)
        return rounds[len(rounds) // 4] - cost_ns < (_TINY_NS if self.count >= _FEW else 5 * _TINY_NS)

    def starting(self) -> bool:
        """True for the first gradients of a tape, or calls of JAX, unless they take long. First runs are
        slow, so they do not show yet how fast the loop runs."""
        shortest = min(end_ns - begin_ns for begin_ns, _, end_ns in self.spans)
        first = {"gradient": PATIENCE, "jax": _FEW}.get(self.how, 0)
        return self.count < first and shortest < _LONG_NS

    def patient(self, awaited: bool) -> bool:
        """True while the loop around its loop may still make a call of its own. awaited: a more certain mark
        may come, however long the rounds take."""
        return self.count < PATIENCE or (self.count < PATIENCE * 4 and (awaited or self.tiny()))


class Identities:
    """Numbers that distinguish calls of functions. A function that the program makes anew for each call has
    the same code every time, and all of these share one number."""

    def __init__(self) -> None:
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._made: Dict[Tuple[str, int, str], int] = {}
        self._again: Set[Tuple[str, int, str]] = set()
        """Those of which one was called twice."""
        self._last: Dict[Tuple[type, Site], Tuple[Callable[[], Any], int]] = {}
        """The last new model of a class at a site, and how many new ones in a row found the one before them
        gone."""
        self._next = 0

    def of(self, function: Any, code: Any) -> Tuple[Any, ...]:
        """The display name of a function. code: of the Python function behind it, None without one."""
        place = None if code is None else (code.co_filename, code.co_firstlineno, code.co_name)
        try:
            number = self._numbers.get(function)
            if number is None:
                number = self._numbers[function] = self._next
                self._next += 1
                if place is not None:
                    self._made[place] = self._made.get(place, 0) + 1
            elif place is not None:
                self._again.add(place)
        except TypeError:  # an object without weak references, or without a hash
            return ("id", id(function))
        if place is not None and self._made[place] > (_ALIKE if place in self._again else _ALIKE_ONCE):
            return (ANEW, *place)
        return ("number", number)

    def of_model(self, model: Any, site: Site) -> Tuple[Any, ...]:
        """The same of a model, an object that is called. Where a program loads one for each call, models of a
        class that are gone when the next is called share a number. Those of an ensemble, and the layers of a
        network, are not gone."""
        place = (type(model), site)
        is_new = model not in self._numbers
        key = self.of(model, None)
        if not is_new:
            return key
        before, gone = self._last.get(place, (None, 0))
        gone = gone + 1 if before is not None and before() is None else 0
        self._last[place] = (weakref.ref(model), gone)
        return (ANEW, f"{type(model).__module__}.{type(model).__qualname__}") if gone >= _GONE else key
