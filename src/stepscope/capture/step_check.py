"""Whether what was recorded turns out not to be the program's steps.

A loop that sets up looks like training from within: 240 arrays, each made by two ops of JAX. It is over
when a loop begins that calls what the program has compiled, or trains with Keras. So after a recording of a
weak mark, surer ones are still watched. When they have gone on for longer than the loop that was recorded,
they are the steps.
"""

from typing import Optional, Tuple

from .callers import LEVELS, Caller, WatchedCall
from .pace import StepWatcher

WEAK = (
    *("next_element", "keras_evaluation", "next_batch", "gradient"),
    *("library_function", "jax_op", "backward", "module"),
)
"""Marks that loops which set up or evaluate have, too."""


class Hindsight:
    """Watches what comes after a recording. caller: what marked its steps; warmup: as for StepWatcher; over:
    its loop ended before enough steps were recorded, so that another of the same kind may be the steps."""

    def __init__(self, caller: Caller, warmup: int, over: bool = False) -> None:
        self.pace = StepWatcher(warmup)
        """Calls after the recording."""
        self._weakest = LEVELS.index(caller.how) - (0 if over else 1)
        self._loops = frozenset(caller.site.loops)
        self._begin_ns = caller.spans[0][0]
        self._lasted_ns: Optional[int] = None

    def surer(self, call: WatchedCall) -> bool:
        """True for a call that marks steps surely enough, from a loop that has nothing to do with the
        recorded one: not an evaluation now and then, nor what a step calls."""
        return LEVELS.index(call.how) <= self._weakest and self._loops.isdisjoint(call.site.loops)

    def saw(self, call: WatchedCall, key: Tuple[object, ...], settled: bool) -> bool:
        """Counts such a call. True when calls like it are the steps, and ready to be recorded."""
        if self._lasted_ns is None:
            self._lasted_ns = call.call_ns - self._begin_ns
        begin_ns = self.pace.begins(key, call)
        self.pace.saw(call.how, key, call.name, begin_ns, call.call_ns, call.end_ns, settled, call.site)
        after_ns = call.end_ns - self._begin_ns - self._lasted_ns
        return after_ns > self._lasted_ns and self.pace.ready()
