"""Pipelines of TensorFlow 1: functions of parallel stages are not recorded, and neither is the time between
runs."""

from __future__ import annotations

import pytest

from stepscope.instruments.pipeline.verdict import CaptureEvidence, Diagnosis, diagnose
from stepscope.report.pipeline import evidence
from tests.instruments.pipelines import LOOP, MS, RUNNER, Drawn, steps


def fused(wait: float, reading: float = 0.1, apart_ps: int | None = None) -> Diagnosis:
    """Ten runs of 10 ms that wait for map_and_batch, of whose function there is nothing."""
    drawn = Drawn()
    for i in range(10):
        drawn.add(LOOP, "IteratorGetNext::DoCompute", 10 * i, wait)
        drawn.add(LOOP, "Iterator::Model", 10 * i, wait)
        drawn.add(LOOP, "Iterator::Model::MapAndBatch", 10 * i, wait)
        drawn.add(RUNNER, "Iterator::Model::MapAndBatch::TFRecord", 10 * i + 1, reading)
    return diagnose(drawn.calls(), steps(10, 10), beside=CaptureEvidence(apart_ps=apart_ps))


def test_a_function_that_was_not_recorded_may_be_what_is_waited_for() -> None:
    found = fused(wait=6)
    (load,) = [load for load in found.loads if load.stage.short == "MapAndBatch"]
    assert load.unseen
    assert (found.verdict, found.bottleneck, found.confidence) == ("input_bound", None, "low")
    text = " ".join(evidence(found))
    assert "Perhaps map_and_batch (transformation 1)" in text
    assert "not what its function does" in text
    assert "wait for a core" not in text
    assert "does not see what functions of parallel stages do" in text


def test_a_stage_that_is_named_beside_it_is_not_sure() -> None:
    found = fused(wait=6, reading=8)
    assert found.bottleneck is not None
    assert found.bottleneck.stage.short == "TFRecord"
    assert found.confidence == "low"
    assert "But what the function of map_and_batch" in " ".join(evidence(found))


def test_a_cache_has_its_own_name() -> None:
    drawn = Drawn()
    for i in range(3):
        drawn.add(LOOP, "IteratorGetNext::DoCompute", 10 * i, 5)
        for depth, name in enumerate(("Model", "Model::Map", "Model::Map::MemoryCacheImpl")):
            drawn.add(LOOP, f"Iterator::{name}", 10 * i + depth, 5 - 2 * depth)
    stages = [load.stage for load in diagnose(drawn.calls(), steps(3, 10)).loads]
    assert [stage.spoken for stage in stages][1:] == ["map (transformation 1)", "cache (transformation 0)"]


@pytest.mark.parametrize(("apart_ps", "confidence"), [(None, "high"), (5 * MS, "low")])
def test_time_between_runs_lets_a_pipeline_work_ahead(apart_ps: int | None, confidence: str) -> None:
    found = fused(wait=0.1, apart_ps=apart_ps)
    assert (found.verdict, found.confidence) == ("not_input_bound", confidence)
    text = " ".join(evidence(found))
    assert ("In these runs, yes" in text) == (apart_ps is not None)
    assert ("5.00 ms lie between one of them and the next" in text) == (apart_ps is not None)
    assert ("The pipeline keeps up" in text) == (apart_ps is None)
