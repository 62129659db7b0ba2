"""Prediction against measurement: which change was made, and whether it gained what was told."""

import json
from dataclasses import replace

import pytest

from stepscope.instruments.pipeline import diagnoses
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence, Diagnosis
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.tracing import TracingPace
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.instruments.pipeline.verify import Recorded, compare, verify
from stepscope.presenters import json as as_json
from stepscope.presenters import scroll
from stepscope.report import verification
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.each import each
from tests.instruments.pipelines import LOOP, MS, POOL, RUNNER, Drawn, sequential, steps


def chain(*words: str, **calls: int | None) -> list[UserStage]:
    """A chain of transformations; keywords give num_parallel_calls by transformation."""
    return [
        UserStage(0, i, word, None, "t.py", i + 1, f"d = d.{word}()",
              json.dumps({"num_parallel_calls": calls[word]} if word in calls else {}))
        for i, word in enumerate(words)
    ]  # fmt: skip


def recorded(places: list[UserStage], work: float = 8, pace: TracingPace | None = None) -> Recorded:
    drawn, times = sequential(work=work)
    return Recorded(diagnose(drawn.calls(), times, beside=CaptureEvidence(pace=pace)), places)


SAME = "The chain of datasets is the same: what changed is inside a function, or elsewhere."
WRITTEN = chain("range", "map", "batch")


@each(
    ("after", "change", "said"),
    [
        (chain("range", "map", "batch", "prefetch"), "prefetch", "prefetch was added (t.py:4)."),
        (chain("range", "map", "cache", "batch"), "cache_here", "cache was added (t.py:3)."),
        (
            chain("range", "map", "batch", map=-1),
            "parallelise_map",
            "num_parallel_calls of map was none and is now AUTOTUNE (t.py:2).",
        ),
        (chain("range", "batch"), None, "map was removed (t.py:2)."),
        (WRITTEN, None, SAME),
    ],
)  # fmt: skip
def test_which_change_was_made(after: list[UserStage], change: str | None, said: str) -> None:
    result = verify(recorded(WRITTEN), recorded(after))
    assert (None if result.change is None else result.change.name) == change
    assert list(verification.edits(result)) == [said]
    assert not result.helped


def test_half_the_work_is_seen_without_a_chain() -> None:
    result = verify(recorded(WRITTEN), recorded(WRITTEN, work=4.6))
    assert result.change.name == "halve_work"
    assert (result.before_ps, result.after_ps) == (10 * MS, pytest.approx(6.6 * MS))
    assert result.ratio == pytest.approx(0.66)
    assert result.as_predicted is True
    report = verification.build(result, "b", "a")
    shown = scroll.render(report, width=80)
    assert "The prediction held." in shown
    told = json.loads(as_json.render(report))
    assert (told["format"], told["helped"], told["change"]) == (1, True, "halve_work")
    assert told["low"] <= told["after_step_ps"] <= told["high"]


def test_steps_that_were_not_traced_are_compared_where_both_tell_them() -> None:
    half = TracingPace(10 * MS, 5 * MS, 10**6)
    both = verify(recorded(WRITTEN, pace=half), recorded(WRITTEN, work=4.6, pace=half))
    assert (both.untraced, both.before_ps, both.after_ps) == (True, 5 * MS, pytest.approx(3.3 * MS))
    assert both.as_predicted
    one = verify(recorded(WRITTEN, pace=half), recorded(WRITTEN, work=4.6))
    assert (one.untraced, one.before_ps, one.after_ps) == (False, 10 * MS, pytest.approx(6.6 * MS))
    assert one.change.prediction.step_ps == pytest.approx(2 * both.change.prediction.step_ps, rel=0.01)


def test_a_prediction_that_fails_is_told_to_fail() -> None:
    result = verify(recorded(WRITTEN), recorded(chain("range", "map", "batch", map=-1), work=20))
    assert result.as_predicted is False
    shown = scroll.render(verification.build(result, "b", "a"), width=140, color=True)
    assert "the step is longer than predicted." in shown


def machine(busy: float, own: float) -> Machine:
    return Machine(2, busy, 1.0, own)


def test_neighbours_that_changed_are_no_change_of_the_program() -> None:
    """Half of a core more for others: the step became longer, and nobody knows by whose doing."""
    before, after = recorded(WRITTEN), recorded(WRITTEN, work=12)
    quiet, busy = (
        replace(one, diagnosis=replace(one.diagnosis, machine=machine(*told)))
        for one, told in ((before, (0.5, 1.0)), (after, (0.95, 1.0)))
    )
    result = verify(quiet, busy)
    assert result.disturbed
    assert result.as_predicted is None
    report = verification.build(result, "b", "a")
    assert "Other programs kept 0.0 of 2 cores busy before and 0.9 now." in report.headline[-1]
    assert "its neighbours changed instead" in report.headline[-1]
    assert report.document["disturbed"] is True
    calm = replace(after, diagnosis=replace(after.diagnosis, machine=machine(0.55, 1.0)))
    same = verify(quiet, calm)
    assert not same.disturbed


def test_recordings_in_turns_are_compared_by_their_medians() -> None:
    sides = [[recorded(WRITTEN, work=work) for work in works] for works in ((8, 20, 8), (4.6, 4.6, 30))]
    result = compare(*sides)
    assert (result.before_ps, result.after_ps) == (10 * MS, pytest.approx(6.6 * MS))
    assert result.turns == 3
    assert "medians of 3 recordings each, made in turns" in verification.build(result, "b", "a").headline[0]
    assert compare([], sides[1]) is None


def fused() -> tuple[Diagnosis, list[UserStage]]:
    """A loop whose map and batch TensorFlow runs as one stage, MapAndBatch."""
    drawn = Drawn()
    for i in range(10):
        at, function = 10 * i, -i - 1
        drawn.take(at, 8)
        drawn.call(LOOP, "Root::MapAndBatch", at, 8, 2, 1, "fused(MapDataset:1,BatchDatasetV2:2)",
                   parallelism=2, cpu_budget=2)  # fmt: skip
        drawn.add(RUNNER, "MapAndBatchProduce", at, 0.1)
        drawn.call(RUNNER, "Root::MapAndBatch::Range", at, 0.02, 3, 2, "RangeDataset:0")
        drawn.add(RUNNER, "InstantiatedCapturedFunction::Run", at + 0.03, 0.01, id=function)
        drawn.add(POOL, "ExecutorState::Process", at + 0.05, 7.9, id=function)
    places = chain("range", "map", "batch")
    return diagnose(drawn.calls(), steps(10, 10), beside=CaptureEvidence(places=places)), places


@each(
    ("after", "change"),
    [
        (chain("range", "map", "batch", map=-1), "parallelise_map"),
        (chain("range", "map", "batch", "cache"), "cache_here"),
        (chain("range", "map", "cache", "batch"), "cache_here"),
        (chain("range", "cache", "map", "batch"), None),
        (chain("range", "map", "batch", "prefetch"), "prefetch"),
    ],
)  # fmt: skip
def test_a_change_is_recognised_through_a_fusion(after: list[UserStage], change: str | None) -> None:
    """Of the stage that stands for map and batch, not of the source."""
    diagnosis, places = fused()
    assert diagnosis.bottleneck.stage.short == "MapAndBatch"
    result = verify(Recorded(diagnosis, places), Recorded(diagnosis, after))
    assert result is not None
    assert (None if result.change is None else result.change.name) == change


def test_without_a_chain_a_fused_stage_is_found_again() -> None:
    """The map ran on the program's thread before, and after it as a part of MapAndBatch."""
    diagnosis, _ = fused()
    result = verify(recorded([]), Recorded(diagnosis, []))
    assert result.change.name == "parallelise_map"


def test_without_waits_there_is_nothing_to_compare() -> None:
    one = recorded(WRITTEN)
    none = Recorded(replace(one.diagnosis, waits=None), WRITTEN)
    assert isinstance(none.diagnosis, Diagnosis)
    assert verify(one, none) is None


def test_python_that_is_gone_is_what_was_changed() -> None:
    """Whatever transformations took its place: they are not what was proposed, but how it was done."""
    with trace.open(SAMPLES / "capture" / "slow_map", cache=False) as opened:
        (found,) = diagnoses.find(opened.query)
    assert any(one.name == "drop_python" for one in found.diagnosis.changes)
    before = Recorded(found.diagnosis, found.places)
    after = recorded(chain("range", "batch", "map", "prefetch"))
    result = verify(before, after)
    assert result.edits
    assert result.change.name == "drop_python"
    report = verification.build(result, "b", "a")
    assert report.headline[0].startswith("A traced step took ")
    said = [*report.headline, *(sentence for one in report.sections for sentence in one.answer)]
    assert len(set(said)) == len(said), "nothing is said twice"
    # With the Python still there, it is the transformation that was added.
    still = verify(before, before)
    assert still.change is None
