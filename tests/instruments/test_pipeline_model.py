"""The rate model: accounts of tf.data's own model, the ceiling, lines of code, the machine."""

from dataclasses import replace
from pathlib import Path

import pytest

from stepscope.formats import _model
from stepscope.instruments.pipeline import accounting, captures
from stepscope.instruments.pipeline.accounting import ModelRow
from stepscope.instruments.pipeline.calls import read
from stepscope.instruments.pipeline.diagnosis import CaptureEvidence
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.places import UserStage, code, locate
from stepscope.instruments.pipeline.stage_tree import build
from stepscope.instruments.pipeline.stages import PipelineStage
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.instruments.pipeline.waits import StepTime
from stepscope.report.pipeline import evidence
from stepscope.report.stage_names import named
from tests.asked import ask
from tests.each import each
from tests.formats.capture_folder import SMALL, model, node, write
from tests.instruments.pipelines import LOOP, MS, POOL, RUNNER, Drawn, sequential, steps


def nodes(proto: bytes, sample: int = 0) -> list[ModelRow]:
    """Rows of iterator_model as the instruments take them."""
    rows = _model.rows(_model.read(proto), 0, sample, 0, None)
    return [
        ModelRow(
            row["iterator"], row["sample"], row["node"], row["consumer_node"],
            tuple(captures._numbers(row["inputs_json"])), row["name"], row["node_class"], row["ratio"],
            row["num_elements"], row["bytes_produced"], row["buffered_elements"], row["processing_ps"],
            row["parallelism"], row["parallelism_max"], row["autotuned"], row["buffer_size"],
            row["gap_ps"], row["cpu_budget"], row["ram_budget_bytes"],
        )
        for row in rows
    ]  # fmt: skip


def stages_of(*names: str) -> list[accounting.PipelineStage]:
    """Stages of one thread, each consuming the next unless its name says where it stands."""
    drawn = Drawn()
    ids = {name: i + 1 for i, name in enumerate(names)}
    for name, i in ids.items():
        above = ids.get(name.rpartition("::")[0])
        drawn.call(LOOP, name, 0, 100 - i, i, above)
    drawn.add(LOOP, "IteratorGetNextOp::DoCompute", 0, 100)
    return [load.stage for load in diagnose(drawn.calls(), steps(1, 120)).loads]


def test_a_batch_costs_its_elements() -> None:
    """320 ms in 80 elements of which a batch takes 8: 32 ms."""
    found = stages_of(
        "Root", "Root::Prefetch", "Root::Prefetch::BatchV2", "Root::Prefetch::BatchV2::Map",
        "Root::Prefetch::BatchV2::Map::Range",
    )  # fmt: skip
    accounts = accounting.account(found, nodes(SMALL))
    told = {stage.short: one for stage, one in accounts.stages.items()}
    assert told["Map"].visits == 8
    assert told["Map"].work_ps == 32 * MS
    assert told["BatchV2"].work_ps == pytest.approx(0.1 * MS)
    assert (accounts.gap_ps, accounts.cores, accounts.batches) == (5 * MS, 2, 10)


def test_branches_that_come_and_go_are_counted_by_their_elements() -> None:
    """An interleave of two live branches of 16 elements each, after 232 elements in all."""
    proto = model(
        node(1, "Root", (2,), elements=29), node(2, "BatchV2", (3,), elements=29, ratio=8),
        node(3, "Interleave", (4, 5, 6), elements=232, kind=1, ratio=0),
        node(4, "Range", elements=6, ms=0.6),
        node(5, "Map", elements=16, ms=28), node(6, "Map", elements=16, ms=36),
    )  # fmt: skip
    found = stages_of(
        "Root", "Root::BatchV2", "Root::BatchV2::Interleave", "Root::BatchV2::Interleave::Range",
        "Root::BatchV2::Interleave::Map",
    )  # fmt: skip
    accounts = accounting.account(found, nodes(proto))
    assert accounts is not None
    told = {stage.short: one for stage, one in accounts.stages.items()}
    assert told["Map"].visits == pytest.approx(8)
    assert told["Map"].work_ps == pytest.approx(16 * MS)
    assert told["Range"].visits == pytest.approx(8 * 6 / 232)


def test_what_was_before_the_first_sample_does_not_count() -> None:
    """A first element that took a second, then ten of 2 ms each."""
    found = stages_of("Root", "Root::Map")
    first = model(node(1, "Root", (2,), elements=1), node(2, "Map", elements=1, ms=1000))
    last = model(node(1, "Root", (2,), elements=11), node(2, "Map", elements=11, ms=1020))
    accounts = accounting.account(found, [*nodes(first), *nodes(last, sample=1)])
    assert accounts is not None
    assert [one.work_ps for stage, one in accounts.stages.items() if stage.short == "Map"] == [2 * MS]


def test_more_work_than_fits_into_a_step_is_not_believed() -> None:
    drawn, times = sequential()
    proto = model(node(1, "Root", (2,)), node(2, "BatchV2", (3,)), node(3, "Map", ms=500))
    diagnosis = diagnose(drawn.calls(), times, beside=CaptureEvidence(models=nodes(proto)))
    load = next(one for one in diagnosis.loads if one.stage.short == "Map")
    assert (load.model_work_ps, load.work_ps, load.work_from) == (50 * MS, 10 * MS, "model")


def test_branches_of_a_zip_keep_apart() -> None:
    proto = model(
        node(1, "Root", (2,)), node(2, "Zip", (3, 4)), node(3, "Map", ms=10), node(4, "Map", ms=40),
    )  # fmt: skip
    drawn = Drawn()
    drawn.take(0, 10, "Root::Zip")
    drawn.call(LOOP, "Root::Zip[0]::Map", 0, 2, 3, 2)
    drawn.call(LOOP, "Root::Zip[1]::Map", 2, 7, 4, 2)
    loads = diagnose(drawn.calls(), steps(1, 12), beside=CaptureEvidence(models=nodes(proto))).loads
    told = {load.stage.branch_name: load.model_work_ps for load in loads}
    assert told["Iterator::Root::Zip[0]::Map"] == 1 * MS
    assert told["Iterator::Root::Zip[1]::Map"] == 4 * MS


def test_the_model_counts_what_a_trace_shows_in_pieces() -> None:
    """A parallel map whose function is seen for 1 ms of the 30 ms that it takes."""
    drawn = Drawn()
    for i in range(10):
        at = 20 * i
        drawn.take(at, 15, "Root::ParallelMapV2", "MapDataset:1", parallelism=2, cpu_budget=2)
        drawn.add(RUNNER, "InstantiatedCapturedFunction::RunAsync", at, 0.1, id=i + 5)
        drawn.call(RUNNER, "Root::ParallelMapV2::Range", at, 0.1, 3, 2, "RangeDataset:0")
        drawn.add(POOL, "ExecutorState::Process", at, 1, id=i + 5)
    proto = model(
        node(1, "Root", (2,)), node(2, "ParallelMapV2", (3,), kind=4, ms=300, parallelism=2),
        node(3, "Range", elements=10, ms=1),
    )  # fmt: skip
    diagnosis = diagnose(drawn.calls(), steps(10, 20), beside=CaptureEvidence(models=nodes(proto)))
    load = next(one for one in diagnosis.loads if one.stage.short == "ParallelMapV2")
    assert (load.work_from, load.work_ps, load.width) == ("model", 30 * MS, 2)
    assert load.trace_work_ps < 2 * MS
    assert diagnosis.accounts is not None


def test_models_of_other_pipelines_and_empty_ones_say_nothing() -> None:
    found = stages_of("Root", "Root::Map")
    assert accounting.account(found, []) is None
    assert accounting.account(found, nodes(model(node(1, "Root", elements=0)))) is None
    assert accounting.account(found, nodes(model(node(1, "Other", (2,)), node(2, "X")))) is None


def test_the_ceiling_is_the_optimum_of_the_linear_programme() -> None:
    """8 ms of map and batch on one thread, 2 ms of program, four cores: (8 + 2) / 4."""
    drawn, times = sequential()
    machine = Machine(cores=4, busy=0.3, busiest=0.9, process_cores=1.0)
    diagnosis = diagnose(drawn.calls(), times, beside=CaptureEvidence(machine=machine))
    best = diagnosis.ceiling
    # By hand: the largest share is 10 ms over 4 cores; the program's 2 ms and the range's 0.8 ms are less.
    assert best.step_ps == pytest.approx(2.5 * MS, rel=0.02)
    assert best.limits == "cpu"
    assert any("from the record of the machine" in said for said in evidence(diagnosis))
    crowded = diagnose(drawn.calls(), times, beside=CaptureEvidence(machine=Machine(2, 0.97, 1.0, 1.9)))
    assert any("The CPU is full" in said for said in evidence(crowded))


def test_other_programs_make_a_prediction_less_sure() -> None:
    drawn, times = sequential()
    alone = diagnose(drawn.calls(), times, beside=CaptureEvidence(machine=Machine(2, 0.95, 1.0, 1.9)))
    among = diagnose(drawn.calls(), times, beside=CaptureEvidence(machine=Machine(2, 0.95, 1.0, 0.5)))
    assert (alone.confidence, among.confidence) == ("high", "medium")
    assert any("Other programs keep 1.4 of them busy" in said for said in evidence(among))
    for one in among.changes:
        if one.name == "parallelise_map":
            assert one.prediction.high_ps >= 10 * MS


def test_waiting_between_the_marks_is_seen() -> None:
    """`for batch in data: with Trace(…)`: the mark leaves the wait out."""
    drawn, times = sequential()
    marked = [StepTime(step.ts_ps + 8 * MS, step.end_ps, True, "marker") for step in times]
    diagnosis = diagnose(drawn.calls(), marked)
    assert diagnosis.verdict == "input_bound"
    assert diagnosis.waits.between
    assert diagnosis.waits.ratio == pytest.approx(0.8, abs=0.02)
    assert diagnosis.waits.step_ps == pytest.approx(10 * MS)


def test_a_break_between_steps_is_no_part_of_them() -> None:
    drawn, times = sequential()
    late = [
        StepTime(s.ts_ps + 500 * MS * (i > 4), s.end_ps + 500 * MS * (i > 4), True, "marker")
        for i, s in enumerate(times)
    ]
    diagnosis = diagnose(drawn.calls(), late)
    assert diagnosis.waits.step_ps == 10 * MS


TWO_MAPS = 'd = d.map(lambda x: f(x, ")")).map(g, num_parallel_calls=2)'
AUTO = "num_parallel_calls=tf.data.AUTOTUNE"
PLACES = [
    UserStage(0, 0, "list_files", "ListFilesDataset", "t.py", 3, 'd = tf.data.Dataset.list_files("a/*.txt")'),
    UserStage(0, 1, "flat_map", "FlatMapDataset", "t.py", 4, "d = d.flat_map(tf.data.TextLineDataset)"),
    UserStage(0, 2, "map", "MapDataset", "t.py", 5, TWO_MAPS),
    UserStage(0, 3, "map", "ParallelMapDataset", "t.py", 5, TWO_MAPS),
    UserStage(0, 4, "batch", "BatchDataset", "t.py", 6, "d = d.batch("),
]  # fmt: skip


@each(
    ("change", "position", "after"),
    [
        ("parallelise_map", 2, f'd = d.map(lambda x: f(x, ")"), {AUTO}).map(g, num_parallel_calls=2)'),
        ("raise_parallelism", 3, f'd = d.map(lambda x: f(x, ")")).map(g, {AUTO})'),
        ("cache_here", 3, TWO_MAPS + ".cache()"),
        ("parallelise_reading", 1, f"d = d.interleave(tf.data.TextLineDataset, {AUTO})"),
        ("list_files_once", 0, 'd = tf.data.Dataset.from_tensor_slices(tf.io.gfile.glob("a/*.txt"))'),
        ("parallelise_batch", 4, None),
        ("halve_work", 2, None),
    ],
)  # fmt: skip
def test_the_line_to_change(change: str, position: int, after: str | None) -> None:
    found = code(change, PLACES[position], PLACES)
    assert (found.file, found.line) == ("t.py", PLACES[position].line)
    assert found.after == after


def test_prefetch_goes_to_the_end_of_the_chain() -> None:
    found = code("prefetch", PLACES[2], PLACES[:4])
    assert found.after == TWO_MAPS + ".prefetch(tf.data.AUTOTUNE)"
    assert code("prefetch", None, PLACES) is None


LISTED = 'ds=tf.data.Dataset.list_files("a").prefetch(1)'
TAKEN = "x,y=v1.data.make_one_shot_iterator(ds).get_next()"
SESSION = [
    UserStage(0, 0, "list_files", "TensorSliceDataset", "mon.py", 6, LISTED),
    UserStage(0, 1, "prefetch", "PrefetchDataset", "mon.py", 6, LISTED),
    UserStage(0, 2, "make_one_shot_iterator", "PrefetchDataset", "mon.py", 7, TAKEN),
]


def test_an_edit_is_valid_code() -> None:
    """Never of the line that makes the iterator; a prefetch that is there gets another size, and none is
    added."""
    found = code("prefetch", SESSION[0], SESSION)
    assert found.line == 6
    assert found.after == 'ds=tf.data.Dataset.list_files("a").prefetch(tf.data.AUTOTUNE)'
    assert code("prefetch", SESSION[2], SESSION[2:]) is None


def test_a_line_that_was_cut_is_not_edited() -> None:
    text = "d = d.map(f).batch(" + "x" * 300
    found = code("cache_here", UserStage(0, 0, "map", "MapDataset", "t.py", 1, text[:200]), [])
    assert (found.line, found.after) == (1, None)


def test_a_prefetch_is_where_it_was_written() -> None:
    stage = PipelineStage(0, 0, "Iterator::Root::Prefetch", "PrefetchDataset:1")
    assert [one.line for one in locate([stage], SESSION)[stage]] == [6]


def test_a_reader_is_where_its_class_was_called() -> None:
    """TensorFlow runs it as a flat_map over names of files, which the program did not write."""
    text = 'rows = tf.data.TFRecordDataset(path, compression_type="GZIP")'
    written = [
        UserStage(0, 0, "TFRecordDataset", "TensorSliceDataset", "rows.py", 25, text),
        UserStage(0, 1, "TFRecordDataset", "TFRecordDataset", "rows.py", 25, text),
        UserStage(0, 2, "map", "MapDataset", "rows.py", 26, "rows = rows.map(parsed)"),
    ]
    drawn = Drawn().chain(
        ("Root", "inject/prefetch_X/_8"),
        ("Root::Map", "MapDataset:2"),
        ("Root::Map::FlatMap[0]", "FlatMapDataset:1"),
        ("Root::Map::FlatMap[0]::TFRecord", "TFRecordDataset:7"),
    )
    stages, _ = build(drawn.calls())
    found = locate(stages, written)
    assert [[place.line for place in found.get(stage, ())] for stage in stages] == [[], [26], [25], [25]]
    assert named(stages[3], found) == "TFRecordDataset in rows.py:25"


CHAIN = [
    UserStage(0, 0, "range", "RangeDataset", "t.py", 1, "d = tf.data.Dataset.range(9)"),
    UserStage(0, 1, "batch", "BatchDataset", "t.py", 2, "d = d.batch(2)"),
    UserStage(0, 2, "unbatch", "MapDataset", "t.py", 3, "d = d.unbatch()"),
    UserStage(0, 3, "unbatch", "UnbatchDataset", "t.py", 3, "d = d.unbatch()"),
    UserStage(0, 4, "batch", "BatchDataset", "t.py", 4, "d = d.batch(4)"),
]
"""The recorder counts one dataset more than TensorFlow runs."""
RAN = [
    PipelineStage(0, 0, "Iterator::Root::Batch", "BatchDatasetV2:3"),
    PipelineStage(1, 0, "Iterator::Root::Batch::Unbatch", "UnbatchDataset:2"),
    PipelineStage(2, 0, "Iterator::Root::Batch::Unbatch::Batch", "BatchDatasetV2:1"),
]


def test_stages_of_a_kind_follow_one_another_as_they_were_written() -> None:
    found = locate(RAN, CHAIN)
    assert [[place.line for place in found[stage]] for stage in RAN] == [[4], [3], [2]]


def test_of_more_transformations_than_stages_only_the_number_tells() -> None:
    """Or of several chains: the last stage has the number of one, the first of none."""
    for written in (
        [*CHAIN, UserStage(0, 5, "batch", "BatchDataset", "t.py", 5, "d = d.batch(8)")],
        [*CHAIN, UserStage(1, 4, "batch", "BatchDataset", "u.py", 5, "d = d.batch(8)")],
    ):
        found = locate(RAN, written)
        assert [[place.line for place in found.get(stage, ())] for stage in RAN] == [[], [3], [2]]


def test_numbers_count_from_the_chains_own_source() -> None:
    """TensorFlow counts all datasets of a process: a third chain of three begins at 9."""
    drawn = Drawn()
    for number, user in enumerate(("BatchDatasetV2:11", "MapDataset:10")):
        name = "Root::" + "::".join(("Batch", "Map")[: number + 1])
        drawn.call(LOOP, name, number, 10 - 2 * number, id=number + 2, parent=number + 1, user=user)
    drawn.call(LOOP, "Root::Batch::Map::Range", 2, 5, id=4, parent=3, user="RangeDataset:9")
    stages, _ = build(read(drawn.rows))
    assert sorted(one.spoken for one in stages if one.user_stage) == [
        "batch (transformation 2)", "map (transformation 1)", "range (transformation 0)",
    ]  # fmt: skip


def test_a_capture_names_the_line_and_the_machine(tmp_path: Path) -> None:
    folder = write(tmp_path / "c")
    rows = [tuple(row) for row in ask(folder, "SELECT user_stage, file, line FROM iterator")]
    assert any(file == "train.py" and line == 11 for name, file, line in rows if "Map" in str(name)), rows


WRITTEN_AS_TWO = [
    UserStage(0, 0, "range", "RangeDataset", "t.py", 1, "d = tf.data.Dataset.range(9)"),
    UserStage(0, 1, "map", "MapDataset", "t.py", 2, "d = d.map(load)", '{"map_func": "load (t.py:7)"}'),
    UserStage(0, 2, "batch", "BatchDataset", "t.py", 3, "d = d.batch(2)"),
    UserStage(0, 3, "prefetch", "PrefetchDataset", "t.py", 4, "d = d.prefetch(2)"),
]
FUSED_STAGE = PipelineStage(0, 0, "Iterator::Model::Prefetch::MapAndBatch", "MapAndBatchDataset:1")


def test_what_became_one_stage_is_where_both_were_written() -> None:
    """TensorFlow 1 makes one data set of a map and a batch, and its names do not tell."""
    found = locate([FUSED_STAGE], WRITTEN_AS_TWO)
    assert [place.line for place in found[FUSED_STAGE]] == [2, 3]
    assert named(FUSED_STAGE, found) == "`load` in t.py:7, called by .map in line 2 with .batch in line 3"


def test_two_pairs_that_may_have_become_one_stage_tell_nothing() -> None:
    again = [replace(place, position=place.position + 3, line=9) for place in WRITTEN_AS_TWO[1:3]]
    assert locate([FUSED_STAGE], [*WRITTEN_AS_TWO, *again]) == {}
    as_one = UserStage(
        0, 1, "map_and_batch", "MapAndBatchDataset", "t.py", 5, "d = d.apply(map_and_batch(f, 2))"
    )
    assert [place.line for place in locate([FUSED_STAGE], [*WRITTEN_AS_TWO, as_one])[FUSED_STAGE]] == [5]
