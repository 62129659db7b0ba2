"""When calls count as settled, or as ones that never settle."""

import pytest

from stepscope.capture import callers
from stepscope.capture.callers import Caller
from stepscope.capture.loops import NOWHERE
from stepscope.capture.pace import StepWatcher, unsettled, why_no_steps
from stepscope.capture.plan import WARMUP

S = 1_000_000_000


@pytest.mark.parametrize(
    ("lasts_ns", "settled", "anew", "ready_after"),
    [
        pytest.param(S // 1000, lambda number: number > 2, False, WARMUP + 2, id="all but two settle"),
        pytest.param(S // 1000, lambda number: False, False, WARMUP + 10, id="short ones never settle"),
        pytest.param(3 * S, lambda number: False, False, WARMUP + 3, id="long ones never settle"),
        pytest.param(S, lambda number: False, False, WARMUP + 8, id="they may after three seconds"),
        pytest.param(S, lambda number: False, True, WARMUP + 3, id="those made anew do not"),
        pytest.param(
            3 * S, lambda number: number % 4 == 0, False, WARMUP + 11, id="some of long ones settle"
        ),
    ],
)
def test_calls_that_never_settle_are_steps_all_the_same(lasts_ns, settled, anew, ready_after):
    """A program that compiles in each step for seconds may end before many more."""
    caller = Caller("optimizer", "SGD.step", NOWHERE, anew)
    for number in range(1, 100):
        caller.saw(number * lasts_ns, number * lasts_ns, (number + 1) * lasts_ns, settled(number))
        if caller.ready(WARMUP):
            break
    assert number == ready_after


@pytest.mark.parametrize(
    ("settled", "why"), [(0, "each of the last 5 traced or compiled"), (2, "the last 2 of")]
)
def test_why_nothing_was_recorded_says_that_all_calls_compiled(settled, why):
    pace = StepWatcher(WARMUP)
    for number in range(1, 6):
        pace.saw("jax", ("jax", "train", (), 0), "train", number, number, number + 1, number > 5 - settled)
    assert why in why_no_steps(pace.counted_calls(), WARMUP)
    assert unsettled(pace.counted_calls()) is (not settled)


@pytest.mark.parametrize(
    ("how", "round_us", "watched", "tiny"),
    [
        ("optimizer", 2300, 1, False),
        ("optimizer", 1900, 1, True),
        ("jax", 2300, 1, True),
        ("jax", 2500, 1, False),
        ("jax", 3100, 3, True),
    ],
)
def test_rounds_are_as_long_as_they_are_when_nobody_watches(how, round_us, watched, tiny):
    """Of a loop over examples with three jitted calls in each, 1.2 ms are the recorder's."""
    caller = Caller(how, "step", NOWHERE)
    for number in range(12):
        begin_ns = number * round_us * 1000
        caller.saw(begin_ns, begin_ns, begin_ns + round_us * 1000, True)
    assert caller.tiny(watched) is tiny


def test_what_a_caller_weighs_is_worked_out_once_for_each_call(monkeypatch):
    """An eager program of JAX runs thousands of ops before its steps are known, and asks at each of them."""
    sorts: list[int] = []
    monkeypatch.setattr(callers, "sorted", lambda values: sorts.append(1) or sorted(values), raising=False)
    caller = Caller("jax_op", "matmul")
    for number in range(3):
        caller.saw(0, number * S, (number + 1) * S, True)
        assert [caller.weight_ns() for _ in range(10)] == [(number + 1) * S] * 10
    assert len(sorts) == 3
