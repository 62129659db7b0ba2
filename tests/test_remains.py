"""What a step would take without its cause: a number where that is known, else a bound, else nothing.

Past 400 lines because it is a list: a cause, and what is said to remain without it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.instruments.causes import gain
from stepscope.instruments.causes.cause_facts import Recomputed, SampleCounts
from stepscope.instruments.causes.compute import ComputeCause
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.input import InputCause
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.causes.label_shares import LabelShare
from stepscope.instruments.causes.paces import Paces
from stepscope.instruments.pipeline.loaders import Loader, Loading
from stepscope.instruments.replay import uncovered_work
from stepscope.report import judgement_text, whatif
from stepscope.report.answer_document import document
from stepscope.report.remains import Remains, printed_range, remains, sentences, untraced_step

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


_CHANCE = ("few-steps", "few-samples")
_AT_MOST_30 = Remains(high_ps=30 * MS)


@pytest.mark.parametrize(
    ("found", "known", "said"),
    [
        (one(20, 18, 30), Remains(20 * MS, 18 * MS, 30 * MS), "would take about 20.0 ms"),
        (one(20, 2, 30), _AT_MOST_30, "would take at most 30.0 ms"),
        # Neither steps nor samples tell for sure what the cause is, and where.
        (one(20, 18, 30, weak=_CHANCE, untraced_ps=90 * MS), _AT_MOST_30, "would take at most 30.0 ms"),
        (one(20, 18, 30, weak=_CHANCE[1:]), Remains(20 * MS, 18 * MS, 30 * MS), "would take about 20.0 ms"),
        (one(60, 40, 99), Remains(low_ps=40 * MS), "would take at least 40.0 ms"),
        (one(60, 5, 99), Remains(), None),
        (one(0.1, 0, 0.5), Remains(high_ps=MS // 2), None),
    ],
)
def test_a_number_has_a_range_that_ends_a_quarter_away(found, known, said):
    assert remains(found) == known
    told = sentences(found, "step")
    if said is not None:
        assert told == [f"Without that, a step {said}."]
    else:
        assert told == ([] if known.high_ps is None else [f"{_HARDLY} of a step would be left."])
    answer = document([found], ())["answer"]
    keys = ("step_if_removed_ps", "low", "high", "saved_ps", "saved_low", "saved_high")
    assert tuple(answer[key] for key in keys) == known


_HARDLY = "Without that, hardly anything"


@pytest.mark.parametrize(
    ("by", "more", "gain_ms"),
    [
        ("torch.utils.checkpoint", {}, 20),
        ("torch.utils.checkpoint", {"untraced_ps": 50 * MS}, 10),
        # The host of a device may run ahead of it; ops of a compiled program are the device's own.
        ("torch.utils.checkpoint", {"on_device": True}, None),
        ("jax.checkpoint", {"on_device": True}, 20),
        ("torch.utils.checkpoint", {"whole_capture": True}, None),
    ],
)
def test_what_is_computed_again_says_what_keeping_it_gains(
    by: Any, more: dict[str, Any], gain_ms: int | None
):
    found = one(20, 18, 30, cause="compute", recomputed=Recomputed(by, 0.2), **more)
    (sentence,) = (
        text for text in judgement_text.sentences([found], several=False) if "computes again" in text
    )
    gain = "" if gain_ms is None else f": if it were kept, a step would be about {gain_ms}.0 ms shorter"
    assert sentence == f"20.0 % of a step computes again what {by} did not keep, to save memory{gain}."


@pytest.mark.parametrize(
    ("found", "known", "said"),
    [
        # Nine tenths more or less may be left; what goes is known all the same, and is no more than the step.
        (
            one(2, 0.2, 5, untraced_ps=95 * MS),
            (93 * MS, 83_576_000_000, 95 * MS),
            "would be about 93.0 ms shorter, and take at most 5.00 ms",
        ),
        (
            one(2, 0.2, 5, untraced_ps=50 * MS),
            (48 * MS, 42_500_000_000, 50 * MS),
            "(50.0 ms without the profiler) would be about 48.0 ms shorter, and take at most 5.00 ms",
        ),
        # Where what is left is known, the sentence says that; the answer says both.
        (
            one(20, 18, 30, untraced_ps=95 * MS),
            (75 * MS, 62_700_000_000, 82_500_000_000),
            "would take about 20.0 ms",
        ),
        (one(60, 5, 99, untraced_ps=95 * MS), (None, None, None), None),
        (one(96, 90, 99, untraced_ps=90 * MS), (None, None, None), None),
    ],
)
def test_what_goes_may_be_known_where_what_is_left_is_not(found, known, said):
    assert remains(found)[3:] == (known if known[0] is None else pytest.approx(known, rel=0.002))
    assert sentences(found, "step") == ([] if said is None else [f"Without that, a step {said}."])
    answer = document([found], ())["answer"]
    assert (answer["saved_ps"], answer["saved_low"], answer["saved_high"]) == remains(found)[3:]


def test_a_number_below_what_the_parts_leave_says_why():
    profiled = one(12, 10, 16, corrected=("profiler",))
    assert sentences(profiled, "step") == [
        "Without that, and without the profiler, a step would take about 12.0 ms."
    ]
    both = replace(profiled, corrected=("profiler", "disturbed"))
    assert sentences(both, "step") == [
        "Without that, and without the profiler, a step would take about 12.0 ms, by the steps that other "
        "programs disturbed least."
    ]
    # A bound above what the parts leave has nothing taken off it.
    for high_ps, why in ((16 * MS, ", and without the profiler"), (45 * MS, "")):
        bound = replace(profiled, low_ps=0, high_ps=high_ps)
        said = f"Without that{why}, a step would take at most {high_ps // MS}.0 ms."
        assert sentences(bound, "step") == [said]


def test_a_range_is_told_whose_ends_are_a_quarter_from_its_middle():
    assert printed_range(12, 20) == (12, 20)
    assert printed_range(12, 21) == (None, None)
    assert printed_range(0, 0) == (0, 0)
    assert printed_range(None, 20) == (None, None)


def steps(python: int, **others: int) -> list[tuple[int, dict[str, int]]]:
    """Thirty alike, in milliseconds."""
    sums = {"python": python * MS, **{label: ms * MS for label, ms in others.items()}}
    return [(sum(sums.values()), sums)] * 30


ERRORS, AGAIN = gain.THRESHOLDS.errors, gain.THRESHOLDS.again
COLD = gain.THRESHOLDS.cold_ps


def test_the_same_program_differs_when_it_runs_again():
    left = gain.step_without(steps(80, compute=20), "python")
    assert left.ps == 20 * MS
    assert left.high_ps == pytest.approx(20 * MS * (1 + ERRORS * AGAIN))
    assert left.low_ps == pytest.approx(20 * MS * (1 - ERRORS * AGAIN) - COLD)


def test_what_follows_the_cause_may_be_slow_because_of_it():
    """Caches are cold and threads sleep: a part of it, and no more than so many microseconds. A device does
    not cool."""

    def cooled(compute_us: int, device: bool) -> float:
        sums = {"python": 80 * MS, "compute": compute_us * MS // 1000}
        left = gain.step_without([(sum(sums.values()), sums)] * 30, "python", device=device)
        return left.ps * (1 - ERRORS * AGAIN) - left.low_ps

    assert cooled(20_000, device=False) == pytest.approx(COLD, abs=2)
    assert cooled(100, device=False) == pytest.approx(0.8 * MS / 10, abs=2)
    assert cooled(20_000, device=True) <= 0


def test_what_nothing_tells_may_go_with_the_cause():
    left = gain.step_without(steps(80, compute=15, unknown=5), "python")
    assert left.ps == 20 * MS
    assert left.low_ps == pytest.approx(15 * MS - 20 * MS * ERRORS * AGAIN - COLD)


def test_a_typical_step_is_told_and_the_mean_is_within_the_bounds():
    """Three of thirty steps write a checkpoint besides: a clock around the steps hardly sees them."""
    each = steps(80, compute=20)[:27] + steps(80, compute=20, copy=200)[:3]
    left = gain.step_without(each, "python")
    assert left.ps == 20 * MS
    assert left.low_ps < 20 * MS < 40 * MS < left.high_ps


def test_where_long_steps_add_more_than_goes_the_mean_is_told():
    """Half a millisecond of launching goes from 30 ms; one step in ten takes ten times as long."""
    long = [(300 * MS, {"dispatch": MS // 2, "input": 300 * MS - MS // 2})]
    each = [(30 * MS, {"dispatch": MS // 2, "input": 30 * MS - MS // 2})] * 9 + long
    assert gain.step_without(each, "dispatch", calls=1).ps == pytest.approx(57 * MS - MS / 2, abs=MS / 100)
    assert gain.step_without(each, "input").ps == MS // 2


def test_what_samples_tell_is_as_sure_as_their_number():
    """Of Python and waiting stacks alone tell: here all of it is the cause, but for a sample or two of the
    next recording. What slices tell, computing, is no matter of samples."""

    def error_of(samples: int | None, cause: str = "python", **others: int) -> float:
        left = gain.step_without(steps(80, **others), cause, samples=samples)
        rest = sum(others.values()) * MS
        return float(((left.high_ps - rest) ** 2 - (ERRORS * AGAIN * rest) ** 2) ** 0.5 / ERRORS)

    assert error_of(None, compute=20) == pytest.approx(0, abs=0.01 * MS)
    for samples in (10_000, 100):
        seen = 0.8 * samples
        expected = 80 * MS * (1 / seen * (1 - 1 / seen) / seen) ** 0.5
        assert error_of(samples, compute=20) == pytest.approx(expected, rel=0.01)
    # A fifth of what stacks tell is something else: 4 % of that with 100 samples.
    assert error_of(100, wait=20) == pytest.approx(100 * MS * 0.04, rel=0.01)
    assert gain.step_without(steps(100), "python", samples=100).ps == 0
    # Where nothing but samples tells launching from tracing, all that does not compute is sampled.
    compiled = gain.step_without(
        [(100 * MS, {"compile": 60 * MS, "dispatch": 40 * MS})] * 30, "compile", samples=100
    )
    assert compiled.high_ps > 40 * MS * (1 + ERRORS * AGAIN) + 2 * MS


def test_what_was_taken_off_is_told():
    busy = [(dur, {"python": 10 * MS, "compute": dur - 10 * MS}) for dur in (20 * MS, 50 * MS)] * 15
    left = gain.step_without(busy, "python", had_cores=0.5)
    assert (left.ps, left.corrected) == (10 * MS, ("disturbed",))
    assert gain.step_without(busy, "python").corrected == ()
    slower = Paces(100 * MS, 90 * MS, events=10**6)
    assert gain.step_without(steps(80, compute=20), "python", slower).corrected == ("profiler",)


def test_what_a_profiler_costs_beyond_its_events_may_all_be_in_what_is_left():
    """PyTorch's traces calls of Python, which are no events of the step's threads."""
    known = gain.step_without(steps(80, compute=20), "python", Paces(100 * MS, 99 * MS, events=500))
    traced = gain.step_without(steps(80, compute=20), "python", Paces(100 * MS, 90 * MS, events=500))
    assert (known.ps, known.high_ps) == (traced.ps, traced.high_ps)
    assert known.low_ps - traced.low_ps == 9 * MS


def test_what_is_launched_stays_and_may_take_all_of_the_step():
    """A run of a session is one call, of which nothing tells what it runs."""
    launched = [(100 * MS, {"dispatch": 90 * MS, "compute": 10 * MS})] * 30
    unknown = gain.step_without(launched, "dispatch")
    assert (unknown.ps, unknown.high_ps) == (10 * MS, 100 * MS)
    # A thousand ops that are launched from a compiled function instead: up to twice as long as usual.
    left = gain.step_without(launched, "dispatch", calls=1000)
    assert left.ps == 10.7 * MS
    assert left.high_ps == pytest.approx(10 * MS * (1 + ERRORS * AGAIN) + 1.4 * MS)


def test_a_device_without_work_waits_for_a_host_whose_work_stays():
    """A host that allocates for 11 ms and launches small ops for 4 ms: launching stays."""
    assert sentences(one(0.1, 0, 0.5, cause="idle"), "step") == []


def test_whatif_says_what_would_tell():
    quiet = list(whatif._judgement_sentences(one(60, 5, 99)))
    assert quiet == [
        "No prediction: what is left of 100 ms without python is not known well enough.",
        "Record more steps: these differ too much, or too few samples tell them.",
    ]
    waits = list(whatif._judgement_sentences(one(60, 5, 99, cause="wait", late_copy="cudaMemcpyAsync")))
    assert waits[1] == "cudaMemcpyAsync waits for what the device does first, which stays: make that shorter."
    busy = list(whatif._judgement_sentences(one(60, 5, 99, contention=Contention(0.5, 1.5))))
    assert busy[1] == (
        "Record where cores are free: here they were for 25.0 % of the time in which one was wanted."
    )
    assert list(whatif._judgement_sentences(one(20, 2, 30))) == [
        "Without python, a step would take at most 30.0 ms instead of 100 ms."
    ]


def test_batches_are_made_in_another_way_which_may_take_as_long():
    each = [SimpleNamespace(id=n, dur_ps=dur, sums=sums) for n, (dur, sums) in enumerate(WAITING)]
    host: Any = SimpleNamespace(
        steps=each, had_cores=1.0, paces=Paces(100 * MS, 99 * MS), untraced=None, ask=lambda name: [],
        mean_ps=100 * MS, top_op=SimpleNamespace(on_device=False), stacks=SimpleNamespace(number=lambda: 0),
    )  # fmt: skip
    left = InputCause().step_without(host, Explanation())
    assert (left.ps, left.untraced_ps) == (20 * MS, 99 * MS)
    found = one(20, 15, 24, cause="input", share=0.8)
    assert remains(found) == Remains()
    assert list(whatif._judgement_sentences(found))[1] == INSTEAD
    # How long the program waits is known all the same, where steps without a profiler were timed.
    waits = replace(found, untraced_ps=99 * MS)
    assert sentences(waits, "step") == ["Without that, a step would be up to about 79.0 ms shorter."]
    assert remains(waits)[:5] == (None, None, None, 79 * MS, 0)
    assert list(whatif._judgement_sentences(waits)) == [
        "Without input, a step would be up to about 79.0 ms shorter.",
        "It takes 99.0 ms now, without the profiler.",
    ]


WAITING = [(100 * MS, {"input": 80 * MS, "compute": 20 * MS})] * 30
INSTEAD = "What is done instead takes time as well: change it, record again, and compare the two."


def test_what_ops_of_a_type_compute_is_computed_in_another_way():
    """A layer may be left out."""
    host: Any = SimpleNamespace(
        steps=[SimpleNamespace(id=n, dur_ps=100 * MS, sums={"compute": 100 * MS}) for n in range(30)],
        had_cores=1.0, paces=None, mean_ps=100 * MS,
        top_op=SimpleNamespace(on_device=False, share=0.8, launched=0, is_product=False),
        top_layer=SimpleNamespace(share=0.8), whole_table=None,
    )  # fmt: skip
    layer = ComputeCause().step_without(host, Explanation(layer_share=0.8))
    assert (layer.ps, layer.high_ps) == (20 * MS, pytest.approx(20 * MS * (1 + ERRORS * AGAIN)))
    of_type = ComputeCause().step_without(host, Explanation())
    assert of_type == layer
    found = one(30, 28, 33, cause="compute", op_type="Svd", op_share=0.8)
    assert remains(found) == Remains(low_ps=28 * MS)
    assert remains(replace(found, layer_share=0.8)) == Remains(30 * MS, 28 * MS, 33 * MS)


def test_workers_that_nobody_recorded_may_limit_what_is_left():
    """They may take 90 ms for a batch, and nothing tells: Python hides that as long as it takes 95."""
    found = one(2, 0.2, 5, untraced_ps=95 * MS)
    loader = Loader("DataLoader", None, "Rows", None, {"num_workers": 2})
    loading = Loading("h", None, 0, None, (loader,))
    (fed,) = uncovered_work.fed_unseen([found], [loading])
    assert remains(fed)[:3] == (None, None, None)
    assert sentences(fed, "step") == [
        "Without that, a step would be up to about 93.0 ms shorter, as far as the loader's workers keep up."
    ]
    assert uncovered_work.fed_unseen(
        [found], [loading._replace(loaders=(loader._replace(arguments={}),))]
    ) == [found]
    waits = replace(found, cause="input")
    assert uncovered_work.fed_unseen([waits], [loading]) == [waits]


def test_hidden_work_shared_its_cores_with_the_cause():
    left = gain.hidden_work(10 * MS, 10 * MS, 0.8)
    assert left.ps == 9 * MS
    assert left.low_ps == pytest.approx(8 * MS * (1 - ERRORS * AGAIN))
    assert left.high_ps == pytest.approx(10 * MS * (1 + ERRORS * AGAIN))


def test_hidden_work_may_need_as_long_as_it_was_seen():
    """Elements that a pool's threads make one after another: nothing was recorded that keeps them apart."""
    left = gain.hidden_work(4 * MS, 8 * MS, 1.0)
    assert left.high_ps == pytest.approx(8 * MS * (1 + ERRORS * AGAIN))
    assert printed_range(left.low_ps, left.high_ps) == (None, None)


@pytest.mark.parametrize("cause", ["none", "unknown"])
def test_where_nothing_goes_no_number_is_told(cause):
    assert remains(one(100, 100, 100, cause=cause)) == Remains()


def test_a_step_is_timed_without_a_profiler_only_where_it_does_the_same():
    slower = gain.step_without(steps(80, compute=20), "python", Paces(100 * MS, 120 * MS))
    assert slower.untraced_ps is None
    assert gain.step_without(steps(80, compute=20), "python", Paces(100 * MS, 90 * MS)).untraced_ps == 90 * MS
    assert gain.step_without(steps(80, compute=20), "python").untraced_ps is None


def test_a_median_tells_nothing_of_steps_of_which_few_take_most():
    rare = gain.step_without(steps(80, compute=20), "python", Paces(40 * MS, 20 * MS))
    assert rare.untraced_ps is None
    # The recorder's own traced steps were shorter than those without a profiler.
    longer = gain.step_without(steps(80, compute=20), "python", Paces(60 * MS, 90 * MS))
    assert longer.untraced_ps is None


@pytest.mark.parametrize("cause", ["none", "unknown"])
def test_steps_without_a_profiler_are_known_where_nothing_goes(cause):
    found = gain.step_without(steps(80, compute=20), cause, Paces(100 * MS, 50 * MS))
    assert (found.ps, found.untraced_ps) == (100 * MS, 50 * MS)


@pytest.mark.parametrize(
    ("untraced_ms", "whole_capture", "said_ms"),
    [(51, False, 51), (115, False, 115), (95, False, None), (51, True, None)],
)
def test_a_step_without_the_profiler_is_said_where_it_differs(untraced_ms, whole_capture, said_ms):
    found = one(2, 0.2, 5, cause="none", untraced_ps=untraced_ms * MS)
    ps = untraced_step(replace(found, whole_capture=whole_capture))
    assert ps == (None if said_ms is None else said_ms * MS)
    assert document([found], ())["answer"]["untraced_step_ps"] == untraced_ms * MS


def test_few_long_steps_are_no_cost_of_the_profiler():
    """A mean of traced steps with a slow one among them is compared with no median."""
    uneven = one(2, 0.2, 5, cause="none", untraced_ps=50 * MS)
    assert untraced_step(uneven) == 50 * MS
    assert untraced_step(replace(uneven, median_ps=52 * MS)) is None
    assert untraced_step(replace(uneven, median_ps=70 * MS)) == 50 * MS


def test_whatif_says_what_goes_with_its_bounds_and_of_which_step():
    assert list(whatif._judgement_sentences(one(2, 0.2, 5, untraced_ps=95 * MS))) == [
        "Without python, a step would be about 93.0 ms (83.6 ms to 95.0 ms) shorter, and take at most "
        "5.00 ms.",
        "It takes 95.0 ms now, without the profiler.",
    ]


def test_what_a_profiler_makes_of_others_work_does_not_raise_what_steps_without_it_leave():
    """Such steps leave at most 5 ms: only work of others that takes longer can limit them."""
    assert uncovered_work._known(one(2, 0.2, 5, untraced_ps=95 * MS)) == 5 * MS
    assert uncovered_work._known(one(2, 0.2, 5)) == 2 * MS


def test_what_others_do_in_a_step_fits_into_one_without_the_profiler(monkeypatch):
    """A thread that makes batches for half of each step has 10 ms of one that takes 20."""
    needs = SimpleNamespace(part=0.5, error=0.0, had_cores=1.0)
    monkeypatch.setattr(uncovered_work.feeding_threads, "longest", lambda *_: needs)
    found = one(2, 0.2, 5, untraced_ps=20 * MS, samples=SampleCounts(9, 9, 0))
    assert uncovered_work._fed_by_threads(None, found).left_ps == 10 * MS
    traced_alone = replace(found, untraced_ps=None)
    assert uncovered_work._fed_by_threads(None, traced_alone).left_ps == 50 * MS


def test_a_line_with_nearly_all_ops_is_the_model() -> None:
    """A loop over its layers: nobody leaves all of it out. A scope is a part that somebody named."""
    found = one(20, 18, 30, cause="compute", op_type="dot", op_share=0.6, layer_share=0.87)
    assert sentences(replace(found, layer="train.py:15"), "step") == []
    assert sentences(replace(found, layer="train.py:15", layer_share=0.75), "step")
    assert sentences(replace(found, layer="encoder"), "step")


def test_whatif_names_the_ops_that_go_as_the_summary_does() -> None:
    """A scope had 90 % of the ops, the type that took most of them 25 %: without that type, a step would not
    take the time that is left without the scope."""
    found = one(20, 18, 30, cause="compute", op_type="Transpose", op_share=0.25, layer="rnn", layer_share=0.9)
    assert next(whatif._judgement_sentences(found)).startswith("Without all ops of rnn, ")
    of_type = replace(found, layer_share=0.2)
    assert next(whatif._judgement_sentences(of_type)).startswith(
        "Without the ops that stand out (Transpose), "
    )


def test_ops_that_go_leave_warm_caches_to_those_that_stay() -> None:
    """One-hot vectors of 65 MB were nine tenths of a step, and the rest took a third of its time without."""
    steps_of_ops = [(100 * MS, {"compute": 100 * MS})] * 30
    left = gain.step_without(steps_of_ops, "compute", of_it=0.9)
    assert (left.ps, left.low_ps < 4 * MS) == (10 * MS, True)
    assert gain.step_without(steps_of_ops, "compute", of_it=0.9, device=True).low_ps > 8 * MS


def test_a_bound_says_something_of_the_step_without_the_profiler():
    """45 ms are less than half of a step with it, and nearly all of one without it."""
    found = one(30, 2, 45)
    assert remains(found).high_ps == 45 * MS
    assert remains(replace(found, untraced_ps=50 * MS)).high_ps is None
    assert remains(replace(found, untraced_ps=90 * MS)).high_ps == 45 * MS


def test_products_are_the_model_where_no_layer_stands_out() -> None:
    """A healthy program consists of them: what a step would take without them is the step of no program."""
    found = one(20, 18, 30, cause="compute", op_type="dot", op_share=0.6, untraced_ps=95 * MS)
    assert sentences(found, "step")
    assert sentences(replace(found, of_products=True), "step") == []
    assert sentences(replace(found, of_products=True, layer="encoder", layer_share=0.7), "step")


@pytest.mark.parametrize(
    ("durations", "typical_ms", "said"),
    [
        # One of ten steps does something else besides: of the mean, of 110 ms, 30 would be left.
        ([100] * 9 + [200], 100, "a typical step (100 ms) would take about 20.0 ms"),
        ([100] * 10, 100, "a step would take about 20.0 ms"),
    ],
)
def test_what_is_left_is_told_with_the_step_that_it_is_left_of(durations, typical_ms, said):
    each = [(ms * MS, {"python": 80 * MS, "compute": (ms - 80) * MS}) for ms in durations]
    left = gain.step_without(each, "python")
    assert (left.ps, left.typical_ps) == (20 * MS, typical_ms * MS)
    mean_ps = sum(ps for ps, _ in each) // len(each)
    found = one(20, 18, 30, mean_ps=mean_ps, typical_ps=left.typical_ps)
    assert sentences(found, "step") == [f"Without that, {said}."]
    assert document([found], ())["answer"]["typical_step_ps"] == typical_ms * MS
    (whatif_said,) = whatif._judgement_sentences(found)
    assert whatif_said.endswith(f"would take about 20.0 ms (18.0 ms to 30.0 ms) instead of {typical_ms} ms.")


def test_steps_as_long_as_the_mean_leave_what_the_mean_leaves():
    """Five of 348 ms, in which a device idles for 10 to 180: who subtracts the means gets the same."""
    each = [(348 * MS, {"idle": idle * MS, "compute": (348 - idle) * MS}) for idle in (10, 80, 140, 140, 180)]
    left = gain.step_without(each, "idle")
    assert (left.ps, left.typical_ps) == (238 * MS, 348 * MS)


def test_what_goes_is_told_of_a_cause_without_events():
    """A profiler makes no sleep longer; of launches under one, nobody knows how long they take without."""
    found = one(2, 0.2, 5, typical_ps=98 * MS, cause="wait")
    assert sentences(found, "step") == [
        "Without that, a step would be about 96.0 ms shorter, and take at most 5.00 ms."
    ]
    assert list(whatif._judgement_sentences(found))[1] == "A typical one takes 98.0 ms now."
    launches = replace(found, cause="dispatch")
    assert sentences(launches, "step") == ["Without that, a step would take at most 5.00 ms."]
    nothing = one(0, 0, 5, typical_ps=98 * MS, cause="wait")
    assert sentences(nothing, "step") == ["Without that, a step would take at most 5.00 ms."]
