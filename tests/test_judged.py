"""One judgement, several views: headline, JSON, findings and the pipeline's sentence never contradict each
other.

Past 400 lines because it is a list: a judgement, and what each view says of it."""

import dataclasses
import statistics
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope import library
from stepscope.code_lines import CodeLine
from stepscope.instruments import laws
from stepscope.instruments.causes import confidence, gain, ranking, traced_calls
from stepscope.instruments.causes.all_causes import COMPUTE
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.judgement import Judgement, Rival
from stepscope.instruments.causes.label_shares import LabelShare, Weighed, parts_of
from stepscope.instruments.causes.layers import forward_of, layer_of
from stepscope.instruments.causes.paces import Paces, paces_of
from stepscope.instruments.causes.timed_steps import TimedStep, compiles_again, judged_steps
from stepscope.instruments.pipeline.waits import Waits
from stepscope.instruments.step_breakdown.labels import LABELS
from stepscope.report import Column, ReportFinding, Table, advice, judgement_text, run_table, waiting_answer
from stepscope.report.answer_document import document
from stepscope.report.finding_weights import weighed
from stepscope.report.runs import are_unrelated

MS = 10**9
US = 10**6
MAIN = CodeLine("train.py", 69, "main")


def parts(**shares: float) -> list[LabelShare]:
    found = [LabelShare(label, round(share * 100 * MS), share) for label, share in shares.items()]
    return sorted(found, key=lambda part: -part.share)


@pytest.mark.parametrize(
    ("shares", "one_op", "cause"),
    [
        ({"input": 0.9, "compute": 0.1}, None, "input"),
        ({"compute": 0.6, "python": 0.3, "unknown": 0.1}, 0.9, "python"),
        ({"compute": 0.7, "dispatch": 0.3}, 0.2, "none"),
        ({"compute": 0.5, "dispatch": 0.4, "unknown": 0.1}, 0.2, "dispatch"),
        ({"compute": 0.9, "unknown": 0.1}, 0.77, "compute"),
        ({"compute": 0.2, "unknown": 0.8}, 0.77, "unknown"),
        ({"compute": 0.2, "unknown": 0.45, "wait": 0.3}, None, "unknown"),
        ({"wait": 0.5, "unknown": 0.42}, None, "wait"),
        ({"idle": 0.6, "compute": 0.4}, None, "idle"),
        ({"unknown": 1.0}, None, "unknown"),
        ({}, None, "unknown"),
    ],
)
def test_the_cause(shares, one_op, cause):
    assert ranking.cause_of(parts(**shares), one_op)[0] == cause


def test_what_has_most_of_a_step_limits_it_on_a_busy_machine_too():
    """Launching that waited for cores is told by what it would take without; but nothing else is named
    instead that has less."""
    starved = Contention(running=0.1, waiting=1.6, ran=0.02, queued=0.9)
    launching = parts(dispatch=0.85, copy=0.13, unknown=0.02)
    assert ranking.cause_of(launching, None, None, starved)[:2] == ("dispatch", 0.85)
    assert ranking.cause_of(parts(dispatch=0.4, compute=0.6), None, None, starved)[0] == "none"
    # What the same thread copies waits for cores as well.
    copies = parts(dispatch=0.62, copy=0.26, compute=0.12)
    assert ranking.cause_of(copies, None, None, starved)[:2] == ("dispatch", 0.62)
    assert ranking.cause_of(parts(dispatch=0.4, input=0.3, compute=0.3), None, None, starved)[0] == "input"
    assert (
        ranking.cause_of(parts(dispatch=0.39, copy=0.24, unknown=0.12), None, None, starved)[0] == "dispatch"
    )
    # Where others' threads are what is waited for, what this one computes by itself is longer.
    for_others = Contention(0.2, 1.8, ran=0.1, queued=0.1)
    assert ranking.cause_of(parts(dispatch=0.47, python=0.4), None, None, for_others)[0] == "python"


def test_a_layer_that_takes_most_stands_out():
    """Its ops forward and backward, of several types, none of which takes most."""
    names = ("context/Conv2D", "gradients/context/Conv2D_grad/Conv2DBackpropInput",
             "gradient_tape/context/Conv2D/Conv2DBackpropFilter")  # fmt: skip
    assert {layer_of(name) for name in names} == {"context"}
    called = "StatefulPartitionedCall/"
    within = [f"{called}gradient_tape/net/dense/MatMul/MatMul", f"{called}net/dense/MatMul"]
    assert {layer_of(name) for name in within} == {f"{called}net/dense"}
    assert forward_of(within[0]) == within[1]
    # Names of TensorFlow 2.21, of an LSTM of Keras and its gradient, and of a loop of TensorFlow 1.
    loops = [
        "net/lstm/while/body/_27/net/lstm/while/lstm_cell/MatMul",
        "gradient_tape/net/lstm/while/net/lstm/while_grad/body/_135/gradient_tape/net/lstm/while/gradients/net/lstm/"
        "while/lstm_cell_grad/MatMul",
        "gradient_tape/net/lstm/TensorArrayUnstack/Range",
    ]
    assert {layer_of(name) for name in loops} == {"net/lstm"}
    assert layer_of("rnn/while/rnn/basic_lstm_cell/MatMul") == "rnn"
    assert layer_of("train/gradients/rnn/while/rnn/basic_lstm_cell/MatMul_grad/MatMul") == "rnn"
    assert layer_of("while/MatMul") is None
    assert layer_of("MatMul") is None
    assert layer_of("gradients/MatMul_grad/MatMul") is None
    assert ranking.cause_of(parts(compute=0.9, dispatch=0.1), 0.37, 0.8)[0] == "compute"
    assert ranking.cause_of(parts(compute=0.9, dispatch=0.1), 0.37, 0.6)[0] == "none"


@given(
    st.lists(
        st.dictionaries(st.sampled_from(LABELS), st.integers(1, 10**12), min_size=1), min_size=1, max_size=9
    )
)
def test_a_step_without_its_cause_is_no_longer(drawn):
    """What is left is the middle half of the steps without the cause, or their mean; the bounds hold it
    between them, and the upper one the mean as well. The step that it is left of is no shorter."""
    steps = [(sum(sums.values()), sums) for sums in drawn]
    found = parts_of(steps)
    assert sum(part.share for part in found) == pytest.approx(1)
    cause, share, _ = ranking.cause_of(found, None)
    assert 0 <= share <= 1
    left, low, high, *_, typical = gain.step_without(steps, cause)
    assert low <= left <= high
    assert left <= typical
    removed = None if cause in ("none", "unknown") else cause
    each = [sum(took for label, took in sums.items() if label != removed) for _, sums in steps]
    whole = statistics.fmean(dur_ps for dur_ps, _ in steps)
    middle = statistics.fmean(sorted(each)[len(each) // 4 : len(each) - len(each) // 4])
    possible = [whole] if removed is None else [min(middle, whole), statistics.fmean(each)]
    assert any(left == pytest.approx(one, abs=1) for one in possible)
    assert min(statistics.fmean(each), whole) - 1 <= high <= whole + 1


def test_of_compute_only_what_stands_out_goes():
    steps = [(100, {"compute": 80, "dispatch": 20})] * 5
    assert COMPUTE.thresholds.standing_out(0.5, None) == 0.5
    assert COMPUTE.thresholds.standing_out(0.5, 0.75) == 0.75
    assert COMPUTE.thresholds.standing_out(0.3, 0.6) == 0.0
    assert COMPUTE.thresholds.standing_out(0.45, None, is_product=True) == 0.0
    assert COMPUTE.thresholds.standing_out(0.5, None, is_product=True) == 0.5
    assert gain.step_without(steps, "compute", None, 0.75)[0] == 40
    assert gain.step_without(steps, "none", None, 0.75) == (100, 100, 100, (), None, 0, 100)


def test_what_the_profiler_adds_is_taken_off():
    """Of a cause made of events its part goes with it; all of it comes out from behind one that sleeps."""
    ops = [(100 * US, {"dispatch": 60 * US, "compute": 40 * US})] * 5
    left = gain.step_without(ops, "input", Paces(100 * US, 50 * US, events=100))
    assert (left.ps, left.high_ps, left.corrected) == (50 * US, 100 * US, ("profiler",))
    few = Paces(100 * US, 50 * US, events=5)
    assert gain.step_without(ops, "compute", few, 0.5)[0] == 72 * US  # 80 us, less 10 %: no event costs 10 us
    asleep = [(1000 * US, {"wait": 960 * US, "compute": 40 * US})] * 5
    assert gain.step_without(asleep, "wait", Paces(1000 * US, 950 * US, events=10))[0] == 30 * US
    slower = Paces(1000 * US, 1200 * US, events=10)
    assert gain.step_without(asleep, "wait", slower)[0] == 40 * US
    assert gain.step_without(asleep, "wait", Paces(1000 * US, 500 * US, events=10**6))[0] == 16 * US


def test_a_call_beside_the_cause_tells_what_the_profiler_adds_to_it():
    """Steps of a millisecond differ too much to tell; the call that marks them takes the same each time."""
    asleep = [(1000 * US, {"wait": 960 * US, "compute": 40 * US})] * 5
    paces = Paces(1000 * US, 1200 * US, 36 * US, 27 * US, 10)
    assert gain.step_without(asleep, "wait", paces)[0] == 30 * US
    within = Paces(1000 * US, 1000 * US, 990 * US, 495 * US, 10)
    assert gain.step_without(asleep, "wait", within)[0] == 40 * US  # the cause lies in the call


def test_a_call_beside_most_of_the_cause_tells_as_well():
    """A checkpoint that is still written when the call begins: medians of steps and calls do not add up."""
    saving = [(1000 * US, {"wait": 960 * US, "compute": 40 * US})] * 5
    most = Paces(1000 * US, 800 * US, 120 * US, 90 * US, 400)
    assert (
        gain.step_without(saving, "wait", most)[0] == 30 * US
    )  # the events are the checkpoint's, not the call's
    half = Paces(1000 * US, 800 * US, 500 * US, 375 * US, 10)
    assert gain.step_without(saving, "wait", half)[0] == 30 * US  # a quarter of 40 us: 10 events of 1 us


def test_without_other_programs_what_is_left_takes_as_little_as_in_the_steps_they_disturbed_least():
    waiting = [(970 * US + n * US, {"wait": 960 * US, "dispatch": (10 + n) * US}) for n in range(30)]
    busy = Contention(0.5, 1.5)
    quiet = gain.step_without(waiting, "wait", device=True)
    disturbed = gain.step_without(waiting, "wait", had_cores=busy.had_cores, device=True)
    assert (quiet.ps, disturbed.ps) == (24_500_000, 17 * US)
    assert disturbed.low_ps <= 13 * US  # a tenth of the steps leaves less
    starved = gain.step_without(waiting, "wait", had_cores=0.1, device=True)
    assert starved.low_ps < disturbed.low_ps  # who knows how many cores it has next time
    assert starved.high_ps > disturbed.high_ps
    assert disturbed.high_ps >= 24_500_000
    assert Contention(0.0, 0.0).had_cores == 1.0


def test_ops_that_are_launched_from_a_compiled_function_stay():
    launched = [(10_000 * US, {"dispatch": 9_900 * US, "input": 100 * US})] * 5
    assert gain.step_without(launched, "dispatch", None, 1.0, 700)[0] == 590 * US
    assert gain.step_without(launched, "python", None, 1.0, 700)[0] == 10_000 * US


def test_the_paces_are_medians_of_what_the_recorder_timed():
    rows = [(False, "traced_ns", 10.0, False)] * 3
    rows += [(False, "untraced_ns", one, False) for one in (900.0, 5.0, 5.0)]
    assert paces_of(rows, 7) == Paces(10_000, 5_000, None, None, 7)
    rows += [(True, "traced_ns", 4.0, False), (True, "untraced_ns", 2.0, False)] * 3
    assert paces_of(rows, 7) == Paces(10_000, 5_000, 4_000, 2_000, 7)
    assert paces_of(rows[:2], 7) is None


def one(cause: str, **more) -> Judgement:
    share = {"none": "compute"}.get(cause, cause)
    facts = {"run_id": "r", "host_id": "h", "steps": 9, "mean_ps": 100 * MS, "whole_capture": False}
    facts |= {"share": 0.6, "ps_per_step": 60 * MS, "confidence": "high"}
    facts |= {"left_ps": 40 * MS, "low_ps": 30 * MS, "high_ps": 50 * MS}
    return Judgement(cause=cause, parts=tuple(parts(**{share: 0.6, "idle": 0.4})), **{**facts, **more})


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (one("input"), "Waiting for input takes 60.0 % of a step (60.0 ms of 100 ms)."),
        (
            one("input", stage="Filter (FilterDataset:3)", place=CodeLine("/a/train.py", 36, "make")),
            "Waiting for input takes 60.0 % of a step (60.0 ms of 100 ms); Filter (FilterDataset:3) "
            "in train.py:36 `make` holds it up.",
        ),
        (
            one(
                "input",
                stage="Map (MapDataset:3)",
                spoken=".map",
                place=CodeLine("/a/clips.py", 39, "make"),
                given=CodeLine("/a/clips.py", 26, "Clips.load_clip"),
            ),
            "Waiting for input takes 60.0 % of a step (60.0 ms of 100 ms); `load_clip` in clips.py:26 "
            "holds it up, called by .map in clips.py:39.",
        ),
        (
            one("input", stage="Shuffle (ShuffleDatasetV3:1)", spoken=".shuffle", remade=(9, 9)),
            "Waiting for input takes 60.0 % of a step (60.0 ms of 100 ms); .shuffle holds it up. "
            "9 new iterators in 9 steps: each starts over.",
        ),
        (
            one("python", place=CodeLine("train.py", 31, "Tokens.f1")),
            "No op runs for 60.0 % of a step (60.0 ms of 100 ms): the program's own Python does, in "
            "train.py:31 `f1`.",
        ),
        (
            one("python", place=CodeLine("__init__.py", 183, "dumps")),
            "No op runs for 60.0 % of a step (60.0 ms of 100 ms): Python does, in __init__.py:183 `dumps`.",
        ),
        (
            one("python", place=MAIN, spent_in=CodeLine("order.py", 8, "order_of")),
            "No op runs for 60.0 % of a step (60.0 ms of 100 ms): the program's own Python does, in "
            "order.py:8 `order_of`, called in train.py:69 `main`.",
        ),
        (
            one("compile", function="train_step", compiling=9, place=MAIN),
            "Tracing and compiling take 60.0 % of a step (60.0 ms of 100 ms): `train_step` compiles in 9 of "
            "9 steps, called in train.py:69 `main`.",
        ),
        (
            one("dispatch", calls=2154),
            "Launching ops takes 60.0 % of a step (60.0 ms of 100 ms): 2,154 calls a step.",
        ),
        (
            one("compute", op_type="Svd", op_share=0.87),
            "Ops run for 60.0 % of a step (60.0 ms of 100 ms), Svd for 87.0 % of all compute time.",
        ),
        (one("none"), "Nothing stands out: ops run for 60.0 % of a step (60.0 ms of 100 ms)."),
        (one("copy"), "Copying and converting data takes 60.0 % of a step (60.0 ms of 100 ms)."),
        (
            one("wait", place=MAIN),
            "Sleeping and waiting for locks, files or sockets takes 60.0 % of a step (60.0 ms of 100 ms), in "
            "train.py:69 `main`.",
        ),
        (one("idle"), "The accelerator has nothing to do for 60.0 % of a step (60.0 ms of 100 ms)."),
        (
            # It has nothing to do while the host waits for input, either.
            replace(one("idle"), parts=tuple(parts(idle=0.6, compute=0.2, input=0.2))),
            "The accelerator is idle without a recorded reason for 60.0 % of a step (60.0 ms of 100 ms).",
        ),
        (
            one("communication"),
            "Communication takes 60.0 % of a step (60.0 ms of 100 ms): nothing was recorded that could hide "
            "it.",
        ),
        (
            one("unknown"),
            "The recording does not show where 60.0 % of a step (60.0 ms of 100 ms) goes. `stepscope record` "
            "samples what the threads of a Python program do, and would show it.",
        ),
        (
            one("unknown", sampled=True),
            "The recording does not show where 60.0 % of a step (60.0 ms of 100 ms) goes.",
        ),
        (
            one("unknown", sampled=True, place=MAIN),
            "The recording does not show what runs for 60.0 % of a step (60.0 ms of 100 ms), in "
            "train.py:69 `main`.",
        ),
        (
            one("dispatch", calls=1, of_session=True, place=MAIN),
            "No op runs for 60.0 % of a step (60.0 ms of 100 ms), within Session.run: it feeds, launches or "
            "fetches, in train.py:69 `main`.",
        ),
        (
            one("dispatch", calls=1, of_session=True, takes_batches=True),
            "No op runs for 60.0 % of a step (60.0 ms of 100 ms), within Session.run: it feeds, launches, "
            "fetches or waits for input.",
        ),
        (
            one("none", whole_capture=True, steps=1),
            "Nothing stands out: ops run for 60.0 % of the 100 ms recorded.",
        ),
        (
            # Nine recordings of 100 ms each: what is recorded, and what was called, is that of all.
            one("dispatch", whole_capture=True, calls=20),
            "Launching ops takes 60.0 % of the 900 ms recorded: 180 calls in all.",
        ),
    ],
)
def test_every_sentence(found, sentence):
    without = {"compute": "these ops", "none": None, "unknown": None}.get(found.cause, "that")
    # Batches are made, and what ops compute is computed, in another way. What a device waits for is work.
    amount = "at least 30.0 ms" if found.cause in ("compute", "input", "idle") else "about 40.0 ms"
    gain = [f"Without {without}, a step would take {amount}."] if without else []
    if found.cause == "unknown":
        gain = ["Of what it does show, the accelerator has nothing to do for 40.0 % of a step."]
    assert judgement_text.sentences([found], False) == [sentence, *([] if found.whole_capture else gain)]


def test_launching_that_waits_for_cores_says_so_and_nothing_of_what_would_be_left():
    starved = Contention(0.1, 1.3, ran=0.1, queued=0.8)
    first, busy = judgement_text.sentences([one("dispatch", place=MAIN, contention=starved)], several=False)
    assert first.startswith("Launching ops and waiting for a core to do so take 60.0 % of a step")
    assert busy.startswith("The machine was busy")


def test_what_would_be_gained_has_a_sentence_where_it_is_worth_one():
    def said(**more):
        return judgement_text.sentences([one("compute", op_type="Svd", **more)], False)[1:]

    assert said(op_share=0.8) == ["Without these ops, a step would take at least 30.0 ms."]
    assert said(op_share=0.4, layer_share=0.8, layer="StatefulPartitionedCall/dense_1") == [
        "Without all ops of dense_1, a step would take about 40.0 ms."
    ]
    assert said(left_ps=96 * MS) == []
    little = {"left_ps": MS // 2, "low_ps": MS // 9, "high_ps": MS // 2}
    assert said(op_share=0.4, layer_share=0.8, layer="dense_1", **little) == [
        "Without all ops of dense_1, hardly anything of a step would be left."
    ]
    assert said(**little, untraced_ps=90 * MS) == [
        "Without these ops, a step would be up to about 89.5 ms shorter."
    ]


def test_what_goes_beside_the_cause_is_said():
    """Else more would go than the sentence before says that the cause takes."""
    whole = {"left_ps": 20 * MS, "low_ps": 16 * MS, "high_ps": 24 * MS, "place": MAIN}
    first = "Without {}, a step would take about 20.0 ms."
    for besides_ps, words in ((20 * MS, "that and what else is done there"), (2 * MS, "that")):
        found = one("python", besides_ps=besides_ps, **whole)
        assert judgement_text.sentences([found], False)[1] == first.format(words)


def test_a_bound_below_what_is_left_has_a_reason():
    """10 of the 100 ms go, and 90 stay."""
    told = {
        "ps_per_step": 10 * MS,
        "share": 0.1,
        "corrected": ("profiler",),
        "left_ps": 30 * MS,
        "low_ps": MS,
    }
    first = "Without that{}, a step would take at most {}.0 ms."
    for high_ps, words in ((60 * MS, ", and without the profiler"), (95 * MS, None)):
        found = judgement_text.sentences([one("python", high_ps=high_ps, **told)], False)[1:]
        assert found == ([] if words is None else [first.format(words, high_ps // MS)])


def test_many_small_ops_are_counted_with_the_line_in_which_they_run():
    where = {"spent_in": CodeLine("loss.py", 8, "penalty"), "op_type": "aten::select", "op_share": 0.37}
    part = "Ops run for 60.0 % of a step (60.0 ms of 100 ms), most of it in loss.py:8 `penalty`"
    small = one("none", small_ops=(8663, 17 * US), **where)
    assert judgement_text.sentences([small], False) == [
        f"{part}: 8,663 ops a step of 17.0 µs each, aten::select for 37.0 % of all compute time."
    ]
    assert judgement_text.sentences([one("compute", **where)], False)[0] == (
        f"{part}, aten::select for 37.0 % of all compute time."
    )
    assert judgement_text.sentences([one("compute", **where, gradients_too=True)], False)[0] == (
        f"{part} with its gradients, aten::select for 37.0 % of all compute time."
    )


def test_of_many_small_ops_the_loop_that_runs_them_has_its_line() -> None:
    """That of any other op tells where one of thousands was made."""
    small = {
        "small_ops": (24591, 19 * US),
        "op_share": 0.2,
        "place": CodeLine("encoder.py", 19, "encode_all"),
    }
    for op_type, made in (("while", ", made in encoder.py:19 `encode_all`"), ("dot", "")):
        assert judgement_text.sentences([one("none", op_type=op_type, **small)], False) == [
            "Ops run for 60.0 % of a step (60.0 ms of 100 ms): 24,591 ops a step of 19.0 µs each, "
            f"{op_type} for 20.0 % of all compute time{made}."
        ]


def test_ops_that_are_launching_are_told_with_what_they_take():
    where = {"place": CodeLine("clip.py", 21, "clip"), "called_from": CodeLine("clip.py", 31, "learn")}
    small = one("dispatch", small_ops=(3659, 3 * US), **where, share=0.3, ps_per_step=30 * MS)
    rival = Rival("compute", 0.37, None, "aten::sum")
    small = replace(small, parts=tuple(parts(compute=0.37, dispatch=0.3)), rival=rival)
    assert judgement_text.sentences([small], False)[0] == (
        "Launching ops takes 30.0 % of a step (30.0 ms of 100 ms), and running them 37.0 %: 3,659 ops a step "
        "of 3.00 µs each, in clip.py:21 `clip`, called in clip.py:31 `learn`."
    )


def test_what_takes_as_much_as_the_cause_is_said_with_its_place():
    reads = Rival("input", 0.55, CodeLine("data.py", 12, "load"))
    both = one("python", place=MAIN, rival=reads)
    first, then = judgement_text.sentences([both], False)
    assert first.endswith(
        "in train.py:69 `main`; nearly as much, 55.0 %, goes to waiting for input, in data.py:12 `load`."
    )
    assert then.startswith("Without the first of the two, ")
    # Both have a sentence of their own where one would be longer than two lines.
    long = one("python", place=MAIN, rival=replace(reads, place=CodeLine("data.py", 12, "load" * 30)))
    assert judgement_text.sentences([long], False)[1].startswith("Nearly as much, 55.0 %, goes to waiting")
    more = one("dispatch", rival=Rival("compute", 0.65, None, "MatMul"))
    assert judgement_text.sentences([more], False)[0].endswith(
        "; slightly more, 65.0 %, goes to ops, MatMul."
    )
    # The bar shows launching longer; why it is no cause is that it waits.
    starved = Contention(0.5, 1.5)
    held_up = one("input", rival=Rival("dispatch", 0.75), contention=starved)
    assert judgement_text.sentences([held_up], False)[0].endswith(
        "; more, 75.0 %, goes to launching ops and waiting for a core to do so."
    )
    # Of several programs, each has both in its own sentence.
    assert judgement_text.sentences([both, one("none", run_id="s")], True)[1].endswith(
        "`main`; nearly as much, 55.0 %, goes to waiting for input, in data.py:12 `load`."
    )


def test_hosts_of_a_run_are_told_apart():
    """The first sentence names the host of which it speaks, the second what holds for the others."""
    hosts = [one("input", host_id=f"w{number}") for number in range(3)]
    first = "Waiting for input takes 60.0 % of a step on w0 (60.0 ms of 100 ms)."
    assert judgement_text.sentences(hosts, False) == [first, "It is the same on all 3 hosts."]
    assert judgement_text.sentences(hosts[:2], False)[1] == "It is the same on both hosts."
    # How much it is, is not the same, and the first sentence gives the share of one host only.
    uneven = [hosts[0], one("input", host_id="w1", share=0.31), one("input", host_id="w2", share=0.58)]
    assert judgement_text.sentences(uneven, False) == [
        first,
        "It is the same on all 3 hosts, at 31.0 % to 60.0 %.",
    ]
    near = [hosts[0], one("input", host_id="w1", share=0.58)]
    assert judgement_text.sentences(near, False)[1] == "It is the same on both hosts."
    unlike = [hosts[0], one("none", host_id="w1"), one("none", host_id="w2")]
    assert judgement_text.sentences(unlike, False) == [
        first,
        "3 hosts were recorded: nothing stands out in 2, waiting for input limits 1.",
    ]
    told = document(unlike, ())
    assert told["answer"]["host"] == "w0"
    assert [answer["cause"] for answer in told["answers"]] == ["input", "none", "none"]


def test_recordings_that_have_nothing_in_common_get_a_table():
    """No sentence speaks for all of them, and no answer; each has its own."""
    runs = [
        one(cause, run_id=f"r{number}") for number, cause in enumerate(("input", "python", "input", "none"))
    ]
    waits = "waiting for input takes 60.0 % of a step (60.0 ms of 100 ms)."
    said = [
        f"r0: {waits}",
        "r1: with no op recorded, Python takes 60.0 % of a step (60.0 ms of 100 ms).",
        f"r2: {waits}",
        "r3: nothing stands out: ops run for 60.0 % of a step (60.0 ms of 100 ms).",
    ]
    assert judgement_text.sentences(runs, True) == [
        "4 runs, each judged by itself, the longest first:",
        *said,
    ]
    many = [*runs, *(one("input", run_id=f"r{number}") for number in (4, 5, 6))]
    assert judgement_text.sentences(many, True) == [
        "7 runs, each judged by itself: waiting for input limits 5, Python limits 1, nothing stands out in "
        "1.",
        *said,
        f"r4: {waits}",
        "2 more: the table has all of them.",
    ]
    told = document(runs, ())
    assert (told["answer"], told["causes"]) == (None, [])
    assert [answer["run"] for answer in told["answers"]] == ["r0", "r1", "r2", "r3"]
    assert told["answers"][1]["causes"][0]["cause"] == "python"
    table = run_table.answers(runs)
    assert table is not None
    assert [row[:3] for row in table.table.rows] == [
        ("r0", "h", "input"), ("r1", "h", "python"), ("r2", "h", "input"), ("r3", "h", "none"),
    ]  # fmt: skip
    assert [row[-1] for row in table.table.rows] == [line.partition(": ")[2] for line in said]
    assert [answer["said"] for answer in told["answers"]] == [row[-1] for row in table.table.rows]
    assert run_table.answers(runs[:1]) is None


def test_one_of_several_programs_that_breaks_a_law_says_so_alone():
    """Nothing stands before what is known of it."""
    ahead = laws.Broken("r1", "h", 0, "step_of_the_device", 1, 1, "the host runs ahead of its device")
    runs = [one("input", run_id="r0"), one("input", run_id="r1", broken=(ahead,))]
    assert judgement_text.sentences(runs, True)[1:] == [
        "r0: waiting for input takes 60.0 % of a step (60.0 ms of 100 ms).",
        "r1: the host runs ahead of its device.",
    ]


def test_a_finding_weighs_no_more_than_its_part_of_a_step():
    """And high only where that is what limits the steps."""
    finding = ReportFinding("input-wait", "high", "t", "i", "a", Table((), (), 0), "")
    other = replace(finding, slug="slow-step", severity="medium")
    assert weighed([finding], [one("input")])[0].severity == "high"
    python = one("python")
    beside = replace(python, parts=tuple(parts(python=0.6, input=0.3, compute=0.1)))
    assert weighed([finding], [beside])[0].severity == "medium"
    assert [found.severity for found in weighed([finding, other], [python])] == ["medium", "low"]
    assert weighed([finding], [])[0].severity == "high"
    # Ops that call Python within a graph compute: a finding about them is about what limits then.
    types = Table((Column("op_type", "text", "Op type", ""),), (("io_callback",),), 1)
    calls = replace(finding, slug="python-in-pipeline", evidence=types)
    computes = one("compute", op_type="io_callback", share=0.6)
    assert weighed([calls], [computes])[0].severity == "high"
    assert weighed([calls], [replace(computes, op_type="dot")])[0].severity == "low"


@pytest.mark.parametrize(
    ("aside", "within", "title"),
    [
        ("callbacks", 0.2, "Callbacks of Keras wait for input of their own"),
        ("callbacks", 0.1, "t"),
        ("other_batches", 0.2, "A loop over other batches waits for input"),
        ("other_batches", 0.1, "t"),
    ],
)
def test_a_wait_beside_the_training_is_told_as_such(aside: str, within: float, title: str) -> None:
    finding = ReportFinding("input-wait", "high", "t", "i", "a", Table((), (), 0), "")
    found = replace(one("python"), parts=tuple(parts(python=0.6, input=0.3, compute=0.1)))
    found = replace(found, together=tuple(parts(python=0.6, input=within)), **{aside: True})
    assert weighed([finding], [found])[0].title == title


def test_a_wait_for_a_loader_is_advised_by_what_takes_it():
    """More workers unpickle nothing; and where input does not limit, nothing more is known."""
    finding = ReportFinding("input-wait", "high", "t", "i", "more workers", Table((), (), 0), "")
    advised = [
        weighed([finding], [one(cause, loader_work=(work, 0.7))])[0].action
        for cause, work in (("input", "unpickling"), ("input", "workers"), ("python", "workers"))
    ]
    assert ["unpickled" in advised[0], "persistent_workers=True" in advised[1]] == [True, True]
    assert advised[2] == weighed([finding], [one("input")])[0].action == "more workers"


def test_iterators_that_steps_make_are_to_be_made_once():
    """A Keras program that calls fit for every batch waits for no stage of its pipeline."""
    finding = ReportFinding("input-wait", "high", "t", "i", "more workers", Table((), (), 0), "")
    advised = [
        weighed([finding], [one("input", **more)])[0].action
        for more in ({"remade": (20, 10)}, {"remade": (20, 10), "stage": "Map"}, {})
    ]
    assert ["fit or predict once" in action for action in advised] == [True, False, False]


def timed(number: int, ms: int, compiles: bool, source: int = 0) -> TimedStep:
    """A step that computes for a millisecond, and compiles for the rest where it does."""
    sums = {"compute": MS, **({"compile": (ms - 1) * MS} if compiles else {})}
    kind = "compile" if compiles else "train"
    return TimedStep(number, "r", "h", source, ms * MS, not compiles, kind, "recorder", sums)


@pytest.mark.parametrize(
    ("compiling", "again"),
    [
        ((4, 7), True),  # two of ten steps take most of the time
        ((4,), False),  # once is no habit
        ((0, 1), False),  # a warm-up
        ((0, 1, 4, 7), True),
        ((), False),
    ],
)
def test_steps_that_compile_are_judged_when_they_take_much_of_all(compiling, again):
    steps = [timed(n, 900 if n in compiling else 1, n in compiling) for n in range(10)]
    assert compiles_again(steps) is again
    assert len(judged_steps(steps)) == (10 if again else 10 - len(compiling))


def test_compiling_that_takes_little_of_all_leaves_the_averages_alone():
    steps = [timed(n, 5 if n in (4, 7) else 40, n in (4, 7)) for n in range(10)]
    assert not compiles_again(steps)
    # Each source warms up by itself.
    assert not compiles_again([timed(0, 900, True, source) for source in range(5)])


def test_files_of_one_step_each_are_one_program_that_compiles_again():
    """RunMetadata of a session: the first step compiles, and two others do."""
    steps = [timed(n, 900 if n in (0, 3, 5) else 10, n in (0, 3, 5), source=n) for n in range(9)]
    files = [step._replace(recovered_from="file") for step in steps]
    assert compiles_again(files)
    assert not compiles_again(files[:4])
    assert judged_steps(files) == files


def test_what_all_steps_do_is_said_before_what_the_averaged_do():
    others = Weighed(tuple(parts(compute=0.67, dispatch=0.33)), "none", 7, 4 * MS, False)
    place = CodeLine("train.py", 28, "main")
    found = one(
        "compile", steps=10, function="update", compiling=2, place=place, others=others, left_ps=4 * MS
    )
    assert judgement_text.sentences([found], False) == [
        "Tracing and compiling take 60.0 % of the recorded steps (600 ms of 1.00 s): `update` compiles in 2 "
        "of 10 steps, called in train.py:28 `main`.",
        "Without that, a step would take about 4.00 ms.",
        "In the 7 steps that are averaged, ops run for 67.0 % (67.0 ms of 4.00 ms).",
    ]
    finding = ReportFinding("retraced-functions", "medium", "t", "i", "a", Table((), (), 0), "")
    assert weighed([finding], [found])[0].severity == "high"
    assert weighed([finding], [replace(found, others=None)])[0].severity == "medium"


def test_advice_speaks_of_the_framework_that_was_recorded():
    assert advice.framework_of([None, "jax"]) == "jax"
    assert advice.framework_of(["tensorflow", "tensorflow"]) == "tensorflow"
    assert advice.framework_of(["tensorflow", "jax"]) is None
    assert advice.framework_of([]) is None
    of_others = {"jax": ("tf.", "torch", "jit_compile"), "pytorch": ("tf.", "jax", "jit_compile")}
    of_others["tensorflow"] = ("jax", "torch")
    of_others["torch_compiled"] = (*of_others["pytorch"], "torch.compile")
    for entry in library.entries("finding"):
        for framework, text in entry.actions:
            assert not any(name in text for name in of_others[framework]), (entry.name, framework)


def test_files_of_different_programs_in_one_folder_get_a_table():
    """They share a run, because they share a folder, and nothing else."""
    hosts = [one("input", host_id="a"), one("wait", host_id="b"), one("input", host_id="unknown")]
    programs = [("short.json", hosts[0]), ("long.json", dataclasses.replace(hosts[1], steps=99))]
    assert judgement_text.sentences(hosts, False, unrelated=True, programs=programs) == [
        "2 recordings of different programs, the longest first:",
        "long.json: sleeping and waiting for locks, files or sockets takes 60.0 % of a step of 100 ms.",
        "short.json: waiting for input takes 60.0 % of a step of 100 ms.",
    ]
    told = document(hosts, (), unrelated=True)
    assert (told["answer"], len(told["answers"])) == (None, 3)

    def source(path, framework, kind="trace", run="r"):
        return {
            "run_id": run,
            "path": path,
            "framework": framework,
            "kind": kind,
            "events_seen": 9,
            "events_stored": 9,
        }

    of_tensorflow = [source("h.json", None), source("r/tensorflow/vm.xplane.pb", "tensorflow")]
    of_torch = [source("r/torch/a.json", "pytorch", run=run) for run in "rs"]
    assert not are_unrelated({"sources": of_tensorflow[:1]})
    assert are_unrelated({"sources": [*of_tensorflow, of_torch[0]]})
    assert not are_unrelated({"sources": [*of_tensorflow, of_torch[1]]})
    recorder = source("r/capture.json", None, "capture")
    beside = source("torch.json", "pytorch")
    for others, apart in ((of_torch[:1], False), ([*of_torch[:1], beside], True)):
        assert are_unrelated({"sources": [recorder, of_tensorflow[1], *others]}) is apart
    named = judgement_text.sentences([hosts[2], hosts[0]], False)
    assert named[0].startswith("Waiting for input takes 60.0 % of a step on a host without a name (")


def steps_of(*shares: dict[str, float]) -> list[tuple[int, dict[str, int]]]:
    return [(1000, {label: round(1000 * share) for label, share in one.items()}) for one in shares]


WAITS, COMPUTES = {"wait": 0.9, "compute": 0.1}, {"compute": 1.0}


@pytest.mark.parametrize(
    ("steps", "cause", "few"),
    [
        (steps_of(*[{"input": 0.6, "compute": 0.4}] * 5), "input", False),
        (steps_of(*[{"input": 0.6, "compute": 0.4}] * 4), "input", True),
        # Three of ten steps store something: their share of 27 % is by chance more than the 25 that count.
        (steps_of(*[WAITS] * 3, *[COMPUTES] * 7), "wait", True),
        (steps_of(*[WAITS] * 300, *[COMPUTES] * 700), "wait", True),
        (steps_of(*[WAITS] * 400, *[COMPUTES] * 600), "wait", False),
        (steps_of(*[WAITS] * 2, *[COMPUTES] * 8), "none", True),
        (steps_of(*[WAITS] * 20, *[COMPUTES] * 980), "none", False),
        # Launching has to take more to stand out.
        (steps_of(*[{"dispatch": 0.4, "compute": 0.6}] * 6), "dispatch", False),
        (
            steps_of(*[{"dispatch": 0.55, "compute": 0.45}, {"dispatch": 0.25, "compute": 0.75}] * 3),
            "dispatch",
            True,
        ),
        # Which of two labels takes more, ten steps do not tell.
        (steps_of(*[{"python": 0.6, "input": 0.4}, {"python": 0.42, "input": 0.58}] * 5), "python", True),
        (steps_of(*[COMPUTES] * 6), "unknown", False),
    ],
)
def test_few_steps_weaken_an_answer(steps, cause, few):
    assert confidence.weaknesses(steps, cause, None) == (["few-steps"] if few else [])


@pytest.mark.parametrize(
    ("samples", "few"),
    [((10, 10, 0), False), ((9, 9, 0), True), ((40, 22, 18), True), ((400, 230, 170), False)],
)
def test_few_samples_weaken_an_answer(samples, few):
    steps = steps_of(*[{"python": 0.6, "compute": 0.4}] * 9)
    assert confidence.weaknesses(steps, "python", samples) == (["few-samples"] if few else [])


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(1, 99),
    st.sets(st.sampled_from(["few-steps", "few-samples"])),
)
def test_confidence_falls_with_what_is_few(share, unknown, steps, weak):
    order = ("low", "medium", "high")
    sure = confidence.confidence_of(share, unknown, steps)
    less = confidence.confidence_of(share, unknown, steps, sorted(weak))
    assert order.index(less) <= order.index(sure)
    assert not weak or less != "high"


@pytest.mark.parametrize(
    ("running", "waiting", "ran", "queued", "cause", "weak"),
    [
        (1.5, 0.1, 0.1, 0.0, "dispatch", []),  # the machine is quiet: that is what launching takes
        (0.2, 2.2, 0.1, 0.0, "none", ["busy-machine"]),  # nothing runs because nobody had a core
        (0.2, 2.2, 0.1, 0.8, "none", ["busy-machine"]),
        (0.2, 2.2, 0.9, 0.0, "dispatch", ["busy-machine"]),
        (0.2, 2.2, None, 0.0, "dispatch", ["busy-machine"]),
        (0.0, 0.0, 0.1, 0.0, "dispatch", []),
    ],
)
def test_a_busy_machine_is_no_launching(running, waiting, ran, queued, cause, weak):
    contention = Contention(running, waiting, ran, queued)
    found = ranking.cause_of(parts(dispatch=0.41, compute=0.58), None, None, contention)
    assert found[0] == cause
    steps = steps_of(*[{"dispatch": 0.41, "compute": 0.58}] * 30)
    assert [
        one for one in confidence.weaknesses(steps, found[0], None, contention) if one != "few-steps"
    ] == weak
    said = judgement_text.sentences([one(found[0], contention=contention)], False)
    assert (
        said[-1] == "The machine was busy: 2.2 threads of the program waited for a core while 0.2 ran."
    ) == bool(weak)


@pytest.mark.parametrize(("waiting", "cores", "own"), [(5.5, 2, True), (5.4, 2, False), (5.5, None, False)])
def test_a_program_that_wants_many_cores_keeps_itself_waiting(
    waiting: float, cores: int | None, own: bool
) -> None:
    found = judgement_text.sentences([one("none", contention=Contention(0.5, waiting, cores=cores))], False)
    said = "The program has more threads that compute than cores: 5.5 waited while 0.5 ran, on 2 cores."
    assert (said in found) == own
    assert any(line.startswith("The machine was busy") for line in found) != own


def test_the_line_that_waits_is_not_where_a_stage_was_written():
    stage = one("input", stage="batch (transformation 7)", place=MAIN, awaits=True)
    (said,) = judgement_text.sentences([stage], False)[:1]
    assert said.endswith(", in train.py:69 `main`; batch (transformation 7) holds it up."), said


def test_launching_that_waits_for_cores_is_held_against_what_is_left_of_the_step():
    """Another program has the cores for two thirds of the time: what launches op by op does so all the same,
    and what waits for the threads of the input does not."""
    eager = Contention(0.3, 0.6, 0.33, 0.6)
    assert ranking.cause_of(parts(dispatch=0.9, python=0.1), None, None, eager)[0] == "dispatch"
    fed = Contention(0.66, 2.54, 0.11, 0.53)
    assert ranking.cause_of(parts(dispatch=0.51, input=0.45), None, None, fed)[0] == "input"
    assert fed.launching == pytest.approx(0.11 + 0.36 * 0.66 / 3.2)


def test_the_answer_names_what_is_few():
    told = document([one("python", weak=("few-steps", "few-samples"), confidence="low")], ())["answer"]
    assert (told["confidence"], told["weakened_by"]) == ("low", ["few-steps", "few-samples"])


def test_a_mark_of_the_program_tells_where_its_time_goes():
    """Within `prepare`, which lies in the step; the function that sleeps is no mark, nor is the step."""
    told = [
        (0, 100, ("train", None, False)),
        (5, 85, ("prepare", None, False)),
        (6, 84, ("$time sleep", None, False)),
        (90, 99, ("$time sleep", None, False)),
    ]
    weights = Counter()
    traced_calls.add_by_mark(weights, "wait", {(0, 100)}, told)
    assert weights == {"prepare": 78, None: 9}
    assert sum(weights.values()) == 87
    found = one("wait", mark="prepare")
    assert judgement_text.sentences([found], False)[0].endswith("(60.0 ms of 100 ms), within `prepare`.")
    assert document([found], ())["answer"]["mark"] == "prepare"


def test_no_mean_is_above_the_largest():
    """Steps wait for 66.5 % of their time, mostly for iterators to be made: the waits of these say less."""

    def spread(ratio: float) -> list[str]:
        shares = [0.025] * 9 + [0.448]
        return list(waiting_answer._distribution(Waits([], [], 10, ratio, ratio, shares, True)))

    assert spread(0.665) == []
    assert "the largest 44.8 %" in spread(0.07)[0]
