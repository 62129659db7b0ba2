"""Steps after the recording: they show what a step takes without a profiler and, by their stacks, where."""

from .callers import Caller, WatchedCall
from .observers import Observers
from .stacks import MOST_UNTRACED_NS

STEPS_BEFORE, STEPS_AFTER = 10, 30
"""How many steps before the recording, or after it, show what a step takes without a profiler."""
FEW_AFTER, AFTER_NS = 3, 5_000_000_000
"""Long steps: this few are enough, once they have taken this long."""
ENOUGH_LOOKS = 300
"""So many looks tell half of a step within 3 % of it."""
LONGEST_AFTER_NS = MOST_UNTRACED_NS - 1_000_000_000
"""Where looks cost so much that they are rare, they go on for this long: until just before they end by
themselves."""
MOST_AFTER = 3000
"""Short steps: most that are written in this time of sampling."""


class StepsAfter:
    """Counts them."""

    def __init__(self, observers: Observers) -> None:
        self._observers = observers
        self._count = 0
        self._looks_before = 0

    def are_wanted(self, caller: Caller, first_step: int) -> bool:
        """Whether the steps before the recording, which began with first_step, do not show it already."""
        return first_step < STEPS_BEFORE or self._are_sampled(caller)

    def _are_sampled(self, caller: Caller) -> bool:
        """Whether stacks show where they spend their time. Ops of JAX take several times as long while each
        is watched: such steps are no steps without a profiler."""
        return self._observers.looks_at_stacks and caller.how != "jax_op"

    def ended(self, caller: Caller, call: WatchedCall, since_ns: int) -> bool:
        """One of them ended: whether it was the last one wanted. since_ns: when the recording was over."""
        self._count += 1
        sampled = self._are_sampled(caller)
        if sampled and self._count == 1:  # what the profiler left behind is over
            self._looks_before = self._observers.looks
            self._observers.resume(untraced=True)
        few_looks = sampled and self._observers.looks - self._looks_before < ENOUGH_LOOKS
        long_ns = LONGEST_AFTER_NS if few_looks else AFTER_NS
        long = call.end_ns - since_ns >= long_ns and self._count >= FEW_AFTER
        return long or self._count >= (MOST_AFTER if sampled else STEPS_AFTER)
