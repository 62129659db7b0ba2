"""One judgement, several views: headline, JSON, findings and the pipeline's sentence never contradict each
other."""

from __future__ import annotations

import statistics
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepscope
from stepscope.instruments.step_parts import judgement
from stepscope.instruments.step_parts.judgement import Judgement, Part, Place
from stepscope.instruments.step_parts.labels import LABELS
from stepscope.instruments.step_parts.places import chosen, in_loop
from stepscope.report import judged, summary
from tests import corpus

MS = 10**9


def parts(**shares: float) -> list[Part]:
    found = [Part(label, round(share * 100 * MS), share) for label, share in shares.items()]
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
    assert judgement.cause_of(parts(**shares), one_op)[0] == cause


@given(
    st.lists(
        st.dictionaries(st.sampled_from(LABELS), st.integers(1, 10**12), min_size=1), min_size=1, max_size=9
    )
)
def test_a_step_without_its_cause_is_no_longer(drawn):
    """What is left is the median of the steps without the cause; the bounds hold it between them."""
    steps = [(sum(sums.values()), sums) for sums in drawn]
    found = judgement.parts_of(steps)
    assert sum(part.share for part in found) == pytest.approx(1)
    cause, share, _ = judgement.cause_of(found, None)
    assert 0 <= share <= 1
    left, low, high = judgement.without(steps, cause, None)
    assert low <= left <= high
    removed = None if cause == "unknown" else cause
    each = [sum(took for label, took in sums.items() if label != removed) for _, sums in steps]
    assert left == pytest.approx(statistics.median(each), abs=1)
    assert left <= statistics.median(dur_ps for dur_ps, _ in steps) + 1


def test_what_the_profiler_adds_is_taken_off():
    steps = [(100, {"input": 60, "compute": 40})] * 5
    assert judgement.without(steps, "input", 0.5) == (20, 20, 40)
    assert judgement.ratio_of([10, 10, 10], [5, 5, 5]) == 0.5
    assert judgement.ratio_of([10], [5]) is None


MAIN = Place("train.py", 69, "main")


def test_the_line_that_has_most_of_the_time():
    """Followed inward while one line has it; a loop in a function is called from one line."""
    weights = Counter({(MAIN, Place("train.py", line, "points")): 10 for line in range(30, 36)})
    assert chosen(weights) == (MAIN, None)
    weights = Counter({(MAIN, Place("train.py", 9, "read"), Place("train.py", 18, "take")): 9, (MAIN,): 1})
    assert chosen(weights) == (Place("train.py", 18, "take"), Place("train.py", 9, "read"))


def test_many_small_calls_are_a_function_and_no_line():
    weights = Counter({(MAIN, Place("train.py", line, "step")): line for line in range(30, 36)})
    assert chosen(weights, by_function=True) == (Place("train.py", 35, "step"), MAIN)
    assert chosen(Counter()) == (None, None)


def test_python_is_told_by_the_line_of_the_loop():
    """Not by the line within a loop of Python at which threads take turns."""
    top = Place("train.py", 90, "<module>")
    step = (top, Place("train.py", 60, "main"))
    python = Counter({(top, MAIN, Place("train.py", 31, "points")): 50})
    assert in_loop(python, python + Counter({step: 40})) == (MAIN, top)
    fit = (top, Place("train.py", 70, "main"))
    assert in_loop(Counter({(*fit, MAIN): 50}), Counter({(*fit, MAIN): 50, fit: 40})) is None
    assert in_loop(Counter(), Counter()) is None


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
            one("input", stage="Filter (FilterDataset:3)", place=Place("/a/train.py", 36, "make")),
            "Waiting for input takes 60.0 % of a step (60.0 ms of 100 ms); Filter (FilterDataset:3) "
            "holds it up, "
            "written in train.py:36 `make`.",
        ),
        (
            one("python", place=Place("train.py", 31, "Tokens.f1")),
            "No op runs for 60.0 % of a step (60.0 ms of 100 ms): the program's own Python does, in "
            "train.py:31 `f1`.",
        ),
        (
            one("compile", function="train_step", compiling=9, place=MAIN),
            "Tracing and compiling take 60.0 % of a step (60.0 ms of 100 ms): of `train_step` in 9 of 9 "
            "steps, called "
            "in train.py:69 `main`.",
        ),
        (
            one("dispatch", calls=2154),
            "Launching ops takes 60.0 % of a step (60.0 ms of 100 ms): 2,154 calls a step.",
        ),
        (
            one("compute", op_type="Svd", op_share=0.87),
            "Ops run for 60.0 % of a step (60.0 ms of 100 ms), Svd for 87.0 % of that time.",
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
            one("communication"),
            "Communication that no compute hides takes 60.0 % of a step (60.0 ms of 100 ms).",
        ),
        (
            one("unknown"),
            "The recording does not show what 60.0 % of a step (60.0 ms of 100 ms) goes to.",
        ),
        (
            one("none", whole_capture=True),
            "Nothing stands out: ops run for 60.0 % of the 100 ms recorded.",
        ),
    ],
)
def test_every_sentence(found, sentence):
    assert judged.sentences([found], False) == [sentence]


SAMPLES = sorted(
    path
    for folder in ("tf_data", "capture", "run_metadata", "xplane", "chrome")
    for path in (corpus.SAMPLES / folder).iterdir()
    if path.suffix != ".md" and path.name != "truth.json"
)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_view_contradicts_another(path):
    try:
        trace = stepscope.open(path)
        report = summary.build(trace)
    except stepscope.StepscopeError:
        return
    with trace:
        contradictions(trace, report)


def contradictions(trace, report) -> None:
    """Fails where two views of one recording disagree."""
    answer, causes = report.document["answer"], report.document["causes"]
    sums = trace.query(
        "SELECT s.id, s.dur_ps, sum(p.dur_ps) FROM step AS s LEFT JOIN step_part AS p ON p.step_id = s.id "
        "WHERE s.dur_ps > 0 GROUP BY s.id, s.dur_ps"
    ).rows()
    assert all(whole == told for _, whole, told in sums)
    if answer is None:
        assert causes == []
        return
    share = {cause["cause"]: cause["share"] for cause in causes}
    assert [cause["share"] for cause in causes] == sorted(share.values(), reverse=True)
    assert sum(share.values()) <= 1.000001
    cause = {"none": "compute"}.get(answer["cause"], answer["cause"])
    assert answer["share"] == pytest.approx(share.get(cause, answer["share"]))
    begin = judged._TAKES[answer["cause"]].partition("{")[0]
    assert report.headline[0].lower().startswith(begin.lower())
    assert answer["low"] <= answer["step_if_removed_ps"] <= answer["high"]
    assert answer["step_if_removed_ps"] <= answer["step_ps"]
    for finding in report.findings:
        about = judged._OF.get(finding.slug)
        if (
            about is not None
            and finding.severity == "high"
            and sum(s.name == "runs_and_hosts" for s in report.sections)
        ):
            hosts = {row[1] for s in report.sections if s.name == "runs_and_hosts" for row in s.table.rows}
            assert len(hosts) > 1 or share.get(about, 0) >= 0.2, finding.impact
    for section in report.sections:
        if section.name == "pipeline_stages" and section.answer:
            bottleneck = section.answer[0] == "The input is the bottleneck."
            assert bottleneck == (answer["cause"] == "input")
