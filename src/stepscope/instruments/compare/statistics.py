"""Statistics of few recordings, in plain Python: Student's t, Hodges and Lehmann's shift, many tests at once.

A value is one recording's, never one step's: steps of a recording share its luck.
"""

import math
from collections.abc import Sequence
from functools import cache
from statistics import fmean, median
from typing import NamedTuple

_EXACT = 50
"""Values a side up to which ranks are counted exactly; above it they are as good as normal."""


class Test(NamedTuple):
    """Two groups of values, compared by Student's t with one spread for both."""

    difference: float
    """Mean of the second less that of the first."""
    spread: float
    """Standard deviation within the groups."""
    p: float
    """Probability of a difference at least as large, either way, when there is none."""


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values lie below, between neighbours in proportion.

    ValueError without values."""
    if not values:
        raise ValueError("a quantile of nothing")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def spread_within(*groups: Sequence[float]) -> float | None:
    """Standard deviation within groups, pooled; None when no group has two values."""
    freedom = sum(len(group) - 1 for group in groups if group)
    if freedom < 1:
        return None
    total = 0.0
    for group in groups:
        if group:
            mean = fmean(group)
            total += sum((value - mean) ** 2 for value in group)
    return math.sqrt(total / freedom)


def student(a: Sequence[float], b: Sequence[float]) -> Test:
    """Student's t-test of two groups. ValueError with fewer than two values in either."""
    if len(a) < 2 or len(b) < 2:
        raise ValueError("a test needs two values of each")
    freedom = len(a) + len(b) - 2
    spread = spread_within(a, b) or 0.0
    difference = fmean(b) - fmean(a)
    error = spread * math.sqrt(1 / len(a) + 1 / len(b))
    # Values that are equal to their last digits have a spread that is nothing but rounding.
    least = 1e-12 * max(map(abs, (*a, *b)))
    if error <= least:
        return Test(difference, spread, 1.0 if abs(difference) <= least else 0.0)
    return Test(difference, spread, t_tails(difference / error, freedom))


def t_tails(t: float, freedom: float) -> float:
    """Probability that Student's t with so many degrees of freedom is at least so far from 0, either way."""
    if math.isinf(t):
        return 0.0
    return _beta_share(freedom / 2, 0.5, freedom / (freedom + t * t))


def t_quantile(p: float, freedom: float) -> float:
    """The t below which a share p lies, for p from 0.5 to below 1."""
    if not 0.5 <= p < 1:
        raise ValueError("p is from 0.5 to below 1")
    tails = 2 * (1 - p)
    low, high = 0.0, 1.0
    while t_tails(high, freedom) > tails:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if t_tails(middle, freedom) > tails:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _beta_share(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(a, b, x) / a
    return 1 - front * _fraction(b, a, 1 - x) / b


def _fraction(a: float, b: float, x: float) -> float:
    # The continued fraction of the beta function, by Lentz's method.
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 1000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            value *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return value


class Shift(NamedTuple):
    """How far the second group lies above the first."""

    middle: float
    """Median of all differences of a value of the second and one of the first (Hodges and Lehmann)."""
    low: float | None
    """Ends of the interval at the asked level; None where so few values have none."""
    high: float | None


def shift(a: Sequence[float], b: Sequence[float], level: float = 0.95) -> Shift:
    """The shift from a to b with its interval from ranks, which no single odd recording can move far.

    ValueError without values in either."""
    if not a or not b:
        raise ValueError("a shift needs values of each")
    differences = sorted(y - x for x in a for y in b)
    outside = _outside(len(a), len(b), (1 - level) / 2)
    middle = median(differences)
    if outside < 1:
        return Shift(middle, None, None)
    return Shift(middle, differences[outside - 1], differences[-outside])


def _outside(n: int, m: int, tail: float) -> int:
    """The largest k for which the k-th smallest and k-th largest difference are ends of the interval."""
    if max(n, m) > _EXACT:
        from statistics import NormalDist

        spread = math.sqrt(n * m * (n + m + 1) / 12)
        return max(0, math.floor(n * m / 2 + NormalDist().inv_cdf(tail) * spread))
    ways = _rank_ways(n, m)
    total, below, k = sum(ways), 0, 0
    while k < len(ways) and (below + ways[k]) <= tail * total:
        below += ways[k]
        k += 1
    return k


@cache
def _rank_ways(n: int, m: int) -> tuple[int, ...]:
    """In how many orders of n and m values exactly u of their n·m pairs stand the other way round."""
    # Counting by the Gaussian binomial coefficient: multiply by (1 - q^(m+i)) and divide by (1 - q^i).
    size = n * m + 1
    ways = [1] + [0] * (size - 1)
    for i in range(1, n + 1):
        for u in range(size - 1, m + i - 1, -1):
            ways[u] -= ways[u - m - i]
        for u in range(i, size):
            ways[u] += ways[u - i]
    return tuple(ways)


def adjusted(ps: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's p of each test: those at most 0.05 have at most 5 % false ones among them."""
    order = sorted(range(len(ps)), key=lambda i: ps[i])
    found = [1.0] * len(ps)
    least = 1.0
    for rank in range(len(order), 0, -1):
        i = order[rank - 1]
        least = min(least, ps[i] * len(ps) / rank)
        found[i] = least
    return found


def visible(spread: float, n: int, m: int, alpha: float, power: float = 0.8) -> float:
    """The smallest difference that a t-test at `alpha` finds in `power` of cases, about.

    By the t's own quantiles, which is a little more than the exact noncentral t gives."""
    freedom = n + m - 2
    if freedom < 1:
        return math.inf
    reach = t_quantile(1 - alpha / 2, freedom) + t_quantile(power, freedom)
    return reach * spread * math.sqrt(1 / n + 1 / m)
