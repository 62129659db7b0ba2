"""What a step would take without its cause: a number where that is known, else a bound, else nothing."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.instruments.causes import gain
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.input import InputCause
from stepscope.instruments.causes.judgement import Explanation, Judgement, LabelShare
from stepscope.report import whatif
from stepscope.report.answer_document import document
from stepscope.report.remains import Remains, remains, sentences, told_range

MS = 10**9


def one(left_ms: float, low_ms: float, high_ms: float, **more: Any) -> Judgement:
    """A step of 100 ms of which Python takes 80."""
    facts: dict[str, Any] = {
        "run_id": "r", "host_id": "h", "steps": 9, "mean_ps": 100 * MS, "whole_capture": False,
        "share": 0.8, "ps_per_step": 80 * MS, "confidence": "high", "cause": "python",
        "left_ps": round(left_ms * MS), "low_ps": round(low_ms * MS), "high_ps": round(high_ms * MS),
        "parts": (LabelShare("python", 80 * MS, 0.8), LabelShare("compute", 20 * MS, 0.2)),
    }  # fmt: skip
    return Judgement(**{**facts, **more})


@pytest.mark.parametrize(
    ("found", "known", "said"),
    [
        (one(20, 15, 30), Remains(20 * MS, 15 * MS, 30 * MS), "would take about 20.0 ms"),
        (one(20, 2, 30), Remains(high_ps=30 * MS), "would take at most 30.0 ms"),
        (one(60, 40, 99), Remains(low_ps=40 * MS), "would take at least 40.0 ms"),
        (one(60, 5, 99), Remains(), None),
        (one(0.1, 0, 0.5), Remains(high_ps=MS // 2), None),
    ],
)
def test_a_number_has_a_range_within_a_factor_of_two(found, known, said):
    assert remains(found) == known
    told = sentences(found, "step")
    if said is not None:
        assert told == [f"Without that, a step {said}."]
    else:
        assert told == ([] if known.high_ps is None else [f"{_HARDLY} of a step would be left."])
    answer = document([found], ())["answer"]
    assert (answer["step_if_removed_ps"], answer["low"], answer["high"]) == known


_HARDLY = "Without that, hardly anything"


def test_a_number_below_what_the_parts_leave_says_why():
    profiled = one(12, 10, 20, corrected=("profiler",))
    assert sentences(profiled, "step") == [
        "Without that, and without the profiler, a step would take about 12.0 ms."
    ]
    both = replace(profiled, corrected=("profiler", "disturbed"))
    assert sentences(both, "step") == [
        "Without that, and without the profiler, a step would take about 12.0 ms, by the steps that other "
        "programs disturbed least."
    ]
    # A bound holds for all steps: nothing has been taken off it.
    assert sentences(replace(both, low_ps=0), "step") == ["Without that, a step would take at most 20.0 ms."]


def test_a_range_of_a_factor_of_two_is_told():
    assert told_range(10, 20) == (10, 20)
    assert told_range(10, 21) == (None, None)
    assert told_range(0, 0) == (0, 0)
    assert told_range(None, 20) == (None, None)


def steps(python: int, **others: int) -> list[tuple[int, dict[str, int]]]:
    """Thirty alike, in milliseconds."""
    sums = {"python": python * MS, **{label: ms * MS for label, ms in others.items()}}
    return [(sum(sums.values()), sums)] * 30


def test_what_nothing_tells_may_go_with_the_cause():
    left = gain.step_without(steps(80, compute=15, unknown=5), "python")
    assert left == (20 * MS, 15 * MS, 20 * MS, ())


def test_what_samples_tell_is_as_sure_as_their_number():
    """An error of a share of a fifth: 4 % of the step with 100 samples, a tenth of that with 10,000."""
    found = [gain.step_without(steps(80, compute=20), "python", samples=n) for n in (None, 10_000, 100)]
    assert [one.ps for one in found] == [20 * MS] * 3
    assert found[0][1:3] == (20 * MS, 20 * MS)
    assert found[1].low_ps == pytest.approx(20 * MS - 1.6 * 0.4 * MS)
    assert found[2].high_ps == pytest.approx(20 * MS + 1.6 * 4 * MS)
    none_else = gain.step_without(steps(100), "python", samples=100)
    assert none_else.ps == none_else.low_ps == 0
    assert none_else.high_ps == pytest.approx(1.6 * 100 * MS * (0.01 * 0.99 / 100) ** 0.5, rel=1e-6)


def test_what_was_taken_off_is_told():
    busy = [(dur, {"python": 10 * MS, "compute": dur - 10 * MS}) for dur in (20 * MS, 50 * MS)] * 15
    left = gain.step_without(busy, "python", had_cores=0.5)
    assert (left.ps, left.corrected) == (10 * MS, ("disturbed",))
    assert gain.step_without(busy, "python").corrected == ()
    slower = gain.Paces(100 * MS, 90 * MS, events=10**6)
    assert gain.step_without(steps(80, compute=20), "python", slower).corrected == ("profiler",)


def test_what_is_launched_stays_and_may_take_all_of_the_step():
    """A run of a session is one call, of which nothing tells what it runs."""
    launched = [(100 * MS, {"dispatch": 90 * MS, "compute": 10 * MS})] * 30
    assert gain.step_without(launched, "dispatch")[:3] == (10 * MS, 10 * MS, 100 * MS)
    # A thousand ops that are launched from a compiled function instead.
    left = gain.step_without(launched, "dispatch", calls=1000)
    assert left[:3] == (10.7 * MS, 10 * MS, 10.7 * MS)


def test_whatif_says_what_would_tell():
    quiet = list(whatif._of_judgement(one(60, 5, 99)))
    assert quiet == [
        "No prediction: what is left of 100 ms without python is not known well enough.",
        "Record more steps: these differ too much, or too few samples tell them.",
    ]
    busy = list(whatif._of_judgement(one(60, 5, 99, contention=Contention(0.5, 1.5))))
    assert busy[1] == (
        "Record where cores are free: here they were for 25.0 % of the time in which one was wanted."
    )
    assert list(whatif._of_judgement(one(20, 2, 30))) == [
        "Without python, a step would take at most 30.0 ms instead of 100 ms."
    ]


def test_input_that_is_read_ahead_needs_cores():
    """Prefetching moves the work to another thread, which needs a core that other programs may have."""

    def left(had_cores: float) -> gain.Left:
        each = [SimpleNamespace(id=n, dur_ps=dur, sums=sums) for n, (dur, sums) in enumerate(waiting)]
        host: Any = SimpleNamespace(
            steps=each, had_cores=had_cores, paces=None, ask=lambda name: [],
            top_op=SimpleNamespace(on_device=False), stacks=SimpleNamespace(number=lambda: 0),
        )  # fmt: skip
        return InputCause().step_without(host, Explanation())

    waiting = [(100 * MS, {"input": 80 * MS, "compute": 20 * MS})] * 30
    assert left(1.0)[:3] == (20 * MS, 20 * MS, 20 * MS)
    assert left(0.5)[:3] == (20 * MS, 10 * MS, 100 * MS)
