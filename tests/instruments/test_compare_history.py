"""Changes over many recordings: planted ones are found where they are, and equal ones raise no alarm."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.compare import history
from stepscope.instruments.compare.budgets import Budget
from stepscope.instruments.compare.matching import NamedItem
from stepscope.instruments.compare.recordings import RecordedRun, Series


def _energy(first: list[float], second: list[float]) -> float:
    """The statistic as its definition has it."""
    n, m = len(first), len(second)
    cross = sum(abs(x - y) for x in first for y in second) / (n * m)
    inside = [sum(abs(x - y) for x in one for y in one) / len(one) ** 2 for one in (first, second)]
    return (2 * cross - sum(inside)) * n * m / (n + m)


@given(st.lists(st.integers(-50, 50).map(float), min_size=8, max_size=24))
def test_the_best_cut_by_brute_force(values: list[float]) -> None:
    found = history.best_cut(values)
    energies = {cut: _energy(values[:cut], values[cut:]) for cut in range(4, len(values) - 3)}
    best = max(energies.values())
    if best <= 1e-9:
        assert found is None or energies[found] == pytest.approx(0, abs=1e-9)
    else:
        assert found is not None
        assert energies[found] == pytest.approx(best, rel=1e-9)


def test_planted_changes_are_found_where_they_are() -> None:
    luck = random.Random(5)
    values = [luck.gauss(level, 0.02) for level in [0.0] * 15 + [0.2] * 12 + [0.1] * 13]
    assert [cut for cut, _ in history.change_points(values, 0.05)] == [15, 27]
    assert history.change_points(values, 0.05) == history.change_points(values, 0.05)
    assert [cut for cut, _ in history.change_points(values, 0.05, least=0.15)] in ([15], [])


def test_equal_recordings_raise_no_alarm() -> None:
    luck = random.Random(6)
    alarms = sum(bool(history.change_points([luck.gauss(0, 1) for _ in range(30)], 0.05)) for _ in range(300))
    assert alarms <= 0.05 * 300


@given(st.lists(st.floats(-10, 10), max_size=30))
def test_any_series_has_an_answer(values: list[float]) -> None:
    cuts = [cut for cut, _ in history.change_points(values, 0.05)]
    assert cuts == sorted(set(cuts))
    assert all(0 < cut < len(values) for cut in cuts)


def _recordings(number: int, since: int) -> list[RecordedRun]:
    luck = random.Random(7)
    found = []
    for place in range(number):
        ms = 2.4 if place >= since else 2.0
        times = {i: round(ms * 10**9 * luck.uniform(0.98, 1.05)) for i in range(20)}
        kernels = 30 if place >= since + 3 else 29
        steps = tuple(ps + 10**9 for ps in times.values())
        ops = {
            ("host", "d/MatMul", "MatMul"): Series(NamedItem("d/MatMul", "MatMul", scope=("d",)), times, 20)
        }
        found.append(RecordedRun(f"r{place}", "lake", steps, ops, exact={"kernels_per_step": kernels}))
    return found


def test_a_history_says_what_changed_and_when() -> None:
    found = history.find(_recordings(24, 12), Budget())
    assert {(one.figure, one.at) for one in found.changes} == {
        ("d/MatMul", 12),
        ("step, 10th percentile", 12),
        ("step, median", 12),
        ("kernels_per_step", 15),
    }
    (op,) = [one for one in found.changes if one.figure == "d/MatMul"]
    assert op.after / op.before == pytest.approx(1.2, abs=0.02)
    assert not history.find(_recordings(24, 99), Budget()).changes


def test_a_short_history_has_no_changes() -> None:
    assert not history.find(_recordings(19, 10), Budget()).changes
    assert not history.find([], Budget()).changes


def test_a_long_history_is_cut_and_says_so() -> None:
    found = history.find(_recordings(305, 999), Budget())
    assert (len(found.recordings), found.left_out) == (history.MOST_RECORDINGS, 5)
