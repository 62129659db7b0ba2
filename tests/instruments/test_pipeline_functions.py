"""Changes of how the function of a map is called: for many elements at once, on more threads."""

from itertools import product

import pytest

from stepscope.instruments.pipeline import diagnoses
from stepscope.instruments.pipeline.calls import read
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.trial_case import autotune
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.instruments.pipeline.verify import Recorded, verify
from stepscope.report import pipeline_changes, verification
from stepscope.session import trace
from tests import corpus
from tests.each import each
from tests.instruments.pipelines import LOOP, MS, POOL, Drawn, steps


def mapped(kernel: float | None, elements: int = 8, python: bool = False) -> dict[str, PredictedChange]:
    """The changes for batch(map): each element takes 1 ms, of which the kernel takes so much. None: of the
    executor nothing is known."""
    drawn = Drawn()
    for i in range(10):
        at = (elements + 2) * i
        drawn.take(at, elements, "Root::BatchV2", "BatchDatasetV2:2")
        for k in range(elements):
            call = -100 * i - k - 1
            drawn.call(LOOP, "Root::BatchV2::Map", at + k, 1, 3, 2, "MapDataset:1")
            drawn.add(LOOP, "InstantiatedCapturedFunction::Run", at + k, 1, id=call)
            drawn.add(POOL, "ExecutorState::Process", at + k, 1, id=call)
            if python:
                drawn.add(POOL, "PyFunc:PyFunc", at + k, 0.9)
    rows = sorted(drawn.rows, key=lambda row: (row[1], row[3], -row[4], row[0]))
    told = [(*row, row[4] - round((kernel or 0) * MS)) if row[5].startswith("Ex") else row for row in rows]
    found = diagnose(read(rows if kernel is None else told), steps(10, elements + 2))
    return {change.name: change for change in found.changes}


@each(("kernel", "elements"), product((0.0, 0.2, 0.9), (2, 8, 32)))
def test_a_function_for_many_elements_is_called_once(kernel: float, elements: int) -> None:
    """Kernels stay; what is between them is spent once instead of for each element."""
    change = mapped(kernel, elements)["vectorise"]
    assert not change.unknown
    expected = 2 + elements * kernel + (1 - kernel)
    assert change.prediction.step_ps == pytest.approx(expected * MS, rel=0.05)
    # At best the kernels, too, take as long for many elements as for one.
    assert change.prediction.low_ps <= 3 * MS
    assert change.prediction.low_ps <= change.prediction.step_ps <= change.prediction.high_ps
    assert change.helps == (change.prediction.step_ps <= 0.95 * (elements + 2) * MS)


def test_what_no_executor_tells_is_said_to_be_unknown() -> None:
    for changes in (mapped(None), mapped(0.1, python=True)):
        change = changes["vectorise"]
        assert change.unknown
        assert not change.helps


def test_python_that_waits_may_do_so_on_more_threads() -> None:
    change = mapped(0.9, elements=16, python=True)["larger_threadpool"]
    assert change.helps
    assert change.prediction.step_ps < mapped(0.9, 16, python=True)["parallelise_map"].prediction.step_ps
    # Python that computes gains nothing.
    assert change.prediction.high_ps >= 18 * MS
    assert "larger_threadpool" not in mapped(0.9)


def test_intra_op_parallelism_is_told_to_be_one_already() -> None:
    change = mapped(0.9)["intra_op_parallelism"]
    assert not change.helps
    assert change.prediction.step_ps == 10 * MS
    assert "max_intra_op_parallelism = 1" in pipeline_changes.what(change)


def test_an_unknown_gain_is_not_verified() -> None:
    drawn = Drawn()
    drawn.add(LOOP, "IteratorGetNextOp::DoCompute", 0, 5)
    found = diagnose(drawn.calls(), steps(1, 10))
    result = verify(Recorded(found, ()), Recorded(found, ()))
    assert result is not None
    unknown = type(result)((), mapped(None)["vectorise"], 10, 5)
    assert unknown.as_predicted is None
    report = verification.build(unknown, "a", "b")
    assert report.document["predicted_step_ps"] is None
    assert "could not be predicted" in " ".join(report.headline)


def test_what_a_map_runs_is_told_of_old_recordings() -> None:
    """TensorFlow 2.3 tells nothing around what a thread that works ahead calls, and no names of datasets."""
    with trace.open(corpus.SAMPLES / "tf_2_3", cache=False) as recording:
        (found,) = diagnoses.find(recording.query)
    loads = {load.stage.spoken: load for load in found.diagnosis.loads if load.stage.position is not None}
    assert list(loads) == [
        "prefetch (transformation 3)", "map_and_batch (transformation 2)",
        "map (transformation 1)", "range (transformation 0)",
    ]  # fmt: skip
    products = loads["map_and_batch (transformation 2)"]
    assert products.work_ps == pytest.approx(24.2 * MS, rel=0.01)  # see the samples' README
    assert products.width == 2
    assert not products.unseen
    ends = found.diagnosis.ends
    assert ends.prefetch == "user"
    bottleneck = found.diagnosis.bottleneck
    assert bottleneck.stage is products.stage
    assert autotune(found.diagnosis.loads) == "tf.data.experimental.AUTOTUNE"
