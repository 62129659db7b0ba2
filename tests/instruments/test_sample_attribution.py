"""Samples stand for the stretch that their moment lies in, and for stretches like it that none fell into."""

from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.step_breakdown import stack_samples
from stepscope.instruments.step_breakdown.sample_attribution import attribute, long_executions
from stepscope.instruments.step_breakdown.stack_samples import DriverSample, SampleSpan
from stepscope.instruments.step_breakdown.sweep import Segment


def sample(from_ps: int, to_ps: int, seen_ps: int, label: str | None, stack_id: int = 0) -> DriverSample:
    return DriverSample(from_ps, to_ps, seen_ps, stack_id, ((label, 1.0),))


def merged(looks: list[SampleSpan]) -> list[tuple[int, int, str | None]]:
    return [(one.from_ps, one.to_ps, one.label) for one in looks]


def test_a_sample_within_a_call_says_nothing_of_the_time_around_it() -> None:
    """The loop of a program: a call of 40, then Python for 60. Each step has one sample."""
    calls = [Segment(at, at + 40, "dispatch") for at in (0, 100, 200, 300)]
    samples = [
        sample(0, 100, 20, "dispatch"),  # in the call
        sample(100, 200, 180, "python"),  # after it
        sample(200, 300, 230, "dispatch"),
        sample(300, 400, 350, "python"),
    ]
    sums: Counter[str | None] = Counter()
    for from_ps, to_ps, label in merged(attribute(samples, calls)):
        sums[label] += to_ps - from_ps
    assert sums == {"dispatch": 160, "python": 240}


def test_samples_of_one_stretch_divide_it_where_their_times_meet() -> None:
    found = attribute([sample(0, 50, 10, "python", 1), sample(50, 100, 70, "wait", 2)], [])
    assert merged(found) == [(0, 50, "python"), (50, 100, "wait")]
    assert [one.stack_id for one in found] == [1, 2]


def test_stretches_borrow_in_turn_from_their_own_kind() -> None:
    """Gaps of 50 behind calls of 5: two have samples, and the rest is shared between these."""
    calls = [Segment(at, at + 5, "dispatch") for at in range(0, 330, 55)]
    samples = [sample(0, 165, 30, "python", 1), sample(165, 330, 200, "wait", 2)]
    gaps = [one for one in attribute(samples, calls) if one.to_ps - one.from_ps == 50]
    assert [one.stack_id for one in gaps] == [1, 1, 2, 2, 1, 2]


def test_a_kind_that_was_never_seen_keeps_what_lies_around_it() -> None:
    calls = [Segment(10, 12, "dispatch")]
    assert merged(attribute([sample(0, 100, 60, "python")], calls)) == [
        (0, 10, "python"),
        (10, 12, "python"),
        (12, 100, "python"),
    ]


def test_what_waits_for_ops_says_nothing_of_the_time_after_them() -> None:
    """A step: a call that launches, ops for 300 us in which the thread waits, then Python for 600 us."""
    us = 10**6
    steps = [at * 1000 * us for at in range(4)]
    calls = [Segment(at, at + 100 * us, "dispatch") for at in steps]
    ops = long_executions((at + 100 * us, at + 400 * us) for at in steps)
    samples = [
        sample(at, at + 1000 * us, at + seen * us, label, number)
        for number, (at, seen, label) in enumerate(
            zip(steps, (50, 200, 700, 300), ("dispatch", "wait", "python", "wait"), strict=True)
        )
    ]
    waiting: Counter[int] = Counter()
    after: Counter[int] = Counter()
    for one in attribute(samples, calls, ops):
        if one.from_ps % (1000 * us) == 100 * us:
            waiting[one.stack_id] += one.to_ps - one.from_ps
        elif one.from_ps % (1000 * us) == 400 * us:
            after[one.stack_id] += one.to_ps - one.from_ps
    assert waiting == {1: 600 * us, 3: 600 * us}
    assert after == {2: 2400 * us}


def test_many_small_ops_are_no_stretches() -> None:
    us = 10**6
    apart = [(at * us, (at + 100) * us) for at in range(0, 900, 150)]
    assert long_executions(apart) == []
    together = [(at * us, (at + 15) * us) for at in range(0, 300, 30)]
    assert long_executions([*together, (500 * us, 600 * us)]) == [(0, 285 * us)]
    assert long_executions(reversed(together)) == long_executions(together)


def test_a_kind_that_was_seen_only_while_ops_run_lends_what_it_has() -> None:
    us = 10**6
    calls = [Segment(0, 300 * us, "dispatch"), Segment(400 * us, 700 * us, "dispatch")]
    samples = [sample(0, 400 * us, 100 * us, "wait", 1), sample(400 * us, 800 * us, 750 * us, "python", 2)]
    found = attribute(samples, calls, [(0, 300 * us)])
    assert [(one.from_ps, one.stack_id) for one in found] == [
        (0, 1),
        (300 * us, 2),
        (400 * us, 1),
        (700 * us, 2),
    ]


def test_time_without_samples_stays_without() -> None:
    found = attribute(
        [sample(0, 10, 5, "python"), sample(90, 100, 95, "python")], [Segment(40, 60, "dispatch")]
    )
    assert merged(found) == [(0, 10, "python"), (90, 100, "python")]


_moments = st.lists(st.integers(0, 400), min_size=2, max_size=40, unique=True).map(sorted)


@given(moments=_moments, edges=_moments, seed=st.randoms(use_true_random=False))
def test_the_same_time_is_covered_and_nothing_twice(moments, edges, seed) -> None:
    samples = stack_samples.disjoint(
        [
            DriverSample(a, b, seed.randint(a, b), number, (("wait", 0.5), (None, 0.5)))
            for number, (a, b) in enumerate(pairwise(moments))
            if seed.random() < 0.8
        ]
    )
    doing = [
        Segment(a, b, seed.choice(["dispatch", "compute"])) for a, b in pairwise(edges) if seed.random() < 0.6
    ]
    busy = [(a, b) for a, b in pairwise(moments) if seed.random() < 0.3]
    found = attribute(samples, doing, busy)
    assert all(one.to_ps <= other.from_ps for one, other in pairwise(found))
    cells = {cell for one in found for cell in range(one.from_ps, one.to_ps)}
    assert cells == {cell for one in samples for cell in range(one.from_ps, one.to_ps)}
    assert sum(one.to_ps - one.from_ps for one in found) == len(cells)
    for segment in doing:
        own = {one.stack_id for one in samples if segment.from_ps <= one.seen_ps < segment.to_ps}
        if own and set(range(*segment[:2])) <= cells:
            inside = {one.stack_id for one in found if segment.from_ps <= one.from_ps < segment.to_ps}
            cut = any(begin < segment.to_ps and end > segment.from_ps for begin, end in busy)
            assert cut or inside <= own  # a stretch with samples of its own has nobody else's
