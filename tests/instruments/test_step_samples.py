"""What samples of stacks tell of steps: Python or waiting, for how long, and on which stack."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.step_breakdown import labels, stack_samples
from stepscope.instruments.step_breakdown.labels import LABELS
from stepscope.instruments.step_breakdown.stack_samples import DriverSample
from stepscope.instruments.step_breakdown.sweep import Segment
from stepscope.lake.schema import schema
from tests.draw import UNIT_PS, draw
from tests.instruments.step_drawings import asked, drawn, parts, rows, sample


@pytest.mark.skipif("stack_sample" not in schema().names, reason="no table of samples")
def test_samples_of_stacks_tell_python_from_waiting():
    """Code of the program is Python; when its thread did not run it waits; a library is what calls it."""
    tables = drawn("""
step       train  : [0...........................]
cpu/python thread : [FunctionRun]
""")
    main = ("train.py", "main", "program")
    sample(tables, 14, 21, main, ("train.py", "count", "program"), cpu=0.9)
    sample(tables, 21, 26, main, ("train.py", "pause", "program"), cpu=0.01)
    sample(tables, 26, 28, main, ("jax/_src/lax/lax.py", "mul", "library"))
    sample(tables, 28, 29, main, ("numpy/core/x.py", "sum", "library"))
    assert parts(tables) == {0: {"dispatch": 13 + 2, "python": 7 + 1, "wait": 5, "unknown": 2}}


def test_a_sample_of_a_short_burst_beside_a_wait_holds_both():
    """The part in which the thread ran is Python. From a quarter on, others kept it from running."""
    tables = drawn("""
step       train  : [0......................................]
cpu/python thread : [FunctionRun..]
""")
    main = ("train.py", "main", "program")
    sample(tables, 16, 36, main, cpu=0.1)
    sample(tables, 36, 41, main, cpu=0.3)
    assert parts(tables) == {0: {"dispatch": 15, "python": 2 + 5, "wait": 18, "unknown": 1}}


def test_python_without_a_core_does_not_wait():
    """It would run if other programs left it a core; what it has neither is a wait."""
    tables = drawn("""
step       train  : [0......................................]
cpu/python thread : [FunctionRun..]
""")
    main = ("train.py", "main", "program")
    sample(tables, 16, 36, main, cpu=0.1, queued=0.85)
    sample(tables, 36, 41, main, cpu=0.01, queued=0.01)
    assert parts(tables) == {0: {"dispatch": 15, "python": 20, "wait": 5, "unknown": 1}}


@pytest.mark.parametrize(
    ("active", "queued", "ran"),
    [(None, 0, None), (30, 0, 0.3), (95, 85, 2 / 3), (31, 30, 1 / 70), (99, 98, 1.0)],
)
def test_a_thread_ran_for_a_part_of_the_time_in_which_it_had_a_core(active, queued, ran):
    """What it lacks of the rest it was blocked: time in the queue for a core says nothing of that."""
    assert labels.part_run(100, active, queued) == (None if ran is None else pytest.approx(ran))


@given(st.sampled_from((*LABELS, None)), st.none() | st.floats(0, 1))
def test_a_sample_is_shared_out_wholly(label, ran):
    assert sum(share for _, share in labels.shares(label, ran)) == pytest.approx(1)


def test_parts_by_stack():
    """What decides an instant is its label; the stack of that instant has it, whatever the stack says."""
    tables = drawn("""
step       train  : [0...........................]
cpu/python thread : [FunctionRun]
cpu/pool   thread :     [a:MatMul]
""")
    main = ("train.py", "main", "program")
    sample(tables, 1, 8, main, ("tensorflow/python/eager/execute.py", "quick_execute", "library"))
    sample(tables, 20, 32, main, ("train.py", "count", "program"))
    found = [
        (row["step_id"], row["stack_id"], row["label"], row["dur_ps"] / UNIT_PS)
        for row in rows(tables).stack_part
    ]
    assert found == [(0, 1, "compute", 3), (0, 1, "dispatch", 4), (0, 3, "python", 11)]


def test_samples_reach_to_the_next_at_most():
    samples = [
        DriverSample(5, 9, 7, 1, (("wait", 1.0),)),
        DriverSample(0, 6, 6, 2, (("python", 1.0),)),
        DriverSample(9, 10, 9, 3, (("wait", 1.0),)),
        DriverSample(12, 16, 12, 4, ((None, 0.5), ("python", 0.5))),
    ]
    found = stack_samples.disjoint(samples)
    assert [one[:4] for one in found] == [(0, 5, 4, 2), (5, 9, 7, 1), (9, 10, 9, 3), (12, 16, 12, 4)]
    looks = [look for one in found for look in stack_samples.spans_of(one, one.from_ps, one.to_ps)]
    assert stack_samples.segments(looks) == [
        Segment(0, 5, "python"),
        Segment(5, 10, "wait"),
        Segment(14, 16, "python"),
    ]


def test_no_samples_no_stacks():
    ask = asked(draw("cpu/a thread : [b]"))
    shifts = stack_samples.shifts(ask, [0])
    assert shifts == {}
    assert stack_samples.driver_samples(ask, shifts, {0: (0, 9)}) == {}
    assert stack_samples.loader_intervals(ask, shifts, {0: (0, 9)}) == {0: []}
