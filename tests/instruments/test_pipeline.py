"""The diagnosis of tf.data pipelines: known truths, drawn pipelines, and trees that cannot be."""

import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.instruments import intervals
from stepscope.instruments.pipeline import diagnoses
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.stage_tree import build
from stepscope.instruments.pipeline.stages import words
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.instruments.pipeline.waits import StepTime
from stepscope.report import bottleneck_answer, pipeline_changes
from stepscope.report.pipeline import evidence
from stepscope.report.stage_names import numbering
from stepscope.session import trace
from tests import corpus
from tests.instruments.pipelines import LOOP, MS, POOL, RUNNER, Drawn, sequential, steps
from tests.tiers import cases

CASES = sorted(path.parent.name for path in corpus.files("tfdata/*/truth.json"))
STAGES_RIGHT = 0.95


def truth_and_diagnosis(case: str) -> tuple[dict[str, object], Diagnosis]:
    truth = json.loads((corpus.path("tfdata") / case / "truth.json").read_text())
    with trace.open(corpus.path("tfdata") / case, cache=False) as recording:
        (found,) = diagnoses.find(recording.query)
    return truth, found.diagnosis


def test_known_truths(capsys: pytest.CaptureFixture[str]) -> None:
    """Every verdict is right, and the stage in at least 95 % of the input-bound cases."""
    assert len(CASES) >= len(corpus.truths()) == 15
    asked = CASES[:: cases(2, 1)]
    wrong_verdicts, wrong_stages, bound = [], [], 0
    for case in asked:
        truth, diagnosis = truth_and_diagnosis(case)
        is_bound = diagnosis.verdict in ("input_bound", "partly_input_bound")
        if is_bound != truth["expected_bound"]:
            wrong_verdicts.append(f"{case}: {diagnosis.verdict}")
        if truth["expected_bound"]:
            bound += 1
            name = "" if diagnosis.bottleneck is None else diagnosis.bottleneck.stage.name
            if not re.search(str(truth["expected_stage_regex"]), name):
                wrong_stages.append(f"{case}: {name}")
    right = bound - len(wrong_stages)
    with capsys.disabled():
        print(
            f"\ntf.data: verdict right in {len(asked) - len(wrong_verdicts)} of {len(asked)}, "
            f"stage in {right} of {bound}; missed: {wrong_stages}"
        )
    assert not wrong_verdicts
    assert right >= STAGES_RIGHT * bound, wrong_stages


def worst(diagnosis: Diagnosis) -> str:
    return diagnosis.bottleneck.stage.name


def test_a_loop_without_prefetch_waits_for_its_map() -> None:
    drawn, times = sequential()
    diagnosis = diagnose(drawn.calls(), times)
    assert (diagnosis.verdict, diagnosis.confidence) == ("input_bound", "high")
    assert diagnosis.waits.ratio == pytest.approx(0.8)
    assert worst(diagnosis) == "Iterator::Root::BatchV2::Map"
    assert diagnosis.bottleneck.stage.spoken == "map (transformation 1)"
    # 8 ms of work of which 7.2 are the map's own and its input's; 2 ms are the program's.
    prefetch = next(change for change in diagnosis.changes if change.name == "prefetch")
    assert prefetch.helps
    assert prefetch.prediction.step_ps == pytest.approx(8 * MS, rel=0.1)
    assert prefetch.prediction.low_ps <= prefetch.prediction.step_ps <= prefetch.prediction.high_ps


def test_a_program_that_hardly_waits_is_not_bound_and_gets_no_advice() -> None:
    drawn, times = sequential(work=0.5, program=20)
    diagnosis = diagnose(drawn.calls(), times)
    assert (diagnosis.verdict, diagnosis.bottleneck, diagnosis.changes) == ("not_input_bound", None, ())
    assert any("keeps up" in sentence for sentence in evidence(diagnosis))


def test_bursts_count_where_medians_hide_them() -> None:
    """One step of ten waits as long as all others together take."""
    drawn = Drawn()
    times = []
    at = 0.0
    for i in range(10):
        wait = 40 if i == 5 else 0.05
        drawn.take(at, wait, "Root::Shuffle", "ShuffleDatasetV3:1")
        times.append(replace(steps(1, wait + 4)[0], ts_ps=round(at * MS), end_ps=round((at + wait + 4) * MS)))
        at += wait + 4
    diagnosis = diagnose(drawn.calls(), times)
    assert diagnosis.verdict == "input_bound"
    assert diagnosis.waits.median < 0.05
    assert diagnosis.waits.long_waits == 1
    assert worst(diagnosis) == "Iterator::Root::Shuffle"


def with_functions() -> Drawn:
    """prefetch(map(slow) over map(cheap)): the cheap map's function waits for a thread of the pool."""
    drawn = Drawn()
    for i in range(10):
        at = 10 * i
        drawn.take(at, 9, "Root::Prefetch")
        drawn.add(RUNNER, "PrefetchProduce", at, 10)
        drawn.call(RUNNER, "Root::Prefetch::Map", at, 10, 3, 2, "MapDataset:2")
        drawn.call(RUNNER, "Root::Prefetch::Map::Map", at, 6, 4, 3, "MapDataset:1")
        drawn.add(RUNNER, "InstantiatedCapturedFunction::Run", at, 6, id=-100 - i)
        drawn.add(POOL, "ExecutorState::Process", at + 5.9, 0.1, id=-100 - i)
        drawn.add(RUNNER, "InstantiatedCapturedFunction::Run", at + 6, 4, id=-200 - i)
        drawn.add(POOL, "ExecutorState::Process", at + 6, 3.9, id=-200 - i)
    return drawn


def test_waiting_for_a_thread_is_not_work() -> None:
    diagnosis = diagnose(with_functions().calls(), steps(10, 10))
    assert worst(diagnosis) == "Iterator::Root::Prefetch::Map"
    cheap = next(load for load in diagnosis.loads if load.stage.name.endswith("Map::Map"))
    assert cheap.queue_ps == pytest.approx(59 * MS, rel=0.01)
    assert cheap.service_ps == pytest.approx(0.1 * MS, rel=0.01)
    assert any(
        "in its calls for a thread of the pool: it looks slower than it is" in s for s in evidence(diagnosis)
    )


def test_pipelines_of_devices_are_told_from_the_hosts() -> None:
    """Both begin with Root::Prefetch; the work is the host's."""
    host = "tf_data_multi_device_iterator_resource/4"
    drawn = Drawn()
    for i in range(6):
        at = 10 * i
        drawn.add(LOOP, "IteratorGetNextAsOptionalOp::DoCompute", at, 8)
        drawn.call(LOOP, "Root", at, 8, 11)
        drawn.call(LOOP, "Root::Prefetch", at, 8, 12, 11, "device_prefetch")
        drawn.add(RUNNER, "PrefetchProduce", at, 8)
        drawn.call(RUNNER, "Root::Prefetch::Generator", at, 8, 13, 12, "GeneratorDataset:9")
        drawn.add(RUNNER, "InstantiatedCapturedFunction::RunWithBorrowedArgs", at, 8, id=i + 1)
        drawn.add(POOL, "ExecutorState::Process", at, 0.1, id=i + 1)
        drawn.call(host, "Root", at, 8, 21)
        drawn.call(host, "Root::Prefetch", at, 8, 22, 21, "PrefetchDataset:2")
        drawn.add(host + "1", "PrefetchProduce", at, 8)
        drawn.call(host + "1", "Root::Prefetch::Map", at, 8, 23, 22, "MapDataset:1")
    diagnosis = diagnose(drawn.calls(), steps(6, 10))
    assert worst(diagnosis) == "Iterator::Root::Prefetch::Map"
    generator = next(load.stage for load in diagnosis.loads if load.stage.short == "Generator")
    assert generator.fed_by.pipeline != generator.pipeline
    assert [load.stage.name for load in diagnosis.loads].count("Iterator::Root::Prefetch") == 2


def test_copy_to_device_only_hands_on() -> None:
    """Its Generator asks another iterator for each batch, which the program does not know of."""
    other = "tf_data_iterator_get_next/9"
    drawn = Drawn()
    for i in range(6):
        at = 10 * i
        drawn.add(LOOP, "IteratorGetNextAsOptionalOp::DoCompute", at, 8)
        drawn.call(LOOP, "Root", at, 8, 11)
        drawn.call(LOOP, "Root::Generator", at, 8, 12, 11, "GeneratorDataset:4")
        drawn.add(LOOP, "InstantiatedCapturedFunction::RunWithBorrowedArgs", at, 8, id=i + 1)
        drawn.add(POOL, "ExecutorState::Process", at, 7.9, id=i + 1)
        drawn.add(other, "IteratorGetNextOp::DoCompute", at + 0.2, 7.4)
        drawn.call(other, "Root", at + 0.3, 7.2, 21)
        drawn.call(other, "Root::Map", at + 0.4, 7, 22, 21, "MapDataset:1")
    diagnosis = diagnose(drawn.calls(), steps(6, 10))
    assert worst(diagnosis) == "Iterator::Root::Map"
    generator = next(load for load in diagnosis.loads if load.stage.short == "Generator")
    assert generator.stage.fed_by is not None
    assert generator.stage.user_stage is None
    assert generator.service_ps < MS
    assert diagnosis.ends.prefetch == "none"


def test_what_the_user_wrote() -> None:
    assert words("fused(MapDataset:2,BatchDatasetV2:3)") == ["map", "batch"]
    assert words("ParallelMapDatasetV2:2") == ["map"]
    assert words("inject/prefetch_RepeatDataset/_8") == []
    drawn = Drawn().chain(
        ("Root", "inject/prefetch_X/_8"),
        ("Root::Prefetch", "inject/prefetch_X/_8"),
        ("Root::Prefetch::MapAndBatch", "fused(MapDataset:2,BatchDatasetV2:3)"),
        ("Root::Prefetch::MapAndBatch::FlatMap[0]", "FlatMapDataset:1"),
        ("Root::Prefetch::MapAndBatch::FlatMap[0]::TFRecord", "TFRecordDataset:19"),
    )
    found, _ = build(drawn.calls())
    assert [stage.position for stage in found] == [None, None, 2, 1, 1]
    assert [stage.spoken for stage in found[3:]] == ["TFRecordDataset (transformation 1)"] * 2
    assert found[4].name == "Iterator::Root::Prefetch::MapAndBatch::FlatMap::TFRecord"


def test_a_reader_in_a_flat_map_of_the_users() -> None:
    """Its own flat_map is another one, which the user's function makes."""
    drawn = Drawn().chain(
        ("Root", "inject/prefetch_X/_8"),
        ("Root::FlatMap[0]", "FlatMapDataset:1"),
        ("Root::FlatMap[0]::FlatMap[0]", "FlatMapDataset:7"),
        ("Root::FlatMap[0]::FlatMap[0]::TextLine", "TextLineDataset:8"),
    )
    spoken = [stage.spoken for stage in build(drawn.calls())[0]]
    assert spoken[1:] == [
        "flat_map (transformation 1)",
        "TextLineDataset inside flat_map (transformation 1)",
        "TextLineDataset inside flat_map (transformation 1)",
    ]


def test_the_names_of_the_files_of_a_reader_count() -> None:
    """A reader of files is two transformations: names are the source. Inside an interleave it is none."""
    drawn = Drawn().chain(
        ("Root", ""),
        ("Root::Map", "MapDataset:2"),
        ("Root::Map::FlatMap[0]", "FlatMapDataset:1"),
        ("Root::Map::FlatMap[0]::TFRecord", "TFRecordDataset:3"),
    )
    inside = Drawn().chain(
        ("Root", ""),
        ("Root::Interleave[0]", "InterleaveDataset:1"),
        ("Root::Interleave[0]::FlatMap[0]", "FlatMapDataset:7"),
        ("Root::Interleave[0]::FlatMap[0]::TFRecord", "TFRecordDataset:8"),
    )
    stages = build(drawn.calls())[0]
    assert stages[2].spoken == "TFRecordDataset (transformation 1)"
    assert "and TFRecordDataset counts as two, with the names of its files." in numbering(stages)
    stages = build(inside.calls())[0]
    assert stages[2].spoken == "TFRecordDataset inside interleave (transformation 1)"
    assert numbering(stages).endswith("the source is 0.")


def test_nothing_recorded_is_said_plainly() -> None:
    """Calls of stages but none that takes a batch: the root never returned."""
    drawn = Drawn()
    drawn.call(RUNNER, "Root::Prefetch::Map", 0, 5, 3, 2, "MapDataset:1")
    diagnosis = diagnose(drawn.calls(), steps(3, 5))
    assert (diagnosis.verdict, diagnosis.bottleneck, diagnosis.waits) == ("unknown", None, None)
    assert "it is unknown whether the program waits" in evidence(diagnosis)[0]
    assert diagnose([], []).verdict == "unknown"


def test_what_is_odd_is_told() -> None:
    """Ids that collide, parents in a circle, an iterator that never returned: each in a sentence."""
    collide, times = sequential()
    collide.call(LOOP, "Root::BatchV2::Shuffle", 1, 1, 3, 2)
    said = diagnose(collide.calls(), times)
    assert said.confidence == "low"
    assert any("1 iterator id belongs to several stages" in one for one in evidence(said))
    circle = Drawn()
    circle.call(RUNNER, "Root::Map", 0, 5, 1, 2)
    circle.call(RUNNER, "Root::Map::Batch", 1, 3, 2, 1)
    said = diagnose(circle.calls(), steps(2, 5))
    assert any("2 iterators consume themselves" in one for one in evidence(said))
    assert said.verdict == "unknown"
    endless = Drawn()
    endless.call(RUNNER, "Root::Prefetch::Map", 0, 5, 3, 2, "MapDataset:1")
    said = diagnose(endless.calls(), steps(3, 5))
    assert any("1 iterator never returned" in one for one in evidence(said))
    assert evidence(said)[-1].startswith("Record while the loop runs")
    part = diagnose(endless.calls(), steps(3, 5), share_seen=0.1)
    assert any("Only the first 10.0 %" in one for one in evidence(part))
    sound, times = sequential()
    assert not any("iterator" in one for one in evidence(diagnose(sound.calls(), times)))


def test_without_steps_shares_are_of_the_time_between_batches() -> None:
    drawn, _ = sequential()
    said = diagnose(drawn.calls(), [])
    assert (said.verdict, said.confidence) == ("input_bound", "low")
    assert any("No steps were found" in one for one in evidence(said))


NAMES = st.lists(
    st.sampled_from(["Root", "Prefetch", "Map", "Zip[0]", "FlatMap[3]", "X"]), min_size=1, max_size=5
)
SLICE = st.tuples(
    st.sampled_from([LOOP, POOL, RUNNER, "python"]),
    st.one_of(
        NAMES.map(lambda parts: "Iterator::" + "::".join(parts)),
        st.sampled_from(
            [
                "PrefetchProduce",
                "InstantiatedCapturedFunction::Run",
                "ExecutorState::Process",
                "IteratorGetNextOp::DoCompute",
                "MakeIterator::MapDataset",
                "EagerPyFunc:EagerPyFunc",
            ]
        ),
    ),
    st.integers(0, 40),
    st.integers(0, 20),
    st.dictionaries(
        st.sampled_from(["id", "parent_id", "parallelism", "name"]),
        st.one_of(st.integers(0, 5), st.just(2**64 - 1), st.just(-1), st.none(), st.text(max_size=4)),
    ),
)


@settings(max_examples=cases(40, 300), deadline=None)
@given(st.lists(SLICE, max_size=40), st.integers(0, 4))
def test_any_tree_ends_in_a_diagnosis(
    slices: list[tuple[str, str, int, int, dict[str, object]]], n: int
) -> None:
    """Ids that collide, parents in circles, parents never seen, ids that are no numbers."""
    drawn = Drawn()
    for track, name, begin, length, args in slices:
        drawn.add(track, name, begin, length, **args)
    diagnosis = diagnose(drawn.calls(), steps(n, 15))
    assert sum(name.startswith("Iterator::") for _, name, *_ in slices) >= sum(
        bool(load.calls) for load in diagnosis.loads
    )
    numbers = [load.stage.number for load in diagnosis.loads]
    assert numbers == list(range(len(numbers)))
    for load in diagnosis.loads:
        assert load.own_ps <= load.total_ps
        assert load.own_ps >= 0
        assert load.stage.above is None or load.stage.above.number < load.stage.number
        assert min(load.work_ps, load.in_waits_ps, load.queue_ps, load.busy_ps) >= 0
    if diagnosis.waits is not None:
        assert 0 <= diagnosis.waits.ratio <= 1
    for change in diagnosis.changes:
        assert 0 <= change.prediction.low_ps <= change.prediction.step_ps <= change.prediction.high_ps


def test_a_deep_chain_takes_no_deep_stack() -> None:
    drawn = Drawn()
    for i in range(3000):
        drawn.call(LOOP, "Root" + f"::Map{i}" * (i > 0), 0, 10, i + 1, i or None, f"MapDataset:{i}")
    assert len(build(drawn.calls())[0]) == 3000


INTERVALS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(sorted).map(tuple), max_size=8)


@given(INTERVALS, INTERVALS)
def test_spans_agree_with_counting_moments(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    within = intervals.union(other)
    moments = {m for begin, end in other for m in range(begin, end)}
    assert intervals.length(within) == len(moments)
    assert intervals.shared(one, within) == sum(m in moments for begin, end in one for m in range(begin, end))


def test_a_filter_behind_a_slow_map_can_be_moved() -> None:
    """Of 10 elements that the map makes the filter keeps 4: in front of it, it saves six of ten."""
    drawn = Drawn()
    for i in range(10):
        at = 10 * i
        drawn.take(at, 8)
        for j in range(4):
            drawn.call(LOOP, "Root::Filter", at + 2 * j, 2, 2, 1, "FilterDataset:2")
        for j in range(10):
            drawn.call(LOOP, "Root::Filter::Map", at + 0.8 * j, 0.79, 3, 2, "MapDataset:1")
    changes = {one.name: one for one in diagnose(drawn.calls(), steps(10, 10)).changes}
    moved = changes["move_filter"]
    assert moved.helps
    assert moved.facts["kept"] == pytest.approx(0.4)
    assert "it keeps 40.0 % of the elements" in pipeline_changes.what(moved)
    assert moved.prediction.step_ps == pytest.approx((10 - 7.9 * 0.6) * MS, rel=0.1)


def test_of_a_huge_recording_the_first_part_is_read_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    sample = corpus.SAMPLES / "tf_data" / "map_py_function.xplane.pb"
    with trace.open(sample, cache=False) as recording:
        (whole,) = diagnoses.find(recording.query)
        most = len(whole.calls) // 2
        monkeypatch.setattr(diagnoses, "MOST_EVENTS", most)
        (half,) = diagnoses.find(recording.query)
    assert 0.8 * most < len(half.calls) <= most
    assert half.diagnosis.share_seen == pytest.approx(0.5, abs=0.02)
    assert any("Only the first" in said for said in evidence(half.diagnosis))
    assert half.diagnosis.verdict == whole.diagnosis.verdict == "input_bound"
    assert worst(half.diagnosis) == worst(whole.diagnosis)


def test_a_stage_may_need_more_than_the_one_that_limits() -> None:
    """Rank goes by what a step would gain without it: little beside others that together need longer."""
    drawn, times = sequential()
    told = diagnose(drawn.calls(), times)
    assert told.waits is not None
    worst, other = told.ranked[:2]
    more = replace(other, work_ps=2 * worst.service_ps * other.width)
    assert more.service_ps > worst.service_ps
    said = evidence(replace(told, ranked=(worst, more), ceiling=None))
    assert [
        one for one in said if one.startswith(f"{other.stage.spoken} needs more") and "in parallel" in one
    ]


def branches(first: float, second: float) -> Drawn:
    """A loop over zip((a.map(f), b.map(g))): both maps work ahead, each on a thread of its own."""
    drawn = Drawn()
    for i in range(10):
        at = 10 * i
        drawn.take(at, 8, "Root::Zip", "ZipDataset:3")
        for j, work in ((0, first), (1, second)):
            name, runner, function = f"Root::Zip[{j}]::ParallelMapV2", f"{RUNNER}{j}", -100 * i - j - 1
            threads = {"parallelism": 1, "threadpool_size": 4}
            drawn.call(LOOP, name, at, work, 3 + j, 2, f"ParallelMapDatasetV2:{j + 1}", **threads)
            drawn.add(runner, "ParallelMapProduce", at, 0.05)
            drawn.call(runner, f"{name}::Range", at, 0.01, 10 + j, 3 + j, "RangeDataset:0")
            drawn.add(runner, "InstantiatedCapturedFunction::Run", at + 0.02, 0.01, id=function)
            drawn.add(f"{POOL}{j}", "ExecutorState::Process", at + 0.05, work - 0.05, id=function)
    return drawn


def test_the_stage_is_told_with_its_branch() -> None:
    found = diagnose(branches(3, 8).calls(), steps(10, 10))
    assert found.bottleneck.stage.branch == "Zip[1]::ParallelMapV2"
    assert found.bottleneck.stage.branch_name == "Iterator::Root::Zip[1]::ParallelMapV2"
    assert found.beside is None
    assert {change.stage for change in found.changes} == {found.bottleneck.stage.branch_name}
    assert any(said.startswith("map (transformation 2) in Zip[1] does") for said in evidence(found))


def test_two_branches_that_need_as_long_limit_together() -> None:
    found = diagnose(branches(8, 8).calls(), steps(10, 10))
    pair = {found.bottleneck.stage.branch, found.beside.stage.branch}
    assert pair == {"Zip[0]::ParallelMapV2", "Zip[1]::ParallelMapV2"}
    assert any("much shorter only if both become faster" in said for said in evidence(found))
    assert found.confidence == "medium"


def test_where_no_stage_needs_long_none_is_named() -> None:
    """The program waits for a third of each step although the pipeline could deliver three times as fast."""
    drawn = Drawn()
    for i in range(10):
        drawn.take(9 * i, 3, "Root::Prefetch", "PrefetchDataset:2")
        drawn.add(RUNNER, "PrefetchProduce", 9 * i, 1)
        drawn.call(RUNNER, "Root::Prefetch::Map", 9 * i, 1, 3, 2, "MapDataset:1")
    found = diagnose(drawn.calls(), steps(10, 9))
    assert (found.verdict, found.bottleneck, found.changes) == ("input_bound", None, ())
    said = " ".join(evidence(found))
    assert "No stage explains the wait by itself: map (transformation 1) needs most, 1.00 ms" in said
    assert found.confidence == "low"


def test_a_repeat_that_makes_its_input_anew_has_no_work_to_halve() -> None:
    """Of ten calls one takes 60 ms more than its input: it ended, and was made anew."""
    drawn, begins, lasting = Drawn(), 0.0, []
    for i in range(10):
        anew = 60.0 if i == 6 else 0.0
        drawn.take(begins, 4 + anew, "Root::ForeverRepeat", "RepeatDataset:2")
        drawn.call(LOOP, "Root::ForeverRepeat::Map", begins + anew, 4, 3, 2, "MapDataset:1")
        drawn.call(LOOP, "Root::ForeverRepeat::Map::Range", begins + anew, 1, 4, 3, "RangeDataset:0")
        lasting.append(StepTime(round(begins * MS), round((begins + anew + 6) * MS), True, "marker"))
        begins += anew + 6
    diagnosis = diagnose(drawn.calls(), lasting)
    assert diagnosis.bottleneck.stage.short == "ForeverRepeat"
    assert diagnosis.waits is not None
    (said, *_) = bottleneck_answer.sentences(diagnosis, diagnosis.waits)
    assert "60.0 ms of its 60.0 ms lie in one of 10 calls" in said
    assert "halve_work" not in {change.name for change in diagnosis.changes}
