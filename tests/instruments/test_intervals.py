"""Sets of intervals, held against sets of moments; and waiting, whose work is that of its calls and steps."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.intervals import Interval, contained, lengths, union
from stepscope.instruments.pipeline import waits
from tests.growth import calls
from tests.instruments.pipelines import sequential

SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 9)).map(lambda one: (one[0], one[0] + one[1])), max_size=9
)


def moments(intervals: list[Interval]) -> set[int]:
    return {ts for begin, end in intervals for ts in range(begin, end)}


@given(SPANS, SPANS)
def test_how_much_lies_in_each(spans: list[Interval], steps: list[Interval]) -> None:
    covered = moments(spans)
    wanted = [len(covered & moments([step])) for step in steps]
    assert lengths(union(spans), steps) == wanted
    assert contained(range(60), union(spans)) == [ts in covered for ts in range(60)]


def test_twice_the_steps_are_twice_the_work() -> None:
    counts = []
    for number in (50, 400):
        drawn, steps = sequential(number)
        found = drawn.calls()
        counts.append(calls(partial(waits.find, found, steps)))
        told = waits.find(found, steps)
        assert told.shares == [pytest.approx(0.8)] * number
        assert told.batches == number
    assert counts[1] < 8.5 * counts[0]
