"""The user's chain against what TensorFlow ran: how it ends, what lacks, who lists files, which cores."""

from dataclasses import replace

import pytest

from stepscope.instruments.pipeline import copies
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.cores import cores_of
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence, Diagnosis
from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.report import pipeline_changes
from stepscope.report.pipeline import evidence
from tests.instruments.pipelines import LOOP, MS, POOL, RUNNER, Drawn, sequential, steps


def changes(found: Diagnosis) -> dict[str, PredictedChange]:
    return {change.name: change for change in found.changes}


def bursting(number: int = 10, elements: int = 8, work: float = 4, program: float = 16, **root: int) -> Drawn:
    """batch(map(range, 2 threads)) without prefetch: 2 of 8 elements are made while the program works."""
    drawn = Drawn()
    rounds = (elements - 2) // 2
    wait = rounds * work
    step = program + wait
    for i in range(number):
        at = i * step
        drawn.take(at, wait, "Root::BatchV2", "BatchDatasetV2:2", root=root, batch_size=elements)
        for j in range(elements):
            # Two are there when they are asked for, the others come two by two.
            due = at + max((j - 2) // 2 * work, 0)
            late = work - 0.01 if j > 1 and j % 2 == 0 else 0.005
            due += 0 if late > 1 else work - 0.01 if j > 1 else j * 0.005
            drawn.call(
                LOOP, "Root::BatchV2::ParallelMapV2", due, late, 3, 2, "ParallelMapDatasetV2:1",
                parallelism=2, deterministic="true",
            )  # fmt: skip
            made = at + j // 2 * work
            drawn.add(f"{RUNNER}{j % 2}", "ParallelMapProduce", made, 0.01)
            drawn.call(
                f"{RUNNER}{j % 2}", "Root::BatchV2::ParallelMapV2::Range", made, 0.005, 4, 3, "RangeDataset:0"
            )
            drawn.add(
                f"{RUNNER}{j % 2}",
                "InstantiatedCapturedFunction::Run",
                made + 0.006,
                0.002,
                id=100 * i + j + 1,
            )
            drawn.add(
                f"{POOL}{j % 2}", "ExecutorState::Process", made + 0.01, work - 0.02, id=100 * i + j + 1
            )
    return drawn


def test_a_parallel_map_at_the_end_is_no_prefetch() -> None:
    """28 ms a step: 16 of the program's, then 6 elements of 4 ms on two threads. Prefetched, the longer one
    is left: 16 ms, as long as 8 elements take on two threads."""
    found = diagnose(bursting(threadpool_size=4).calls(), steps(10, 28))
    assert (found.ends.prefetch, found.ends.last and found.ends.last.short) == ("none", "BatchV2")
    said = " ".join(evidence(found))
    assert "No: the last stage is batch (transformation 2), and no Prefetch." in said
    assert "works ahead by 2 elements of the 8 of a step and no further" in said
    prefetch = changes(found)["prefetch"]
    assert prefetch.helps
    assert prefetch.prediction.step_ps == pytest.approx(16 * MS, rel=0.05)
    assert "end the pipeline with prefetch" in pipeline_changes.what(prefetch)


def test_what_is_not_prefetched_does_not_keep_up_however_fast_it_is() -> None:
    """A program of 60 ms waits for 12: its pipeline needs 16 ms a step, a quarter of that."""
    found = diagnose(bursting(program=60, threadpool_size=4).calls(), steps(10, 72))
    assert found.verdict == "partly_input_bound"
    assert found.bottleneck is not None
    assert changes(found)["prefetch"].prediction.step_ps == pytest.approx(60 * MS, rel=0.05)
    assert not any("keeps up" in said for said in evidence(found))


def test_a_pool_is_not_cores() -> None:
    """Eight threads that options asked for, on a machine of two cores."""
    found = diagnose(bursting(threadpool_size=8, cpu_budget=2).calls(), steps(10, 28))
    assert (found.cores, found.tells_cores) == (2, True)
    assert any("of 2 cores busy" in said for said in evidence(found))
    assert (found.model.cores, found.model.threads) == (2, 8)
    untold = diagnose(bursting(threadpool_size=8).calls(), steps(10, 28))
    assert any(
        "does not show how many there are, only that tf.data's pool has 8 threads" in s
        for s in evidence(untold)
    )
    assert "more_cores" not in changes(untold)


def test_a_batch_is_as_large_as_the_recording_says() -> None:
    """The recording shows 31 elements for the first batch: the others were made before."""
    found = diagnose(bursting(elements=32, threadpool_size=2).calls(), steps(10, 76))
    assert changes(found)["vectorise"].facts["elements"] == 32


def _prefetched(user: str, **args: int) -> Drawn:
    drawn = Drawn()
    for i in range(10):
        drawn.take(10 * i, 8, "Root::Prefetch", user, **args)
        inside = LOOP if args else RUNNER
        drawn.call(inside, "Root::Prefetch::Map", 10 * i, 8, 3, 2, "MapDataset:1")
        drawn.call(inside, "Root::Prefetch::Map::Range", 10 * i, 0.1, 4, 3, "RangeDataset:0")
    return drawn


@pytest.mark.parametrize(
    ("user", "prefetch", "said"),
    [
        ("PrefetchDataset:2", "user", "Yes: the last stage is yours, prefetch (transformation 2)."),
        (
            "inject/prefetch_MapDataset/_8",
            "tensorflow",
            "Yes, but not by your doing: TensorFlow put a Prefetch",
        ),
    ],
)
def test_who_put_the_prefetch_at_the_end(user: str, prefetch: str, said: str) -> None:
    found = diagnose(_prefetched(user).calls(), steps(10, 10))
    assert found.ends.prefetch == prefetch
    assert said in " ".join(evidence(found))


def test_a_prefetch_of_nothing_is_none() -> None:
    found = diagnose(_prefetched("PrefetchDataset:2", buffer_limit=0).calls(), steps(10, 10))
    assert found.ends.prefetch == "none"


def test_a_prefetch_that_other_stages_come_behind() -> None:
    drawn = Drawn()
    for i in range(10):
        drawn.take(10 * i, 6, "Root::Map", "MapDataset:2")
        drawn.call(LOOP, "Root::Map::Prefetch", 10 * i, 0.1, 3, 2, "PrefetchDataset:1")
        drawn.call(RUNNER, "Root::Map::Prefetch::Range", 10 * i, 0.1, 4, 3, "RangeDataset:0")
    found = diagnose(drawn.calls(), steps(10, 10))
    said = " ".join(evidence(found))
    assert "prefetch (transformation 1) comes earlier: what is behind it, 5.90 ms per step, runs when" in said
    assert changes(found)["prefetch"].prediction.step_ps == pytest.approx(5.9 * MS, rel=0.1)


def _with_a_gap(multi: str = "BatchV2") -> Drawn:
    drawn, _ = sequential()
    drawn.rows = [
        (
            *row[:5],
            row[5].replace("BatchV2", multi),
            (row[6] or "").replace("BatchDatasetV2:2", f"{multi}Dataset:3"),
        )
        for row in drawn.rows
    ]
    return drawn


def test_a_pipeline_made_anew_takes_nothing_out() -> None:
    """The first batch() that is called belongs to a later pipeline, which has higher numbers."""
    drawn, time = sequential()
    at = next(i for i, row in enumerate(drawn.rows) if row[5] == "Iterator::Root::BatchV2")
    row = drawn.rows[at]
    drawn.rows[at] = (
        *row[:6],
        row[6].replace("BatchDatasetV2:2", "BatchDatasetV2:22").replace('"id": 2', '"id": 9'),
    )
    found = diagnose(drawn.calls(), time)
    assert found.removed == ()
    assert {load.stage.position for load in found.loads if load.stage.short == "BatchV2"} == {2}


def test_what_tensorflow_took_out_is_told() -> None:
    """batch (3) takes from map (1): what was 2 is gone. Behind a zip, another branch may have it."""
    found = diagnose(_with_a_gap().calls(), steps(10, 10))
    assert [one.position for one in found.removed] == [2]
    assert diagnose(_with_a_gap("Zip").calls(), steps(10, 10)).removed == ()
    assert diagnose(_with_a_gap("Unbatch").calls(), steps(10, 10)).removed == ()
    place = UserStage(0, 2, "with_options", "OptionsDataset", "train.py", 7, "d = d.with_options(o)")
    told = diagnose(
        _with_a_gap().calls(),
        steps(10, 10),
        beside=CaptureEvidence(places=[place, replace(place, iterator=1)]),
    )
    assert [(one.position, one.written and one.written.line) for one in told.removed] == [(2, 7)]


def _listing(names: int, buffer: int, reader: str = "TFRecord") -> Drawn:
    """list_files(…).flat_map(reader): a new iterator of the names in each epoch."""
    drawn = Drawn()
    root = "Root::FlatMap"
    for i in range(4):
        at = 10 * i
        drawn.take(at, 8, root, "FlatMapDataset:2")
        drawn.call(LOOP, f"{root}::Shuffle", at, 6, 100 + i, 2, "ShuffleDatasetV3:1", buffer_size=buffer)
        for j in range(names):
            drawn.call(
                LOOP,
                f"{root}::Shuffle::TensorSlice",
                at + j * 0.01,
                0.005,
                200 + i,
                100 + i,
                "TensorSliceDataset:0",
            )
        drawn.call(LOOP, f"{root}[{i}]::{reader}", at + 6, 1, 300 + i, 2, f"{reader}Dataset:9")
    return drawn


@pytest.mark.parametrize(
    ("names", "buffer", "reader", "lists"),
    [(20, 20, "TFRecord", True), (20, 5, "TFRecord", False), (20, 20, "Range", False)],
)
def test_names_that_are_shuffled_at_once_and_read_are_list_files(
    names: int, buffer: int, reader: str, lists: bool
) -> None:
    found = diagnose(_listing(names, buffer, reader).calls(), steps(4, 10))
    of = {load.stage.short: load.stage for load in found.loads}
    assert (of["Shuffle"].lists_files, of["TensorSlice"].lists_files) == (lists, lists)
    assert of["Shuffle"].spoken == f"{'list_files' if lists else 'shuffle'} (transformation 1)"
    advice = pipeline_changes.what(changes(found)["smaller_shuffle"])
    assert ("names of files instead" in advice) != lists


def test_where_the_program_tells_who_listed_nothing_is_guessed() -> None:
    sliced = UserStage(
        0, 0, "from_tensor_slices", "TensorSliceDataset", "train.py", 3, "d = from_tensor_slices(names)"
    )
    found = diagnose(_listing(20, 20).calls(), steps(4, 10), beside=CaptureEvidence(places=[sliced]))
    assert not any(load.stage.lists_files for load in found.loads)
    listed = replace(sliced, transformation="list_files")
    found = diagnose(_listing(20, 5).calls(), steps(4, 10), beside=CaptureEvidence(places=[listed]))
    assert [load.stage.short for load in found.loads if load.stage.lists_files] == ["TensorSlice"]


def test_a_stage_whose_consumer_was_not_recorded_belongs_to_the_pipeline_of_its_name() -> None:
    drawn = _listing(20, 20)
    drawn.call(RUNNER, "Root::FlatMap::Shuffle::TensorSlice", 39, 0.01, 999, 998, "TensorSliceDataset:0")
    found = diagnose(drawn.calls(), steps(4, 10))
    assert [load.stage.short for load in found.loads].count("TensorSlice") == 1


def _filtered(python: bool, source: str = "Range", **root: int) -> Drawn:
    """prefetch(batch(filter(source))): 18 ms of filtering in each step of 20 ms."""
    drawn = Drawn()
    end = "Root::Prefetch::BatchV2"
    for i in range(10):
        at = 20 * i
        drawn.take(at, 18, "Root::Prefetch", "PrefetchDataset:3", root=root)
        drawn.add(RUNNER, "PrefetchProduce", at, 18.3)
        drawn.call(RUNNER, end, at, 18.3, 3, 2, "BatchDatasetV2:2", batch_size=4)
        drawn.call(RUNNER, f"{end}::Filter", at, 18.2, 4, 3, "FilterDataset:1")
        drawn.call(RUNNER, f"{end}::Filter::{source}", at, 0.2, 5, 4, f"{source}Dataset:0")
        if python:
            drawn.add(RUNNER, "EagerPyFunc:EagerPyFunc", at + 1, 17)
    return drawn


def test_copies_of_the_pipeline_for_what_takes_one_element_after_the_other() -> None:
    """18.2 ms of a filter that computes, on four cores: four copies need a quarter of it each."""
    found = diagnose(_filtered(False, cpu_budget=4, threadpool_size=4).calls(), steps(10, 20), device=True)
    change = changes(found)["outer_parallelism"]
    assert change.helps
    assert change.prediction.step_ps == pytest.approx(18.3 / 4 * MS, rel=0.15)
    said = pipeline_changes.what(change)
    assert "run 4 copies of the pipeline at once" in said
    assert "tf.data.Dataset.range(4).interleave(lambda i: range(…).shard(4, i).filter(…).batch(…)" in said
    assert "num_parallel_calls=4).prefetch(tf.data.AUTOTUNE), with deterministic=False where order" in said
    assert found.ceiling.step_ps < 6 * MS


def test_python_may_wait_in_more_copies_than_there_are_cores() -> None:
    """Four copies on two cores, because the pool has eight threads; two where it has two."""
    found = diagnose(_filtered(True, cpu_budget=2, threadpool_size=8).calls(), steps(10, 20))
    change = changes(found)["outer_parallelism"]
    assert change.facts["copies"] == 4
    assert change.prediction.step_ps == pytest.approx(18.3 / 4 * MS, rel=0.15)
    assert change.prediction.high_ps == found.step_ps
    few = diagnose(_filtered(True, cpu_budget=2, threadpool_size=2).calls(), steps(10, 20))
    assert changes(few)["outer_parallelism"].facts["copies"] == 2


def test_a_generator_cannot_be_divided() -> None:
    found = diagnose(_filtered(False, "Generator", cpu_budget=4).calls(), steps(10, 20))
    assert "outer_parallelism" not in changes(found)
    assert not copies.possible(found.loads[0].stage, [load.stage for load in found.loads])


def _reading(files: int, epochs: int = 2, **interleave: object) -> Drawn:
    """prefetch(flat_map(TFRecord)) over some files, read again and again; or an interleave of them."""
    drawn = Drawn()
    kind = "ParallelInterleaveV4" if interleave else "FlatMap"
    user = "ParallelInterleaveDatasetV4:1" if interleave else "FlatMapDataset:1"
    pool = {"threadpool_size": 4, "cpu_budget": 4}
    for i in range(epochs):
        for j in range(files):
            at = 10 * (i * files + j)
            drawn.take(at, 8, "Root::Prefetch", "PrefetchDataset:2", root=pool)
            drawn.add(RUNNER, "PrefetchProduce", at, 8.5)
            drawn.call(RUNNER, f"Root::Prefetch::{kind}", at, 8.5, 50 + i, 2, user, **interleave)
            inside = f"{RUNNER}9" if interleave else RUNNER
            drawn.add(inside, "InstantiatedCapturedFunction::Run", at, 0.02, id=7000 + at)
            drawn.add(POOL, "ExecutorState::Process", at, 0.02, id=7000 + at)
            name = f"Root::Prefetch::{kind}[{j}]::TFRecord"
            drawn.call(inside, name, at + 0.1, 8.3, 100 + 10 * i + j, 50 + i, "TFRecordDataset:9")
    return drawn


@pytest.mark.parametrize(("files", "unknown"), [(1, "one_file"), (3, "")])
def test_one_file_cannot_be_read_by_several(files: int, unknown: str) -> None:
    """Each epoch makes iterators anew: that is no second file."""
    found = diagnose(_reading(files).calls(), steps(2 * files, 10))
    change = changes(found)["parallelise_reading"]
    assert change.unknown == unknown
    assert "deterministic=False" in pipeline_changes.what(change)
    if files > 1:
        assert change.prediction.step_ps == pytest.approx(8.3 / 3 * MS, rel=0.3)


def test_under_a_parallel_interleave_the_reader_is_named() -> None:
    """What the step takes longer than its stages is not the time of the one that only hands over."""
    drawn = _reading(2, 3, parallelism=2, cycle_length=2, deterministic="true", autotune="false")
    found = diagnose(drawn.calls(), steps(6, 10))
    assert found.bottleneck.stage.short == "TFRecord"
    assert changes(found)["any_order"].unknown == "order"
    assert changes(found)["raise_parallelism"].facts["width"] == 2


def test_the_function_of_a_transformation_is_named_with_its_lines() -> None:
    args = '{"map_func": "Clips.load_clip (clips.py:26)"}'
    place = UserStage(0, 1, "map", "MapDataset", "clips.py", 39, "d = d.map(self.load_clip)", args)
    drawn, times = sequential()
    found = diagnose(drawn.calls(), times, beside=CaptureEvidence(places=[place]))
    assert any(
        said.startswith("`load_clip` in clips.py:26, called by .map in line 39, does 6.40 ms")
        for said in evidence(found)
    )


def test_numbers_that_are_none_are_left_alone() -> None:
    drawn, times = sequential()
    drawn.call(LOOP, "Root", 0, 1, 2**63 + 1, threadpool_size="9" * 40, cpu_budget="²")
    found = diagnose(drawn.calls(), times)
    assert cores_of([load.stage for load in found.loads]) == 1
