"""Pipelines of TensorFlow 1: nothing names the iterator of a function, and nothing tells of the time between
runs."""

import pytest

from stepscope.instruments.pipeline.calls import read_function_ops
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence, Diagnosis
from stepscope.instruments.pipeline.stages import PipelineStage
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.report.pipeline import evidence
from stepscope.report.stage_names import label, numbering, runs_as
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
    assert found.bottleneck.stage.short == "TFRecord"
    assert found.confidence == "low"
    assert "But what the function of map_and_batch" in " ".join(evidence(found))


def stages_of(*names: str) -> list[PipelineStage]:
    """The stages of three runs that call iterators of these names, each in the one before, below the root."""
    drawn = Drawn()
    for i in range(3):
        drawn.add(LOOP, "IteratorGetNext::DoCompute", 10 * i, 9)
        for depth, name in enumerate(("Model", *names)):
            drawn.add(LOOP, f"Iterator::{name}", 10 * i + depth, 9 - 2 * depth)
    return [load.stage for load in diagnose(drawn.calls(), steps(3, 10)).loads]


def test_a_cache_has_its_own_name() -> None:
    """What runs inside of it is named beside it."""
    stages = stages_of("Model::Map", "Model::Map::MemoryCache", "Model::Map::MemoryCacheImpl")
    assert [label(stage) for stage in stages] == ["Model", "map (1)", "cache (0)", "MemoryCacheImpl"]
    assert stages[3].above is stages[2]
    assert "counted from the cache" in numbering(stages)
    assert "the source is 0" in numbering(stages_of("Model::Map", "Model::Map::Range"))


def test_stages_without_a_call_are_in_the_names_of_others() -> None:
    """A call of a map over large batches outlasts the runs."""
    stages = stages_of("Model::Unbatch", "Model::Unbatch::ParallelMap::BatchV2::FlatMap")
    found = [(label(stage), len(stage.calls)) for stage in stages]
    assert found == [("Model", 3), ("unbatch (4)", 3), ("map (3)", 0), ("batch (2)", 0), ("flat_map (1)", 3)]


def test_a_reduction_belongs_to_its_windows() -> None:
    window = "Model::GroupByWindow"
    stages = stages_of(window, f"{window}::Reduce::PaddedBatchV2", f"{window}::Reduce::PaddedBatchV2::Window")
    assert [label(stage) for stage in stages] == ["Model", "group_by_window (0)", "padded_batch", "window"]
    assert {stage.nested_in for stage in stages[2:]} == {stages[1]}


def test_how_often_is_no_other_transformation() -> None:
    """TensorFlow names an iterator by it."""
    stages = stages_of("Model::FiniteSkip", "Model::FiniteSkip::FiniteTake")
    assert [label(stage) for stage in stages] == ["Model", "skip (1)", "take (0)"]


def test_the_surer_of_equal_changes_comes_first() -> None:
    """A map may not gain by more threads what it gains by having none of its Python."""
    helping = [change for change in in_place(at_once=16).changes if change.helps]
    keys = [(change.prediction.step_ps, change.prediction.high_ps) for change in helping]
    assert keys == sorted(keys)
    assert helping[0].name != "parallelise_map"


def test_options_are_the_users() -> None:
    stages = stages_of("Model::PrivateThreadPool", "Model::PrivateThreadPool::Range")
    assert [runs_as(stage) for stage in stages] == [
        "added by TensorFlow",
        "set by options or default",
        "Range",
    ]


def test_as_many_threads_as_ran_at_once() -> None:
    """Nothing tells how many threads an interleave of TensorFlow 1 has."""
    drawn = Drawn()
    for i in range(5):
        drawn.add(LOOP, "IteratorGetNext::DoCompute", 10 * i, 9)
        drawn.add(LOOP, "Iterator::Model", 10 * i, 9)
        drawn.add(LOOP, "Iterator::Model::ParallelInterleaveV2", 10 * i, 9)
        for branch in range(3):
            drawn.add(f"lane {branch}", f"Iterator::Model::ParallelInterleaveV2[{branch}]::Map", 10 * i, 9)
    loads = diagnose(drawn.calls(), steps(5, 10)).loads
    (load,) = [load for load in loads if load.stage.short == "Map"]
    assert (load.width, load.work_ps, load.service_ps) == (3, 27 * MS, 9 * MS)


def test_a_gain_beside_an_unseen_function_is_unknown() -> None:
    found = fused(wait=6, reading=8)
    assert found.changes
    assert not any(change.helps for change in found.changes)
    assert "function" in {change.unknown for change in found.changes}


@pytest.mark.parametrize(("apart_ps", "confidence"), [(None, "high"), (5 * MS, "low")])
def test_time_between_runs_lets_a_pipeline_work_ahead(apart_ps: int | None, confidence: str) -> None:
    found = fused(wait=0.1, apart_ps=apart_ps)
    assert (found.verdict, found.confidence) == ("not_input_bound", confidence)
    text = " ".join(evidence(found))
    assert ("In these runs, yes" in text) == (apart_ps is not None)
    assert ("5.00 ms lie between one of them and the next" in text) == (apart_ps is not None)
    assert ("The pipeline keeps up" in text) == (apart_ps is None)


def ops(*names: str) -> list[tuple[int, int, str, int, int, str]]:
    """Rows of ops that ran on two threads, each for 3 ms from the same moment."""
    return [(i, 90 + i % 2, "tf_Compute", MS, 3 * MS, name) for i, name in enumerate(names)]


def test_ops_of_the_only_function_are_its_work() -> None:
    """TensorFlow 1.15 records them on its threads, and names no iterator."""
    drawn = Drawn()
    for i in range(5):
        drawn.add(LOOP, "IteratorGetNext::DoCompute", 10 * i, 5)
        drawn.add(LOOP, "Iterator::Model", 10 * i, 5)
        drawn.add(LOOP, "Iterator::Model::MapAndBatch", 10 * i, 5, label="parallelism=4")
        drawn.add(RUNNER, "Iterator::Model::MapAndBatch::FlatMap[0]::TFRecord", 10 * i, 1)
    calls = drawn.calls()
    calls += read_function_ops(calls, ops("resize:Resize", "f:PyFunc"))
    loads = {load.stage.short: load for load in diagnose(calls, steps(5, 10)).loads}
    load = loads["MapAndBatch"]
    assert (load.stage.parallelism, load.width, load.function_ps, load.python) == (4, 2, 6 * MS, True)
    assert not load.unseen


@pytest.mark.parametrize("beside", ["Iterator::Model::Map", "Iterator::Model::Map::ParallelMap"])
def test_ops_of_several_functions_are_nobodys(beside: str) -> None:
    drawn = Drawn()
    drawn.add(LOOP, "Iterator::Model::Map::MapAndBatch", 0, 5)
    drawn.add(LOOP, beside, 0, 5)
    assert read_function_ops(drawn.calls(), ops("resize:Resize")) == []


def test_single_ops_of_a_function_are_not_all_of_its_work() -> None:
    """TensorFlow 1.15 parses 64 short records, each in a call of its own, and records one op of a call: 0.6
    ms of ops, for which runs wait 6 ms and more. Without tracing, that pipeline takes 8 to 12 ms a batch."""
    drawn = Drawn()
    for i in range(10):
        drawn.add(LOOP, "IteratorGetNext::DoCompute", 10 * i, 6)
        drawn.add(LOOP, "Iterator::Model", 10 * i, 6)
        drawn.add(LOOP, "Iterator::Model::MapAndBatch", 10 * i, 6)
        drawn.add(RUNNER, "Iterator::Model::MapAndBatch::TFRecord", 10 * i + 1, 0.5)
    calls = drawn.calls()
    parsed = [(i, 90, "tf_Compute", 10 * i * MS + 2 * MS, MS, "f:ParseSingleExample") for i in range(10)]
    calls += read_function_ops(calls, parsed)
    found = diagnose(calls, steps(10, 10))
    worst = found.bottleneck
    assert (worst.stage.short, worst.between_ops_ps, worst.service_ps) == (
        "MapAndBatch",
        9 * MS // 2,
        11 * MS // 2,
    )
    assert found.confidence == "medium"
    text = " ".join(evidence(found))
    assert "For 4.50 ms of that, the recording has no op" in text
    assert "does not see what functions of parallel stages do" in text
    halved = next(change for change in found.changes if change.name == "halve_work")
    assert halved.helps


def in_place(at_once: int | None) -> Diagnosis:
    """Ten runs of 10 ms that wait for a map whose function calls Python, in the thread that asks."""
    drawn = Drawn()
    for i in range(10):
        drawn.add(LOOP, "IteratorGetNext::DoCompute", 10 * i, 6)
        drawn.add(LOOP, "Iterator::Model", 10 * i, 6)
        drawn.add(LOOP, "Iterator::Model::BatchV2", 10 * i, 6)
        for j in range(24):
            drawn.add(LOOP, "Iterator::Model::BatchV2::Map", 10 * i + 0.25 * j, 0.24)
            drawn.add(LOOP, "Iterator::Model::BatchV2::Map::Range", 10 * i + 0.25 * j, 0.01)
    calls = drawn.calls()
    ran = [(i, 90, "tf_Compute", 10 * i * MS + MS // 25, MS // 5, "f:PyFunc") for i in range(10)]
    calls += read_function_ops(calls, [*ran, (99, 90, "tf_Compute", 8 * MS, MS, "session:PyFunc")])
    return diagnose(calls, steps(10, 10), beside=CaptureEvidence(at_once=at_once))


def test_python_of_a_map_in_place_lies_in_its_calls() -> None:
    found = in_place(at_once=2)
    (load,) = [load for load in found.loads if load.python]
    assert (load.stage.short, load.work_ps) == ("Map", round(5.52 * MS))
    text = " ".join(evidence(found))
    assert "It runs a py_function" in text
    assert "keeps at most 0.6 cores busy" in text
    assert "drop_python" in {change.name for change in found.changes}


@pytest.mark.parametrize("at_once", [None, 1])
def test_more_threads_gain_what_nobody_knows(at_once: int | None) -> None:
    """Where nothing tells how many cores there are, nothing says that more threads gain nothing."""
    changes = {change.name: change for change in in_place(at_once).changes}
    assert changes["parallelise_map"].unknown == "cores"
    assert "only that" not in " ".join(evidence(in_place(at_once)))


def test_threads_that_ran_at_once_can_be_used() -> None:
    found = in_place(at_once=2)
    (change,) = [change for change in found.changes if change.name == "parallelise_map"]
    assert change.helps
    assert change.prediction.step_ps < 8 * MS
    assert change.prediction.high_ps >= 10 * MS  # they may be all, and busy
    assert "only that 2 threads ran ops at once: predictions assume no more" in " ".join(evidence(found))


def test_what_was_fused_may_be_two() -> None:
    stages = stages_of(
        "Model::Prefetch", "Model::Prefetch::MapAndBatch", "Model::Prefetch::MapAndBatch::Range"
    )
    assert numbering(stages).endswith("the source is 0. map_and_batch counts as one, if written as two, too.")
