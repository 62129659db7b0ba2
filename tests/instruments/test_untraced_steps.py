"""What is left of steps that no profiler recorded, by looks at their stacks."""

from dataclasses import replace
from math import hypot
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import dispatch, gain
from stepscope.instruments.causes.cause import Removal
from stepscope.instruments.causes.gain import LeftUntraced
from stepscope.instruments.causes.paces import Paces, paces_of
from stepscope.instruments.causes.ranking import judge, longest_untraced
from stepscope.instruments.causes.sampled_lines import SampledStacks, StackEvidence
from stepscope.instruments.causes.side_effects import goes_by_stack, stacks_of_function
from stepscope.instruments.causes.untraced_steps import GoesAtStack, UntracedLooks, untraced_of
from stepscope.instruments.step_breakdown.labels import Meaning
from stepscope.library.statements import statement
from stepscope.report.start_up import run_course
from tests.draw import UNIT_PS, Tables
from tests.fakes import FakeTrace
from tests.report import made_paces, made_recordings
from tests.report.recordings import connection, queried

MS = 10**9
ERRORS, AGAIN = gain.THRESHOLDS.errors, gain.THRESHOLDS.again
LOAD, STEP = (CodeLine("p.py", 5, "load"),), (CodeLine("p.py", 8, "main"),)
PYTHON, LAUNCH = Meaning("python"), Meaning("dispatch")


def evidence() -> StackEvidence:
    """Stacks 1 and 4 are of one line, which runs Python; 2 and 5 of another, which launches."""
    paths = {1: LOAD, 2: STEP, 4: LOAD, 5: STEP, 6: (), 7: ()}
    meanings = {1: PYTHON, 2: LAUNCH, 4: PYTHON, 5: LAUNCH, 6: PYTHON, 7: LAUNCH}
    asked: Any = None
    return StackEvidence(asked, {0: SampledStacks(frozenset(), paths, meanings, frozenset(), {})}, [0])


def looks(**weights: int) -> list[UntracedLooks]:
    return [UntracedLooks(int(stack[1:]), ms, ms * MS, None) for stack, ms in weights.items()]


TRACED = {1: GoesAtStack(30.0, 30.0), 2: GoesAtStack(7.0, 70.0)}
"""All of the Python at one line goes, and a tenth of the other."""


def test_what_goes_of_a_place_is_known_from_recorded_steps():
    found = untraced_of([20e6] * 9 + [500e6] * 2, looks(s4=600, s5=400))
    left = found.left_without("python", TRACED, evidence())
    assert (left.typical_ps, left.mean_ps) == (20 * MS, pytest.approx(1180 / 11 * MS))
    assert left.part == pytest.approx(0.6 + 0.04)
    # As far as looks tell: 1,000 of them, most of which are of what goes as a whole.
    assert left.error == pytest.approx(((0.6 + 0.004 - 0.64**2) / 1000) ** 0.5)


def test_what_no_recorded_step_did_is_told_by_its_stack():
    found = untraced_of([20e6] * 10, looks(s4=50, s6=25, s7=25))
    left = found.left_without("python", TRACED, evidence())
    assert left.part == pytest.approx(0.75)


def test_too_little_tells_nothing():
    assert untraced_of([], looks(s4=100)) is None
    assert untraced_of([20e6] * 30, []) is None
    few = untraced_of([20e6] * 30, looks(s4=49))
    assert few.left_without("python", TRACED, evidence()) is None
    short = untraced_of([20e6] * 9, looks(s4=100))
    assert short.left_without("python", TRACED, evidence()) is None


def test_what_goes_at_a_stack_is_the_cause_and_what_its_line_has_besides():
    rows = [
        (1, 1, "python", 60),
        (1, 1, "copy", 20),
        (2, 1, "compute", 10),
        (2, 2, "python", 5),
        (2, 2, "copy", 5),
    ]
    assert goes_by_stack(rows, [1], "python") == {1: GoesAtStack(80, 90), 2: GoesAtStack(5, 10)}
    assert goes_by_stack(rows, [], "python", 0.5) == {1: GoesAtStack(30, 90), 2: GoesAtStack(2.5, 10)}
    # A line that does more of other things stays, but for the cause itself.
    assert goes_by_stack(rows, [1], "copy") == {1: GoesAtStack(20, 90), 2: GoesAtStack(5, 10)}


def test_a_function_goes_with_its_line_unless_it_calls_the_model():
    found, load = evidence(), LOAD[0]
    mixed = [(1, 1, "wait", 60), (1, 4, "python", 30), (1, 4, "compute", 5), (1, 2, "compute", 95)]
    assert stacks_of_function(found, mixed, load) == {1, 4}
    assert goes_by_stack(mixed, [1], "wait", whole_function={1, 4, 6}) == {
        1: GoesAtStack(60, 60), 4: GoesAtStack(30, 35), 6: GoesAtStack(1, 1), 2: GoesAtStack(0, 95)
    }  # fmt: skip
    # All ops are its own, or it has the loop of steps.
    assert stacks_of_function(found, mixed[:3], load) == set()
    looping = SampledStacks(frozenset(), {1: LOAD}, {1: PYTHON}, frozenset({("p.py", "load")}), {})
    assert stacks_of_function(found._replace(stacks={0: looping}), mixed, load) == set()


@pytest.mark.parametrize(
    ("typical_ms", "looks_at_load", "found"), [(60, 400, "python"), (60, 200, None), (95, 400, None)]
)
def test_a_cause_that_the_profiler_makes_small_is_told_by_steps_without_it(
    typical_ms: int, looks_at_load: int, found: str | None
) -> None:
    """It makes ops longer, and Python not: that has a fifth of a recorded step."""
    rows = [(1, 1, "python", 20 * MS), (1, 2, "compute", 80 * MS)]
    stacks = SimpleNamespace(stacks=evidence().stacks, parts=lambda: rows)
    seen = looks(s4=looks_at_load, s5=1000 - looks_at_load)
    host: Any = SimpleNamespace(
        untraced=untraced_of([typical_ms * 1e6] * 20, seen),
        top_op=SimpleNamespace(on_device=False),
        steps=[SimpleNamespace(dur_ps=100 * MS)] * 10,
        stacks=stacks,
    )
    assert longest_untraced(host) == found
    host.untraced = None
    assert longest_untraced(host) is None


def left(typical: float, part: float, error: float = 0.0, **more: Any) -> gain.Left:
    """Of steps that took 100 ms with a profiler, of which it says that 80 are Python."""
    steps = [(100 * MS, {"python": 80 * MS, "dispatch": 20 * MS})] * 30
    untraced = LeftUntraced(typical * MS, 10 * typical * MS, part, error)
    return gain.step_without(steps, more.pop("cause", "python"), untraced=untraced, **more)


def test_steps_without_a_profiler_tell_what_is_left_of_one():
    found = left(90, 0.5)
    assert found.untraced_ps == 90 * MS
    # What follows 45 ms of the cause may be up to 20 ms faster without them.
    assert found.ps == pytest.approx((45 - 20.25 / 2) * MS)
    apart = hypot(20.25 / 2, ERRORS * AGAIN * 45) * MS
    assert found.low_ps == pytest.approx(found.ps - apart)
    assert found.high_ps == pytest.approx(found.ps + apart)
    wide = left(90, 0.5, 0.1)
    assert wide.low_ps < found.low_ps
    assert wide.high_ps > found.high_ps


@pytest.mark.parametrize(("part", "error"), [(0.5, 0.0), (0.5, 0.02), (0.5, 0.05), (0.9, 0.02), (0.2, 0.03)])
def test_nine_of_ten_programs_lie_within_the_bounds(part: float, error: float):
    """Each leaves another part of what its cause slowed, of a run that differs, by samples that differ: all
    combinations of evenly spread quantiles."""
    found = left(90, part, error)
    usual, slowed = 90 * (1 - part) * MS, 2 * (90 * (1 - part) * MS - found.ps)
    even = [(number + 0.5) / 20 for number in range(20)]
    normal = [NormalDist().inv_cdf(quantile) for quantile in even]
    truths = [
        usual - slower * slowed + run * AGAIN * usual + seen * error * 90 * MS
        for slower in even
        for run in normal
        for seen in normal
    ]
    within = sum(found.low_ps <= truth <= found.high_ps for truth in truths) / len(truths)
    assert 0.88 <= within <= 1.0


def test_two_measurements_of_the_same_steps_bound_what_is_left_together():
    """Of steps that the profiler made no longer, its slices say that 20 ms are left."""
    more, less, alike = left(100, 0.9), left(100, 0.5), left(100, 0.8)
    assert more.high_ps == 20 * MS > more.ps
    slowed = 2 * (50 * MS - less.ps)
    assert less.low_ps == max(20 * MS - slowed, 0)
    assert alike.low_ps < alike.ps < 20 * MS <= alike.high_ps
    # With a profiler that does make them longer, they are other steps.
    assert left(90, 0.9).high_ps < 18 * MS


def test_what_few_steps_have_is_taken_from_a_mean_step():
    """Only a mean step shows what every fourth step takes to save a checkpoint."""
    steps = [(10 * MS, {"dispatch": 10 * MS})] * 30 + [
        (210 * MS, {"wait": 200 * MS, "dispatch": 10 * MS})
    ] * 10
    untraced = LeftUntraced(9.0 * MS, 56.0 * MS, 0.8, 0.0)
    found = gain.step_without(steps, "wait", untraced=untraced)
    assert found.untraced_ps == 56 * MS
    assert found.high_ps > 9 * MS
    often = [(60 * MS, {"wait": 50 * MS, "dispatch": 10 * MS})] * 30
    assert (
        gain.step_without(often, "wait", untraced=untraced._replace(typical_ps=50.0 * MS)).untraced_ps
        == 50 * MS
    )
    # Where no steps but medians are known, a number for such a step is not.
    paces = Paces(10.0 * MS, 9.0 * MS)
    assert gain.step_without(steps, "wait", paces).untraced_ps is None
    assert gain.step_without(often, "wait", Paces(60.0 * MS, 55.0 * MS)).untraced_ps == 55 * MS


def test_what_little_is_left_is_slowed_by_what_it_follows():
    """By three fifths at most, however long the cause takes; by 0.7 ms in any case."""
    assert left(90, 0.9).ps == pytest.approx(9 * 0.7 * MS)
    assert left(90, 0.99).ps == pytest.approx((0.9 - 0.35) * MS)
    assert left(90, 0.9).low_ps == pytest.approx(9 * (0.7 - hypot(0.3, ERRORS * AGAIN)) * MS)
    assert left(90, 0.1).ps == pytest.approx((81 - 9 * 0.45 / 2) * MS)


def test_a_step_that_hardly_changes_has_the_reason_for_a_smaller_number():
    assert left(90, 0.9).corrected == ("profiler",)
    assert left(90, 0.78).corrected == ()


def test_a_step_without_its_cause_is_no_longer_than_the_step():
    assert left(114, 0.01).high_ps == left(114, 0.01).ps == 100 * MS
    assert left(90, 1.0).low_ps == 0


def test_longer_steps_afterwards_are_of_other_work():
    """As where each step works on what all before it left."""
    assert left(114, 0.5).untraced_ps == 114 * MS
    assert left(116, 0.5) == gain.step_without(
        [(100 * MS, {"python": 80 * MS, "dispatch": 20 * MS})] * 30, "python"
    )


def test_launches_of_which_nobody_knows_how_many_may_take_as_long_as_before():
    assert left(90, 0.5, cause="dispatch").high_ps == 100 * MS
    assert left(90, 0.5, cause="dispatch", calls=10).high_ps < 60 * MS


def test_what_comes_from_elsewhere_than_the_place_may_stay():
    """Half of what goes: the number is in the middle, and the bounds hold all of both."""
    all_of_it, untraced = left(90, 0.5), LeftUntraced(90.0 * MS, 90.0 * MS, 0.5, 0.0, elsewhere=0.25)
    steps = [(100 * MS, {"python": 80 * MS, "dispatch": 20 * MS})] * 30
    found = gain.step_without(steps, "python", untraced=untraced)
    assert found.low_ps == all_of_it.low_ps
    assert found.ps == pytest.approx(all_of_it.ps + 11.25 * MS)
    assert found.high_ps == pytest.approx(all_of_it.high_ps + 22.5 * MS)
    more = gain.step_without(steps, "python", untraced=untraced._replace(may_go=0.1))
    assert (more.ps, more.high_ps) == (found.ps, found.high_ps)
    assert more.low_ps == pytest.approx(found.low_ps - 9 * MS)
    ops = untraced._replace(elsewhere=0.0, may_stay_ps=2 * MS)
    launched = gain.step_without(steps, "dispatch", untraced=ops)
    assert launched.ps == all_of_it.ps
    assert launched.high_ps == pytest.approx(all_of_it.high_ps + 2 * MS)


@pytest.mark.parametrize(
    ("launches", "mine", "elsewhere", "may_go"),
    [(64, 30, 0.6 * 40 / 70, 0.0), (None, 30, 0.6 * 40 / 70, 0.1), (64, 300, 0.6 * 10 / 70, 0.0)],
)
def test_launching_elsewhere_than_in_the_function_may_stay(
    monkeypatch: pytest.MonkeyPatch, launches: int | None, mine: int, elsewhere: float, may_go: float
) -> None:
    """Six tenths of the looks are at a line of which four sevenths launch, most of it for gradients. Those
    belong to the function that launches nearly all else."""
    paths = {1: LOAD, 2: STEP, 3: STEP}
    stacks = SampledStacks(
        frozenset(), paths, dict.fromkeys(paths, LAUNCH), frozenset(), {}, gradients=frozenset({3})
    )
    rows = [
        (1, 1, "dispatch", mine), (1, 1, "compute", mine // 3), (1, 2, "compute", 30), (1, 2, "dispatch", 10),
        (1, 3, "dispatch", 30),
    ]  # fmt: skip
    found: Any = StackEvidence(lambda _: SimpleNamespace(rows=lambda: rows), {0: stacks}, [0])  # type: ignore[arg-type]
    monkeypatch.setattr(dispatch, "launches_of", lambda host: launches)
    monkeypatch.setattr(dispatch, "ops_of_calls", lambda host: 1000)
    host: Any = SimpleNamespace(
        untraced=untraced_of([20e6] * 20, looks(s1=400, s2=300, s3=300)),
        top_op=SimpleNamespace(on_device=False),
        stacks=found,
    )
    cause = dispatch.DispatchCause()
    goes = Removal(by_stack=goes_by_stack(rows, (), "dispatch"), of_place=cause.launching_of(found, LOAD[0]))
    told = cause.untraced(host, goes)
    assert told.elsewhere == pytest.approx(elsewhere)
    assert told.may_go == pytest.approx(may_go)
    # Compiled ones would take 0.7 us each.
    assert told.may_stay_ps == (0.7 * MS if launches is None else 0)
    # A tenth of a step computes in the function: compiled ops do so as well.
    goes = replace(goes, sure=goes.by_stack, by_stack={**(goes.by_stack or {}), 1: GoesAtStack(40.0, 40.0)})
    told = cause.untraced(host, goes)
    assert told.elsewhere == pytest.approx(elsewhere + 0.1)


def test_steps_that_warm_up_tell_no_pace():
    """A program that ends with its recording leaves none but those before it."""

    def pace(*steps: tuple[str, float]) -> float | None:
        tables = Tables()
        tables.source()
        for at, (name, value) in enumerate(steps):
            facts = {"name": "duration of a step", "series": name, "value": value, "ts_ps": at * MS}
            tables.add("counter", **facts)
        tables.fill(connection())
        rows = [row[2:] for row in FakeTrace(connection()).query(statement("traced_durations")).rows()]
        found = paces_of(rows, 0)
        return None if found is None else found.untraced_ps / 1000

    recorded = [("traced_ns", 60.0)] * 3
    warms_up = [("untraced_ns", value) for value in (650.0, 109.0, 67.0, 43.0)]
    settled = [("untraced_ns", value) for value in (90.0, 50.0, 48.0, 49.0)]
    assert pace(*warms_up, *recorded) is None
    assert pace(*settled, *recorded) == 49.5
    assert pace(*warms_up, *recorded, *[("untraced_ns", 3.0)] * 3) == 3.0


def test_what_a_recorder_timed_may_be_a_part_of_the_steps():
    """A program that calls `fit` for every batch: the recorder times batches, and a step has all of it."""
    tables = made_paces.timed(6)
    query = queried(tables)
    (whole,) = judge(query)
    assert whole.untraced_ps == 6 * UNIT_PS
    for row in tables.rows["counter"]:
        row["value"] /= 10
    (part,) = judge(queried(tables))
    assert part.untraced_ps is None


def test_what_lies_between_parts_of_steps_is_no_time_between_steps():
    tables = made_recordings.a_long_start_up()
    assert any("lie between steps" in sentence for sentence in run_course(queried(tables)).at_top)
    step_ps = tables.rows["step_stored"][0]["dur_ps"]
    facts = {"name": "duration of a step", "series": "traced_ns", "ts_ps": 0}
    tables.add("counter", value=step_ps / 10_000, **facts)
    assert not any("lie between steps" in sentence for sentence in run_course(queried(tables)).at_top)


def test_what_an_estimator_does_between_steps_is_told():
    """But not what comes after the last step that was timed."""
    tables = made_recordings.a_long_start_up()
    (step, *_) = tables.rows["step_stored"]
    facts = {"source_id": 0, "step": 9, "name": "step", "reason": "", "recovered_from": "estimator"}
    timed = {"name": "duration of the call in a step", "series": "untraced_ns", "value": 1}
    end_ps = step["ts_ps"] + step["dur_ps"]
    tables.add("counter", ts_ps=end_ps + 10**12, **timed)
    for ts_ps in (end_ps, end_ps + 2 * 10**12):
        row = {"kind": "eval", "ts_ps": ts_ps, "dur_ps": 10**12, "averaged": False}
        tables.add("step_stored", **facts, **row)
    (sentence,) = (one for one in run_course(queried(tables)).at_top if "lie between steps" in one)
    assert sentence.endswith("lie between steps: 1.00 s in 1 round of evaluation.")
