"""The watcher of steps: which calls of a program are its steps, and when they have settled.

A program makes many kinds of calls: a preprocessing function, the train step, a metric. The anchor is the
call that marks steps: of the highest kind that repeats, the one that takes the most time, by its usual length
and its count. It is ready after `warmup` settled calls, those during which nothing was traced or compiled; or
when it goes on tracing and compiling, which is then what there is to record.
"""

import weakref
from collections import deque
from typing import Any, Callable, Deque, Dict, List, NamedTuple, Optional, Tuple

from .loops import NOWHERE, Loop, Site

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
_MANY_OPS = 50
"""An op marks steps only after so many calls: programs run ops before their first step, too."""
_OPS_OF_STEP, _LEAST_OPS = 20, 4
"""A loop with fewer ops in a round may be one over layers, where there is another around it; one with fewer
than the second number, that is quick as well, sets up."""
_ROUNDS, _PATIENCE, _MOST_PATIENCE = 3, 50, 2000
"""So many rounds of the outer loop tell that it is one. So many calls within it are waited for while it has
made no call of its own, four times as many when they are quick or ops of a program that has jitted a
function, and so many when it has made one."""
_EACH_ROUND = 0.9
"""A call belongs to each round of a loop when it is made at least so often as part of the most frequent."""

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
        first = {"gradient": _PATIENCE, "jax": _FEW}.get(self.how, 0)
        return self.count < first and shortest < _LONG_NS

    def patient(self, awaited: bool) -> bool:
        """True while the loop around its loop may still make a call of its own. awaited: a surer mark of a
        step may come, however long the rounds take."""
        return self.count < _PATIENCE or (self.count < _PATIENCE * 4 and (awaited or self.tiny()))


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


class StepWatcher:
    """Watches calls until one of them turns out to be the step."""

    def __init__(self, warmup: int) -> None:
        self.warmup = warmup
        self.callers: Dict[Tuple[Any, ...], Caller] = {}
        self.anchor: Optional[Tuple[Any, ...]] = None
        self.has_jitted = False
        """The program has given a function of its own to JAX to compile: a call of it would be the step, not
        the ops that run before it. How long a round takes does not tell that, least on a busy machine."""

    def saw(
        self,
        how: str,
        key: Tuple[Any, ...],
        name: str,
        begin_ns: int,
        call_ns: int,
        end_ns: int,
        settled: bool,
        site: Site = NOWHERE,
    ) -> Caller:
        """Counts a call. begin_ns: of the step that it may be."""
        caller = self.callers.get(key)
        if caller is None:
            caller = self.callers[key] = Caller(how, name, site)
        caller.saw(begin_ns, call_ns, end_ns, settled)
        return caller

    def begins(self, key: Tuple[Any, ...], call: WatchedCall) -> int:
        """When the step begins that a call may mark: at the end of the last such call, if nobody says."""
        if call.begin_ns is not None:
            return call.begin_ns
        known = self.callers.get(key)
        return known.last_end_ns if known and known.last_end_ns else call.call_ns

    def known_as(self, key: Tuple[Any, ...], loops: Tuple[Loop, ...]) -> Tuple[Any, ...]:
        """The key itself; but what marks the steps goes on doing so when another loop calls it, behind the
        one where it was found."""
        if self.anchor is None or key == self.anchor or (*key[:-2], key[-1]) != self._anchor_anywhere():
            return key
        mine = self.callers[self.anchor].site.loops
        apart = bool(mine) and mine[-1] not in loops and (not loops or loops[-1] not in mine)
        return self.anchor if apart else key

    def _anchor_anywhere(self) -> Tuple[Any, ...]:
        assert self.anchor is not None
        return (*self.anchor[:-2], self.anchor[-1])

    def ready(self) -> bool:
        """True once the anchor is known and has settled."""
        if self.anchor is None:
            self.anchor = self._choose()
        return self.anchor is not None

    def _choose(self) -> Optional[Tuple[Any, ...]]:
        # Asked at every call of a long warm-up, so what costs little comes first.
        if not any(caller.ready(self.warmup) for caller in self.callers.values()):
            return None
        repeated = self._repeated()
        for level in LEVELS:
            here = {key: caller for key, caller in repeated.items() if caller.how == level}
            if here:
                return self._choose_of(level, here, repeated)
        return None

    def _repeated(self) -> Dict[Tuple[Any, ...], Caller]:
        """What was called more than once. A function that initialises is no step: it is called once while
        others are called often."""
        most = max((caller.count for caller in self.callers.values()), default=0)
        least = min(2, self.warmup + 1, most - 1)
        return {key: caller for key, caller in self.callers.items() if caller.count >= least}

    def _choose_of(
        self, level: str, here: Dict[Tuple[Any, ...], Caller], repeated: Dict[Tuple[Any, ...], Caller]
    ) -> Optional[Tuple[Any, ...]]:
        """The step among the calls of a level; None to wait."""
        # Threads of the framework fill queues; the steps are the program's, even when those began first.
        if any(caller.site.at for caller in self.callers.values() if caller.how == level):
            here = {key: caller for key, caller in here.items() if caller.site.at}
        key = _heaviest({key: caller for key, caller in here.items() if caller.ready(self.warmup)})
        if key is None or not self._has_drawn(repeated):
            return None
        # What is called beside it may turn out to be the step; what was over before, setting up, may not.
        begin_ns = here[key].spans[0][0]
        beside = {other: caller for other, caller in here.items() if (caller.last_end_ns or 0) > begin_ns}
        return self._marking(key) if _heaviest(beside) == key else None

    def _has_drawn(self, repeated: Dict[Tuple[Any, ...], Caller]) -> bool:
        """Whether elements were drawn, where any are. A function that ran three times before the first
        element was drawn is not a step of that loop."""
        drawn = [caller for caller in repeated.values() if caller.how == "next_element"]
        return not drawn or any(caller.ready(min(self.warmup, 2)) for caller in drawn)

    def _marking(self, key: Tuple[Any, ...]) -> Optional[Tuple[Any, ...]]:
        """Of the calls in the loops around a call the one that is made once in each step; None to wait."""
        update = self._update_behind(key)
        if update is not None:
            return update if self.callers[update].ready(self.warmup) else None
        for loop in reversed(self.callers[key].site.loops):
            marking = self._marking_of_loop(loop, key)
            if marking is None:
                return None
            key = marking
            if self._is_step_of(loop, key):
                if loop != self.callers[key].site.loops[0] and self.callers[key].starting():
                    return None
                break
        found = self.callers[key]
        if found.how == "jax_op" and not self._has_ops(found, key):
            return None
        return key if found.ready(self.warmup) else None

    def _marking_of_loop(self, loop: Loop, key: Tuple[Any, ...]) -> Optional[Tuple[Any, ...]]:
        """The call that is made once in each round of a loop, the same one where there is no better; None to
        wait."""
        inside = self._of(loop, key)
        inner = self.callers[key]
        if not inside:
            return None if loop != inner.site.loops[-1] and self._patient(key) else key
        most = max(caller.count for caller in inside.values())
        each = {other: caller for other, caller in inside.items() if caller.count >= most * _EACH_ROUND}
        if key in inside:
            return _heaviest(each) or key
        if most * 2 > inner.count:
            return key
        if most < _ROUNDS and inner.count < _MOST_PATIENCE:
            return None
        return (_heaviest(each) or key) if most >= _ROUNDS else key

    def _is_step_of(self, loop: Loop, key: Tuple[Any, ...]) -> bool:
        """Whether a round of the loop does what a step does."""
        ops = self._ops_each_round(loop, key)
        return ops >= _OPS_OF_STEP or (ops == 0 and not self.callers[key].tiny())

    def _has_ops(self, found: Caller, key: Tuple[Any, ...]) -> bool:
        """Whether there are enough ops, of a program that jits nothing, for a step."""
        ops = self._ops_each_round(found.site.loops[-1], key)
        return found.count >= _MANY_OPS and (ops >= _LEAST_OPS or not found.tiny())

    def _patient(self, key: Tuple[Any, ...]) -> bool:
        caller = self.callers[key]
        return caller.patient(self.has_jitted and caller.how == "jax_op")

    def _update_behind(self, key: Tuple[Any, ...]) -> Optional[Tuple[Any, ...]]:
        """Of a loop that adds up gradients, the update behind it."""
        around = self.callers[key].site.loops[:-1]
        for other, caller in self.callers.items():
            here = other[0] == "gradient" and other[1] == "update" and other[-1] == key[-1]
            if here and other != key and caller.site.loops == around[: len(caller.site.loops)]:
                return other
        return None

    def _ops_each_round(self, loop: Loop, key: Tuple[Any, ...]) -> float:
        """How many ops run in a round of a loop, and of those within it; 0 where no ops mark the steps."""
        if key[0] != "jax_op":
            return 0
        inside = sum(caller.count for caller in self.callers.values() if loop in caller.site.loops)
        return inside / max((caller.count for caller in self._of(loop, key).values()), default=inside)

    def _of(self, loop: Loop, key: Tuple[Any, ...]) -> Dict[Tuple[Any, ...], Caller]:
        """The calls that a loop makes itself, not one within it, of the kind and in the thread of another."""
        return {
            other: caller
            for other, caller in self.callers.items()
            if caller.site.loops[-1:] == (loop,) and other[0] == key[0] and other[-1] == key[-1]
        }

    def heaviest_beside(self) -> Optional[Tuple[Any, ...]]:
        """Of the calls of the anchor's kind and thread that are made in at least every second step, the one
        that takes most: what marks a step may be a small part of it."""
        if self.anchor is None:
            return None
        beside = {
            key: caller
            for key, caller in self.callers.items()
            if key[0] == self.anchor[0]
            and key[-1] == self.anchor[-1]
            and caller.count * 2 >= self.callers[self.anchor].count
        }
        return _heaviest(beside)

    def told(self) -> List[Dict[str, Any]]:
        """What was called and how often, the most called first, for the reason why nothing was recorded."""
        most = sorted(self.callers.values(), key=lambda caller: (LEVELS.index(caller.how), -caller.count))
        return [
            {"how": caller.how, "name": caller.name, "calls": caller.count, "settled": caller.settled}
            for caller in most[:5]
        ]


def _heaviest(callers: Dict[Tuple[Any, ...], Caller]) -> Optional[Tuple[Any, ...]]:
    return max(callers, key=lambda key: callers[key].weight_ns(), default=None)


def why_no_steps(calls: List[Dict[str, Any]], warmup: int) -> str:
    """Why there was no recording, of what `told` tells."""
    if not calls:
        return (
            "no step was seen: no session was run, no tf.function or jitted function called, no Keras batch "
            "trained, no dataset iterated from Python, no gradient taken of a tape, no optimizer of PyTorch "
            "stepped, no DataLoader drawn from"
        )
    best = max(calls, key=lambda call: (call["settled"], call["calls"]))
    return (
        f"it never got past the warm-up of {warmup} settled steps; seen: {best['calls']} x {best['name']} "
        f"({best['how']}), the last {best['settled']} of them without tracing or compilation"
    )
