"""What-ifs with somebody's own numbers agree with the proposals, which the same model makes."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.causes import ranking
from stepscope.instruments.pipeline import whatif
from stepscope.instruments.pipeline.diagnoses import find
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence, Diagnosis
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.instruments.pipeline.whatif import Setting
from stepscope.report import whatif_request
from stepscope.report.whatif_request import WhatIfRequest
from stepscope.server import whatif as server_whatif
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.instruments.pipelines import sequential
from tests.tiers import some

RECORDINGS = (
    "drawn",
    "capture/slow_map",
    "tf_data/two_maps_first_slow.xplane.pb.gz",
    "tf_data/guide_range_map_repeat_batch.xplane.pb.gz",
    "tf_data/batch_big_copy.xplane.pb.gz",
    "tf_data/not_bottleneck_prefetch.xplane.pb.gz",
)


@cache
def diagnosis_of(name: str) -> Diagnosis:
    if name == "drawn":
        drawn, found = sequential()
        return diagnose(drawn.calls(), found, beside=CaptureEvidence(machine=Machine(4, 0.3, 1.0, 1.1)))
    with trace.open(SAMPLES / name, cache=False) as opened:
        return find(opened.query)[0].diagnosis


@pytest.mark.parametrize("name", RECORDINGS)
def test_nothing_changed_is_the_step_as_it_is(name: str) -> None:
    found = diagnosis_of(name)
    outcome = whatif.ask(found, [Setting(load.stage.number, load.width) for load in found.loads])
    assert outcome.prediction.step_ps == found.step_ps
    assert [need.service_ps for need in outcome.needs] == [load.service_ps for load in found.loads]


def test_the_same_change_has_the_same_prediction() -> None:
    compared = set()
    for found in map(diagnosis_of, RECORDINGS):
        for change in found.changes:
            worst = next(load for load in found.loads if load.stage.branch_name == change.stage)
            number, cores = worst.stage.number, found.cores
            asked = {
                "parallelise_map": [Setting(number, cores)],
                "parallelise_batch": [Setting(number, cores)],
                "raise_parallelism": [Setting(number, cores)],
                "halve_work": [Setting(number, worst.width, 0.5)],
                "more_cores": [Setting(number, max(worst.width, 2 * cores))],
            }.get(change.name)
            if asked is None or change.facts.get("way") == "parallel_already":
                continue
            outcome = whatif.ask(found, asked, cores=2 * cores if change.name == "more_cores" else None)
            same, tolerance = change.prediction, 0 if change.name != "halve_work" else 0.01
            assert outcome.prediction.step_ps == pytest.approx(same.step_ps, rel=tolerance), change.name
            assert outcome.prediction.high_ps == pytest.approx(same.high_ps, rel=max(tolerance, 0.0))
            assert outcome.prediction.limits_next == same.limits_next or change.name == "halve_work"
            compared.add(change.name)
    assert compared == {
        "parallelise_map",
        "parallelise_batch",
        "raise_parallelism",
        "halve_work",
        "more_cores",
    }


@pytest.mark.parametrize(
    "name",
    some(
        ["capture/slow_map", "tf_data/two_maps_first_slow.xplane.pb.gz", "tf_guide/list_files.xplane.pb.gz"],
        ("capture/slow_map",),
        "another pipeline with one slow stage",
    ),
)
def test_a_stage_without_work_leaves_the_least_that_is_judged_to_be_left(name: str) -> None:
    """The slider at its end and the judgement ask one thing. Batches are made all the same, so that the
    headline and `whatif --without input` tell no number; a bound that they tell is the slider's."""
    with trace.open(SAMPLES / name, cache=False) as opened:
        found = find(opened.query)[0].diagnosis
        said = whatif_request.answer(opened, WhatIfRequest("input"), name).document
        (judged,) = ranking.judge(opened.query)
    assert said["then_ps"] is said["high"] is None
    gone = [load.stage.number for load in (found.bottleneck, found.beside) if load is not None]
    outcome = whatif.ask(found, [Setting(number, 3, 0.0) for number in gone])
    predicted = outcome.prediction
    assert (predicted.step_ps, predicted.low_ps) == pytest.approx((judged.left_ps, judged.low_ps), rel=0.01)
    assert said["low"] in (None, judged.low_ps)
    others = [load.stage.number for load in found.loads if load.stage.number not in gone]
    more = whatif.ask(found, [Setting(number, 1, 0.0) for number in (*gone, *others)])
    assert more.prediction.step_ps <= predicted.step_ps * 1.01


@pytest.mark.parametrize("name", ["capture/slow_map", "tf_data/two_maps_first_slow.xplane.pb.gz"])
def test_a_slider_says_what_whatif_says_of_workers(name: str) -> None:
    with trace.open(SAMPLES / name, cache=False) as opened:
        found = find(opened.query)
        said = whatif_request.answer(opened, WhatIfRequest(workers=4), name).document
    limiting = found[0].diagnosis.bottleneck
    stages = [{"number": limiting.stage.number, "width": 4, "work": 1.0}]
    moved = server_whatif.answer(found, {"pipeline": 0, "cores": None, "prefetch": False, "stages": stages})
    assert (moved["now_ps"], moved["step_ps"], moved["low"], moved["high"]) == (
        said["recorded_ps"],
        said["then_ps"],
        said["low"],
        said["high"],
    )


@given(st.sampled_from(RECORDINGS), st.lists(st.floats(0, 1), min_size=30, max_size=30))
def test_less_work_never_makes_a_step_longer(name: str, parts: list[float]) -> None:
    found = diagnosis_of(name)
    settings = [
        Setting(load.stage.number, load.width, part) for load, part in zip(found.loads, parts, strict=False)
    ]
    outcome = whatif.ask(found, settings)
    assert found.step_ps is not None
    assert outcome.prediction.step_ps <= found.step_ps * 1.001
    assert outcome.prediction.low_ps <= outcome.prediction.step_ps <= outcome.prediction.high_ps


def test_python_on_more_threads_is_not_sure_to_be_faster() -> None:
    found = diagnosis_of("capture/slow_map")
    assert found.bottleneck.python
    outcome = whatif.ask(found, [Setting(found.bottleneck.stage.number, 2)])
    assert outcome.prediction.high_ps == found.step_ps


def test_no_steps_no_prediction() -> None:
    assert whatif.ask(Diagnosis("unknown", "low", None, (), (), (), 2)) is None
