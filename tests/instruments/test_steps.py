"""Steps are found from the best evidence there is, and never overlap."""

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.recorder_steps import RecordedSpan, counted, recorder_steps
from stepscope.instruments.step_evidence import Mark, Step
from stepscope.instruments.step_kinds import LOOK_UP_PS, classify
from stepscope.instruments.steps import SourceFacts, find, recover
from stepscope.library import macros

MS = 10**9
PYTHON, POOL = 0, 1
TRACKS = {PYTHON: "python", POOL: "tf_data_iterator_resource/7"}


def mark(name: str, begin: float, length: float, track: int = PYTHON, **facts: object) -> Mark:
    """A mark in milliseconds."""
    return Mark(track, name, round(begin * MS), round(length * MS), **facts)


def spans(steps: list[Step]) -> list[tuple[float, float]]:
    """Begin and end in milliseconds."""
    return [(step.ts_ps / MS, step.end_ps / MS) for step in steps]


def test_numbered_marks_win_over_what_lies_inside():
    """A tf.function of the same name is a second mark inside the first."""
    marks = []
    for i in range(4):
        marks += [
            mark("train", 10 * i, 9, step=100 + i),
            mark("train", 10 * i + 1, 7, is_call=True),
            mark("FunctionRun", 10 * i + 2, 3),
            mark("FunctionRun", 10 * i + 1, 1, POOL),
        ]
    steps = find(marks, TRACKS)
    assert spans(steps) == [(0, 9), (10, 19), (20, 29), (30, 39)]
    assert [step.number for step in steps] == [100, 101, 102, 103]
    assert {(step.kind, step.recovered_from, step.averaged) for step in steps} == {("train", "marker", True)}


def test_updates_of_the_weights_delimit_steps():
    """A loop of PyTorch without marks of its own: from the first batch, and then from update to update."""
    marks = []
    for i in range(4):
        marks += [
            mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 10 * i, 2),
            mark("Optimizer.step#Adam.step", 10 * i + 7, 2),
        ]
    steps = find(marks, TRACKS)
    assert spans(steps) == [(0, 9), (9, 19), (19, 29), (29, 39)]
    assert {(step.recovered_from, step.averaged) for step in steps} == {("optimizer_step", True)}
    updates = [each for each in marks if each.name.startswith("Optimizer")]
    assert spans(find(updates, TRACKS)) == [(9, 19), (19, 29), (29, 39)]
    second = [each._replace(name="Optimizer.step#SGD.step", ts_ps=each.ts_ps - MS) for each in updates[1:]]
    assert spans(find([*updates, *second], TRACKS)) == [(9, 19), (19, 29), (29, 39)]
    assert find(updates[:1], TRACKS) == []
    numbered = [mark(f"ProfilerStep#{i}", 10 * i, 10) for i in range(4)]
    assert {step.recovered_from for step in find([*marks, *numbered], TRACKS)} == {"profiler_step"}


def test_batches_of_a_loader_delimit_steps():
    """An evaluation has no updates. When the program is done with the last batch, nothing tells."""
    marks = [
        mark("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 5 * i, 1) for i in range(4)
    ]
    assert spans(find(marks, TRACKS)) == [(0, 5), (5, 10), (10, 15)]
    assert find(marks[:1], TRACKS) == []


def test_marks_that_leave_out_the_batch_reach_to_the_next():
    """`for batch in data: with Trace(…)`: the loop waits between its marks, and that is part of its step."""
    marks = []
    for i in range(6):
        at = 10 * i + (100 if i > 3 else 0)
        marks += [mark("IteratorGetNextOp::DoCompute", at, 6, POOL), mark("train", at + 6, 3, step=i)]
    steps = find(marks, TRACKS)
    assert spans(steps) == [(6, 16), (16, 26), (26, 36), (36, 39), (146, 156), (156, 159)]
    assert [step.averaged for step in steps] == [True] * 5 + [False]
    within = [
        one._replace(ts_ps=one.ts_ps + 6 * MS, dur_ps=2 * MS) if "Get" in one.name else one for one in marks
    ]
    assert spans(find(within, TRACKS))[0] == (6, 9)


def test_profiler_steps_are_numbered_by_name():
    steps = find([mark("ProfilerStep#7", 0, 5), mark("ProfilerStep#8", 5, 6)], TRACKS)
    assert [(step.number, step.recovered_from) for step in steps] == [
        (7, "profiler_step"),
        (8, "profiler_step"),
    ]


def test_neighbours_that_overlap_a_little_are_cut():
    steps = find([mark("ProfilerStep#1", 0, 5.001), mark("ProfilerStep#2", 5, 5)], TRACKS)
    assert spans(steps) == [(0, 5), (5, 10)]


def test_an_outer_mark_that_groups_steps_is_no_step():
    marks = [mark("epoch", 0, 100, step=0), *(mark("train", 10 * i, 9, step=i) for i in range(5))]
    steps = find(marks, TRACKS)
    assert [step.name for step in steps] == ["train"] * 5


def test_calls_last_until_the_next_call():
    """Keras leaves no marks: its function's calls tell when an iteration begins."""
    calls = [mark("multi_step_on_iterator", 10 * i, 6, is_call=True) for i in range(3)]
    runs = [mark("FunctionRun", 10 * i + 1, 2) for i in range(3)]
    steps = find([*calls, *runs, mark("FunctionRun", 3, 1, POOL)], TRACKS)
    assert spans(steps) == [(0, 10), (10, 20), (20, 26)]
    assert {(step.kind, step.recovered_from) for step in steps} == {("unknown", "function_call")}


def test_the_function_with_most_time_makes_the_loop():
    marks = []
    for i in range(3):
        marks += [mark("small", 10 * i, 1, is_call=True), mark("big", 10 * i + 2, 6, is_call=True)]
    assert spans(find(marks, TRACKS)) == [(2, 12), (12, 22), (22, 28)]


def test_evaluation_has_its_own_kind():
    marks = [mark("train_function", 10 * i, 9, is_call=True) for i in range(4)]
    marks += [mark("test_function", 40 + 5 * i, 4, is_call=True) for i in range(3)]
    assert [step.kind for step in find(marks, TRACKS)] == ["train"] * 4 + ["eval"] * 3


def test_session_runs_and_fetches():
    runs = [mark("SessionRun", 10 * i, 8) for i in range(3)]
    fetches = [mark("IteratorGetNextOp::DoCompute", 10 * i + 1, 2, POOL) for i in range(3)]
    assert find([*runs, *fetches], TRACKS)[0].recovered_from == "session_run"
    steps = find(fetches, TRACKS)
    assert steps[0].recovered_from == "get_next"
    assert spans(steps) == [(1, 11), (11, 21), (21, 23)]


def test_functions_of_the_pipeline_are_no_steps():
    assert find([mark("FunctionRun", i, 1, POOL) for i in range(9)], TRACKS) == []


def test_compiling_steps_are_left_out():
    marks = [mark("train", 0, 300, step=0), *(mark("train", 300 + 10 * i, 9, step=1 + i) for i in range(4))]
    first = find([*marks, mark("XlaCompile:#module=m#", 10, 150)], TRACKS)[0]
    assert (first.kind, first.averaged, first.reason) == ("compile", False, "the compiler takes 50 % of it")
    twice = [mark("XlaCompile", begin, length) for begin, length in ((1, 9), (100, 90), (150, 90))]
    assert find([*marks, *twice], TRACKS)[0].reason == "the compiler takes 50 % of it"  # together 9 + 140 ms
    traced = find([*marks, mark("f", 0, 290, is_call=True, traced=True)], TRACKS)[0]
    # The call also ran what it had traced, so the compiler does not have all of it.
    assert (traced.kind, traced.reason) == ("compile", "calls that trace take 97 % of it")
    # Compiling that takes a twentieth of a step does not make it another kind of step.
    cheap = find([*marks[1:], mark("XlaCompile", 301, 0.4)], TRACKS)[0]
    assert (cheap.kind, cheap.averaged) == ("train", True)


def test_a_first_step_far_above_the_others_is_warm_up():
    marks = [mark("train", 0, 31, step=0), *(mark("train", 40 + 10 * i, 10, step=1 + i) for i in range(3))]
    steps = find(marks, TRACKS)
    assert [step.kind for step in steps] == ["warm_up", "train", "train", "train"]
    assert steps[0].reason == "the first step, 3.1 times as long as the median of the others"
    assert find(marks[:3], TRACKS)[0].kind == "train"  # two others are too few to tell


def test_numbers_that_repeat_are_counted_anew():
    marks = [mark("train", 10 * i, 9, step=i % 2) for i in range(4)]
    assert [step.number for step in find(marks, TRACKS)] == [0, 1, 2, 3]


@pytest.mark.parametrize(("name", "found"), [("Iteration 7", [7]), ("train", [])])
def test_a_mark_alone_is_a_step_where_it_has_a_number(name, found):
    assert [step.number for step in find([mark(name, 0, 9)], TRACKS)] == found


names = st.sampled_from(["train", "eval", "SessionRun", "FunctionRun", "f", "ProfilerStep#3", "XlaCompile"])
marks = st.builds(
    Mark,
    st.integers(0, 2),
    names,
    st.integers(0, 50),
    st.integers(0, 20),
    st.none() | st.integers(0, 5),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(marks, max_size=20))
def test_steps_are_disjoint_whatever_the_marks(found):
    """Sorted, half-open and disjoint, each of some length, numbers unique; the order of marks is nothing."""
    steps = find(found, TRACKS)
    ends = [step.end_ps for step in steps]
    starts = [step.ts_ps for step in steps]
    assert all(begin < end for begin, end in zip(starts, ends, strict=True))
    assert all(end <= begin for end, begin in zip(ends, starts[1:], strict=False))
    numbers = [step.number for step in steps]
    assert len(set(numbers)) == len(numbers)
    assert None not in numbers
    assert all(step.reason for step in steps)
    for step in steps:
        cut = step.reason.startswith("the recording ends")
        assert step.averaged == (not cut and step.kind not in ("compile", "warm_up"))
        assert not cut or step is steps[-1]
    again = find(sorted(found, key=repr), TRACKS)
    assert spans(again) == spans(steps)


def store(producer: str = "tf_profiler", **marker: list):
    """A store that holds a capture of 100 ps, and marks."""
    from stepscope import _core

    made = _core.build()
    if marker:
        made.replace("marker", marker)
    made.update_facts({"producer": producer, "start_ps": 0, "end_ps": 100})
    return made


def test_without_evidence_the_capture_stands_in():
    made = store()
    recover(made, SourceFacts())
    (row,) = made.rows("step_stored")
    assert (row["recovered_from"], row["averaged"], row["dur_ps"]) == ("whole_capture", False, 100)
    assert [note["slug"] for note in made.facts["notes"]] == ["no-steps"]


def test_a_file_of_one_step():
    made = store("step_stats")
    recover(made, SourceFacts(5, sessions=True))
    (row,) = made.rows("step_stored")
    assert (row["step"], row["recovered_from"], row["averaged"]) == (5, "file", True)
    assert made.facts["notes"] == []


@pytest.mark.parametrize(
    "name", ["_XlaCompile", "cluster_1/xla_compile", "cluster_1/xla_compile:_XlaCompile"]
)
def test_a_file_that_compiles(name):
    """As a tf Timeline, an op by its node and a StepStats tell it."""
    marker = {"track_id": [0], "name": [name], "ts_ps": [10], "dur_ps": [50 * MS]}
    made = store("step_stats", **marker, step=[None], args_json=[None])
    recover(made, SourceFacts(0, sessions=True))
    (row,) = made.rows("step_stored")
    assert (row["kind"], row["averaged"], row["recovered_from"]) == ("compile", False, "file")
    # The op runs in each step, and takes moments where it finds the program.
    found_it = store("step_stats", **marker | {"dur_ps": [2 * MS]}, step=[None], args_json=[None])
    recover(found_it, SourceFacts(0, sessions=True))
    (row,) = found_it.rows("step_stored")
    assert (row["kind"], row["averaged"]) == ("unknown", True)
    assert macros.expanded("look_up_ps!(a, b)").endswith(f"THEN {LOOK_UP_PS} END")


def test_nothing_recorded():
    from stepscope import _core

    made = _core.build()
    recover(made, SourceFacts())
    assert made.tables().get("step", 0) == 0


@pytest.mark.parametrize(
    ("step_ns", "evidence"), [(5, "whole_capture"), (None, "function_call")], ids=["longer", "unknown"]
)
def test_calls_in_a_part_of_a_step_are_no_steps(step_ns, evidence):
    """The program ended in the first step that was recorded, of which there are four calls."""
    marker = {"track_id": [0] * 4, "name": ["PjitFunction(multiply)"] * 4, "dur_ps": [20] * 4}
    made = store(**marker, ts_ps=[0, 25, 50, 75], step=[None] * 4, args_json=[None] * 4)
    seen = [] if step_ns is None else [(n, -(n + 2) * step_ns, -(n + 1) * step_ns, n > 1) for n in range(3)]
    recover(made, SourceFacts(), seen)
    rows = made.rows("step_stored")
    assert {row["recovered_from"] for row in rows} == {evidence}
    assert len(rows) == (1 if evidence == "whole_capture" else 4)


def test_the_recorder_counts_the_steps_where_calls_count_more_or_fewer():
    """Hundreds of jitted calls in a step; the recorder saw the program's own loop."""
    calls = [Step("PjitFunction(mul)", i, i * 10, i * 10 + 10, "function_call") for i in range(300)]
    seen = [Step("step", i, i * 1000, i * 1000 + 990, "recorder") for i in range(3)]
    assert counted(calls, seen) == seen
    assert counted(calls[:4], seen) == seen
    assert counted(calls[:2], seen) == seen
    assert counted(calls[:3], seen) == calls[:3]
    assert counted(calls, seen[:1]) == calls


@pytest.mark.parametrize(
    ("ops", "us", "steps"),
    [(40, 50, 4), (40, 5000, 160), (10, 50, 40)],
    ids=["ops of a step", "long calls", "steps of which each tenth is logged"],
)
def test_calls_of_a_jitted_function_that_are_ops_make_no_steps(ops, us, steps):
    """JAX jits its own ops; a function that is called once among so many of them begins the step."""
    marks, now = [], 0
    for _ in range(4):
        for name in ("gradient", *["multiply"] * ops):
            marks.append(Mark(1, f"PjitFunction({name})", now * 10**6, us * 10**6))
            now += us
    found = find(marks, {1: "python"})
    assert len(found) == steps
    assert {step.name for step in found} == {f"PjitFunction({'gradient' if steps == 4 else 'multiply'})"}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("execute_context_2(100)_generation_0(0)", "prefill"),
        ("execute_context_1024_generation_64", "mixed"),
        ("execute_7_context_0(sq0)_generation_32(sq32)", "decode"),
        ("step[EXTEND bs=2 toks=4096]", "prefill"),
        ("step[DECODE bs=64]", "decode"),
        ("step[MIXED bs=3]", "mixed"),
        ("step[TARGET_VERIFY bs=3]", "unknown"),
    ],
)
def test_servers_say_what_their_batches_do(name, kind):
    steps = find([mark(name, 10 * i, 8) for i in range(3)], TRACKS)
    assert {(step.kind, step.recovered_from) for step in steps} == {(kind, "batch")}


@pytest.mark.parametrize(("end_ns", "averaged"), [(35_000, [True, True, True, False]), (39_900, [True] * 4)])
def test_a_step_that_the_recording_has_in_part_is_in_no_average(end_ns, averaged):
    """The recorder saw four steps of 10 µs; of the last one only the first half was recorded."""
    seen = [(number, number * 10_000, (number + 1) * 10_000, True) for number in range(4)]
    found = recorder_steps(seen, RecordedSpan(0, 0, end_ns * 1000 + 2_000_000), [])
    assert [step.averaged for step in found] == averaged
    if not averaged[-1]:
        assert found[-1].kind == "cut_off"
        assert found[-1].reason == "the recorder saw it, and 70 % of it was recorded"


def test_the_only_step_is_averaged_though_its_end_was_not_recorded():
    (found,) = recorder_steps([(0, 0, 10_000, True)], RecordedSpan(0, 0, 7_000_000), [])
    assert found.averaged


@pytest.mark.parametrize(
    ("lengths_us", "averaged"),
    [
        ([2, 580, 646, 637], [False, True, True, True]),
        ([3, 111, 4, 129], [True] * 4),
        ([300, 580, 646, 637], [True] * 4),
        ([2, 580, 646], [True] * 3),
    ],
    ids=["shorter than all others", "as short as others", "half of the others", "too few others"],
)
@pytest.mark.parametrize("evidence", ["recorder", "function_call", "device"])
def test_a_first_step_that_had_begun_before_the_recording_is_in_no_average(evidence, lengths_us, averaged):
    """While a profiler starts, a device computes what it was asked for and queues fill."""
    ends = list(accumulate(lengths_us))
    steps = [
        Step("step", i, end - length, end, evidence)
        for i, (end, length) in enumerate(zip(ends, lengths_us, strict=True))
    ]
    assert [step.averaged for step in classify(steps, [])] == averaged
