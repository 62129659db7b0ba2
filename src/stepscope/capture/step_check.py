"""Whether what was recorded turns out not to be the program's steps.

A loop that sets up looks like training from within: 240 arrays, each made by two ops of JAX. It is over
when a loop begins that calls what the program has compiled, or trains with Keras. So other calls are still
watched after a recording. When they have gone on for longer than the loop that was recorded, they are the
steps; for several times as long, where they are no surer mark of steps.

An evaluation before the first step is a loop within the loop of the steps. It is not in the rounds that
follow.
"""

from typing import Optional, Tuple

from .callers import LEVELS, Caller, WatchedCall
from .pace import StepWatcher
from .plan import PATIENCE, STEPS

WEAK = (
    *("next_element", "keras_evaluation", "next_batch", "gradient"),
    *("library_function", "jax_op", "backward", "module"),
)
"""Marks that loops which set up or evaluate have, too."""
SURE = ("own", "keras_batch", "optimizer")
"""Marks of training, and what the program itself calls a step: nothing else is looked for after them."""
_TIMES = 5
"""How many times as long as the recorded loop another one of the same kind lasts that is the steps: a test
after training may take longer than the training."""


def may_be_instead(caller: Caller, call: WatchedCall) -> bool:
    """True for a call that may be the step instead of what marked the recorded ones: as sure a mark at least,
    from a loop that has nothing to do with the recorded one, or is around it. It is not what a step calls."""
    apart = set(caller.site.loops).isdisjoint(call.site.loops)
    return LEVELS.index(call.how) <= LEVELS.index(caller.how) and (apart or _is_around(caller, call))


def _is_around(caller: Caller, call: WatchedCall) -> bool:
    recorded, loops = caller.site.loops, call.site.loops
    return 0 < len(loops) < len(recorded) and recorded[: len(loops)] == loops


class Hindsight:
    """Watches what comes after a recording. caller: what marked its steps; warmup: as for StepWatcher; over:
    its loop ended before enough steps were recorded."""

    def __init__(self, caller: Caller, warmup: int, over: bool = False) -> None:
        self.pace = StepWatcher(warmup)
        """Calls since the recorded loop was last seen."""
        self._caller = caller
        self._over = over
        self._begin_ns = caller.spans[0][0]
        self._lasted_ns: Optional[int] = None

    def counts(self, call: WatchedCall) -> bool:
        """Whether a call may be the step instead."""
        return may_be_instead(self._caller, call)

    def goes_on(self, call: WatchedCall) -> bool:
        """The recorded loop goes on with a call. False when it has proved to be the steps."""
        self.pace, self._lasted_ns = StepWatcher(self.pace.warmup), None
        weak = self._caller.how in WEAK
        return weak or self._over or call.end_ns - self._begin_ns < PATIENCE * 1_000_000_000

    def saw(self, call: WatchedCall, key: Tuple[object, ...], settled: bool) -> bool:
        """Counts a call that counts. True when calls like it are the steps, and ready to be recorded."""
        if self._lasted_ns is None:
            self._lasted_ns = call.call_ns - self._begin_ns
        begin_ns = self.pace.begins(key, call)
        caller = self.pace.saw(
            call.how, key, call.name, begin_ns, call.call_ns, call.end_ns, settled, call.site
        )
        if _is_around(self._caller, call):
            # So many rounds of the loop around, and the recorded one in none of them.
            return caller.count >= STEPS and self.pace.ready()
        surer = self._over or LEVELS.index(call.how) < LEVELS.index(self._caller.how)
        after_ns = call.end_ns - self._begin_ns - self._lasted_ns
        return after_ns > self._lasted_ns * (1 if surer else _TIMES) and self.pace.ready()
