"""When calls count as settled, or as ones that never settle."""

from __future__ import annotations

import pytest

from stepscope.capture.callers import Caller
from stepscope.capture.loops import NOWHERE
from stepscope.capture.plan import WARMUP

S = 1_000_000_000


@pytest.mark.parametrize(
    ("lasts_ns", "settled", "ready_after"),
    [
        pytest.param(S // 1000, lambda number: number > 2, WARMUP + 2, id="all but two settle"),
        pytest.param(S // 1000, lambda number: False, WARMUP + 10, id="short ones never settle"),
        pytest.param(3 * S, lambda number: False, WARMUP + 3, id="long ones never settle"),
        pytest.param(3 * S, lambda number: number % 4 == 0, WARMUP + 11, id="some of long ones settle"),
    ],
)
def test_calls_that_never_settle_are_steps_all_the_same(lasts_ns, settled, ready_after):
    """A program that compiles in each step for seconds may end before many more."""
    caller = Caller("optimizer", "SGD.step", NOWHERE)
    for number in range(1, 100):
        caller.saw(number * lasts_ns, number * lasts_ns, (number + 1) * lasts_ns, settled(number))
        if caller.ready(WARMUP):
            break
    assert number == ready_after
