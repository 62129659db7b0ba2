"""The watcher of steps: which calls of a program are its steps, and when they have settled.

A program makes many kinds of calls: a preprocessing function, the train step, a metric. The anchor is the
call that marks steps: of the highest kind that repeats, the one that takes the most time, by its usual length
and its count. It is ready after `warmup` settled calls, those during which nothing was traced or compiled; or
when it goes on tracing and compiling, which is then what there is to record.
"""

import threading
from typing import Any, Dict, FrozenSet, List, Optional, Tuple

from .callers import ANEW, LEVELS, Caller, WatchedCall
from .loops import NOWHERE, Loop, Site

_MANY_OPS = 50
"""An op marks steps only after this many calls: programs run ops before their first step, too."""
_OPS_OF_STEP, _LEAST_OPS = 20, 4
"""A loop with fewer ops in a round may be one over layers, where there is another around it; one with fewer
than the second number, that is quick as well, sets up."""
_ROUNDS, _MOST_PATIENCE = 3, 2000
"""Rounds after which an outer loop counts as one, and calls within it to wait for once it has made one of its
own."""
_EACH_ROUND = 0.9
"""A call belongs to each round of a loop when it is made at least this often, as part of the most frequent
one."""

_MOST_TRACED = 16
"""Calls of a step that are traced in full: each takes long, and there may be thousands."""


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
            caller = self.callers[key] = Caller(how, name, site, anew=ANEW in key)
        caller.saw(begin_ns, call_ns, end_ns, settled)
        return caller

    def begins(self, key: Tuple[Any, ...], call: WatchedCall) -> int:
        """Begin of the step that a call may mark: by default, the end of the last such call."""
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
        """Callees that are called repeatedly. A function that initialises is called once while others are
        called often, so it is not a step."""
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
        key = self._heaviest_ready(here)
        if key is not None and level == "session_run":
            # A thread of the program that feeds a queue waits in its runs while that is full.
            main, least = threading.main_thread().ident, here[key].count / 2
            of_main = {other: here[other] for other in here if other[-1] == main}
            here = {other: caller for other, caller in of_main.items() if caller.count >= least} or here
            key = self._heaviest_ready(here)
        if key is None or not self._has_drawn(repeated):
            return None
        # What is called beside it may turn out to be the step; what was over before, setting up, may not.
        begin_ns = here[key].spans[0][0]
        beside = {other: caller for other, caller in here.items() if (caller.last_end_ns or 0) > begin_ns}
        return self._marking(key) if _heaviest(beside) == key else None

    def _heaviest_ready(self, callers: Dict[Tuple[Any, ...], Caller]) -> Optional[Tuple[Any, ...]]:
        return _heaviest({key: caller for key, caller in callers.items() if caller.ready(self.warmup)})

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
        """The call that is made once in each round of a loop; the given one where no other fits better; None
        to wait."""
        inside = self._loop_calls(loop, key)
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
        """Whether a round of the loop looks like a step."""
        ops, calls = self._ops_each_round(loop, key), self._loop_calls(loop, key).values()
        watched = sum(caller.count for caller in calls) / max((caller.count for caller in calls), default=1)
        return ops >= _OPS_OF_STEP or (ops == 0 and not self.callers[key].tiny(watched))

    def _has_ops(self, found: Caller, key: Tuple[Any, ...]) -> bool:
        """Whether there are enough ops, of a program that jits nothing, for a step."""
        ops = self._ops_each_round(found.site.loops[-1], key)
        return found.count >= _MANY_OPS and (ops >= _LEAST_OPS or not found.tiny())

    def _patient(self, key: Tuple[Any, ...]) -> bool:
        caller = self.callers[key]
        return caller.patient(self.has_jitted and caller.how == "jax_op")

    def _update_behind(self, key: Tuple[Any, ...]) -> Optional[Tuple[Any, ...]]:
        """The update after a loop that accumulates gradients."""
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
        return inside / max((caller.count for caller in self._loop_calls(loop, key).values()), default=inside)

    def _loop_calls(self, loop: Loop, key: Tuple[Any, ...]) -> Dict[Tuple[Any, ...], Caller]:
        """The calls that a loop makes itself, not one within it, of the kind and in the thread of another."""
        return {
            other: caller
            for other, caller in self.callers.items()
            if caller.site.loops[-1:] == (loop,) and other[0] == key[0] and other[-1] == key[-1]
        }

    def made_each_step(self) -> FrozenSet[Tuple[Any, ...]]:
        """The calls of the anchor's kind and thread that are made in each step, the heaviest first, and as
        many as make `_MOST_TRACED` of a step: what marks a step may be a small part of it. What every second
        step does, such as a checkpoint, is none. What comes after the anchor is still to come in this step;
        what was over before the first one set up."""
        if self.anchor is None:
            return frozenset()
        anchor = self.callers[self.anchor]
        beside = {
            key: caller
            for key, caller in self.callers.items()
            if key[0] == self.anchor[0]
            and key[-1] == self.anchor[-1]
            and caller.count >= max(anchor.count - 1, 1) * _EACH_ROUND
            and caller.spans[-1][2] >= anchor.spans[0][0]
        }
        found: List[Tuple[Any, ...]] = []
        calls = 0.0
        for key in sorted(beside, key=lambda key: beside[key].weight_ns(), reverse=True):
            each = beside[key].count / anchor.count
            if not found or calls + each <= _MOST_TRACED:
                found.append(key)
                calls += each
        return frozenset(found)

    def counted_calls(self) -> List[Dict[str, Any]]:
        """The callees and their counts, most frequent first: facts for why nothing was recorded."""
        most = sorted(self.callers.values(), key=lambda caller: (LEVELS.index(caller.how), -caller.count))
        return [
            {
                "how": caller.how,
                "name": caller.name,
                "calls": caller.count,
                "settled": caller.settled,
                "unsettled": caller.unsettled(),
            }
            for caller in most[:5]
        ]


def _heaviest(callers: Dict[Tuple[Any, ...], Caller]) -> Optional[Tuple[Any, ...]]:
    return max(callers, key=lambda key: callers[key].weight_ns(), default=None)


def unsettled(calls: List[Dict[str, Any]]) -> bool:
    """Whether nothing was recorded because each call that was seen several times compiled. calls: from
    `counted_calls`."""
    best = max(calls, key=lambda call: (call["settled"], call["calls"]), default={})
    return bool(best.get("unsettled", 0) > 1)


def why_no_steps(calls: List[Dict[str, Any]], warmup: int) -> str:
    """Why there is no recording, from the facts of `counted_calls`."""
    if not calls:
        return (
            "no step was seen: no session was run, no tf.function or jitted function called, no Keras batch "
            "trained, no dataset iterated from Python, no gradient taken of a tape, no optimizer of PyTorch "
            "stepped, no DataLoader drawn from, no model of PyTorch called"
        )
    best = max(calls, key=lambda call: (call["settled"], call["calls"]))
    if unsettled(calls):
        return (
            f"it ended before its calls of {best['name']} ({best['how']}) could count as steps: each of the "
            f"last {best['unsettled']} traced or compiled something, as in a warm-up"
        )
    return (
        f"it never got past the warm-up of {warmup} settled steps; seen: {best['calls']} x {best['name']} "
        f"({best['how']}), the last {best['settled']} of them without tracing or compilation"
    )
