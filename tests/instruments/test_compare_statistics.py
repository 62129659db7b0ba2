"""Statistics of few recordings: against scipy where it is there, by counting, and by arithmetic."""

import itertools
import math
import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.compare import statistics

numbers = st.integers(-1000, 1000).map(float)
groups = st.lists(numbers, min_size=2, max_size=8)


def test_tails_of_t_are_those_of_tables() -> None:
    for t, freedom, p in ((12.706, 1, 0.05), (2.447, 6, 0.05), (3.707, 6, 0.01), (1.96, 10**6, 0.05)):
        assert statistics.t_tails(t, freedom) == pytest.approx(p, rel=2e-3)
    assert statistics.t_tails(0, 5) == 1
    assert statistics.t_tails(math.inf, 5) == 0
    # With one degree of freedom t is Cauchy's distribution, with two an algebraic one.
    for t in (0.1, 1, 3, 50):
        assert statistics.t_tails(t, 1) == pytest.approx(1 - 2 * math.atan(t) / math.pi, rel=1e-9)
        assert statistics.t_tails(t, 2) == pytest.approx(1 - t / math.sqrt(2 + t * t), rel=1e-9)


@given(st.floats(0.5, 0.9999), st.integers(1, 200))
def test_quantiles_of_t_turn_tails_round(p: float, freedom: int) -> None:
    t = statistics.t_quantile(p, freedom)
    assert 1 - statistics.t_tails(t, freedom) / 2 == pytest.approx(p, abs=1e-9)


@pytest.mark.repeats("values of scipy, beside those of many samples")
@pytest.mark.filterwarnings("ignore:Precision loss:RuntimeWarning")
@given(groups, groups)
def test_student_is_scipys(a: list[float], b: list[float]) -> None:
    stats = pytest.importorskip("scipy.stats")
    found = statistics.student(a, b)
    if len(set(a)) == len(set(b)) == 1:
        assert found.p == (1.0 if a[0] == b[0] else 0.0)
        return
    wanted = stats.ttest_ind(b, a)
    assert found.p == pytest.approx(wanted.pvalue, rel=1e-7, abs=1e-12)


@given(groups, st.floats(0, 1))
def test_a_quantile_is_numpys(values: list[float], share: float) -> None:
    numpy = pytest.importorskip("numpy")
    assert statistics.quantile(values, share) == pytest.approx(numpy.quantile(values, share), abs=1e-9)


@given(st.lists(numbers, min_size=1, max_size=6), st.lists(numbers, min_size=1, max_size=6))
def test_the_shift_by_counting_all_orders(a: list[float], b: list[float]) -> None:
    """The interval leaves out, at each end, as many differences as orders of equal programs do in 2.5 %."""
    differences = sorted(y - x for x in a for y in b)
    found = statistics.shift(a, b)
    assert found.middle == median(differences)
    orders = [
        sum(sum(1 for place in range(one) if place not in chosen) for one in chosen)
        for chosen in itertools.combinations(range(len(a) + len(b)), len(b))
    ]
    outside = 0
    while outside < len(differences) and (
        sum(order <= outside for order in orders) <= 0.025 * len(orders) + 1e-12
    ):
        outside += 1
    if outside == 0:
        assert found[1:] == (None, None)
    else:
        assert found[1:] == (differences[outside - 1], differences[-outside])


def test_the_interval_covers() -> None:
    """In 95 of 100 cases and more, whatever the numbers; and it is no wider than it must be."""
    luck = random.Random(4)
    held = wide = 0
    for _ in range(600):
        a = [luck.expovariate(1) for _ in range(7)]
        b = [luck.expovariate(1) + 2 for _ in range(9)]
        found = statistics.shift(a, b)
        assert found.low is not None
        assert found.high is not None
        held += found.low <= 2 <= found.high
        wide += found.high - found.low > 4
    assert 0.93 <= held / 600 <= 0.985
    assert wide < 60


def test_many_values_are_as_good_as_normal() -> None:
    for size in (51, 60):
        exact = statistics._rank_ways(size, size)
        below, k = 0, 0
        while below + exact[k] <= 0.025 * sum(exact):
            below += exact[k]
            k += 1
        assert abs(statistics._outside(size, size, 0.025) - k) <= 1


@given(st.lists(st.floats(0, 1), max_size=20))
def test_adjusted_ps_find_what_benjamini_and_hochberg_find(ps: list[float]) -> None:
    found = statistics.adjusted(ps)
    for level in (0.01, 0.05, 0.2):
        ordered = sorted(ps)
        last = max((rank for rank, p in enumerate(ordered, 1) if p <= level * rank / len(ps)), default=0)
        limit = ordered[last - 1] if last else -1.0
        for p, q in zip(ps, found, strict=True):
            if abs(q - level) > 1e-12:
                assert (q <= level) == (p <= limit)


def test_a_change_of_the_visible_size_is_seen_in_four_of_five_cases() -> None:
    luck = random.Random(1)
    size = statistics.visible(0.02, 4, 4, 0.05)
    seen = 0
    for _ in range(800):
        a = [luck.gauss(0, 0.02) for _ in range(4)]
        b = [luck.gauss(size, 0.02) for _ in range(4)]
        seen += statistics.student(a, b).p <= 0.05
    assert 0.76 <= seen / 800 <= 0.9


def test_nothing_to_test_is_an_error() -> None:
    with pytest.raises(ValueError, match="two values"):
        statistics.student([1.0], [2.0, 3.0])
    with pytest.raises(ValueError, match="nothing"):
        statistics.quantile([], 0.5)
    with pytest.raises(ValueError, match="of each"):
        statistics.shift([], [1.0])
    assert statistics.spread_within([1.0], []) is None
    assert statistics.visible(0.1, 1, 1, 0.05) == math.inf


def test_rounding_is_no_difference() -> None:
    third = math.log(3)
    assert statistics.student([third] * 4, [third + 1e-16] * 4).p == 1.0
    assert statistics.student([1.0] * 4, [1.1] * 4).p == 0.0
