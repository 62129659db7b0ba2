"""What other threads and processes of the program do while a step waits for a lock or for cores."""

import pytest

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.cause_facts import BufferFill, FilterYield, UnfilledCache
from stepscope.instruments.causes.judgement import Competing
from stepscope.report import judgement_text
from tests.report import made_recordings, made_samples
from tests.report.recordings import judgement_of


def test_what_runs_while_a_lock_is_awaited() -> None:
    signs = CodeLine("ledger.py", 30, "Ledger.sign")
    assert judgement_of(made_recordings.waiting_for_a_lock()).meanwhile == signs
    assert judgement_of(made_recordings.waiting_for_a_lock(19)).meanwhile == signs


@pytest.mark.parametrize("holders", [0, 10])
def test_who_runs_for_part_of_the_wait_holds_no_lock(holders: int) -> None:
    assert judgement_of(made_recordings.waiting_for_a_lock(holders)).meanwhile is None


@pytest.mark.parametrize("function", ["sleep", "read"])
def test_only_a_lock_is_held_by_a_thread(function: str) -> None:
    tables = made_recordings.waiting_for_a_lock()
    tables.rows["frame"][1]["function"] = function
    found = judgement_of(tables)
    assert (found.cause, found.meanwhile) == ("wait", None)


def test_a_thread_that_sleeps_runs_nothing() -> None:
    tables = made_recordings.waiting_for_a_lock()
    sleeps = tables.add("frame", function="sleep", file="<built-in>", line=0, code="python")["id"]
    signs = tables.rows["stack"][-1]
    stack = tables.add("stack", parent_id=signs["id"], frame_id=sleeps, place_id=signs["place_id"])["id"]
    for row in tables.rows["stack_sample"][20:]:
        row["stack_id"] = stack
    assert judgement_of(tables).meanwhile is None


@pytest.mark.parametrize(("also", "found"), [(0, True), (2, True), (3, False), (4, False)])
def test_who_sleeps_where_it_rarely_is_while_nobody_waits_may_hold_the_lock(also: int, found: bool) -> None:
    """A thread that always sleeps in the same line holds nobody up, as far as samples tell."""
    judged = judgement_of(made_samples.waiting_for_a_lock_of_a_sleeper(also))
    holder = CodeLine("ledger.py", 31, "export") if found else None
    assert (judged.cause, judged.meanwhile, judged.meanwhile_waits) == ("wait", holder, found)


@pytest.mark.parametrize(("second", "shares"), [(4, [0.5, 0.4]), (3, [0.5, 0.3]), (2, [])])
def test_a_second_line_with_nearly_as_much_is_named(second: int, shares: list[float]) -> None:
    judged = judgement_of(made_samples.two_lines_of_python(second))
    assert judged.cause == "python"
    assert [found.share for found in judged.lines] == pytest.approx(shares)
    assert [found.line.function for found in judged.lines] == (["report", "count"] if shares else [])


def test_a_step_that_averages_leave_out_has_no_say_in_the_line() -> None:
    judged = judgement_of(made_samples.a_line_of_a_step_left_out())
    assert [(found.line.function, round(found.share, 6)) for found in judged.lines] == [
        ("report", 0.5), ("count", 0.4),
    ]  # fmt: skip
    assert judged.spent_in == CodeLine("train.py", 19, "report")


def test_ops_that_are_called_one_by_one_run_in_a_line() -> None:
    """Where these take most of what ops compute, beside others, samples tell where they are called."""
    judged = judgement_of(made_samples.ops_that_a_function_calls_one_by_one())
    assert (judged.cause, judged.op_type) == ("compute", "MatMul")
    assert judged.spent_in == CodeLine("train.py", 19, "report")


@pytest.mark.parametrize(
    ("ops", "found"), [(3, [("dispatch", 0.3), ("python", 0.3)]), (1, [])], ids=["as much", "little"]
)
def test_what_a_line_takes_by_other_labels_is_told(ops: int, found: list[tuple[str, float]]) -> None:
    judged = judgement_of(made_samples.a_line_that_runs_ops_of_its_own(ops), "python")
    assert judged.place == CodeLine("train.py", 19, "report")
    assert sorted((part.label, round(part.share, 6)) for part in judged.together) == found


@pytest.mark.parametrize(("launches", "found"), [(2, True), (1, False)])
def test_callbacks_take_most_where_nothing_beside_them_takes_as_much(launches: int, found: bool) -> None:
    judged = judgement_of(made_samples.a_callback_of_several_labels(launches))
    assert judged.callbacks is found
    if found:
        assert judged.place == CodeLine("callbacks.py", 14, "Best.on_train_batch_end")
        assert judged.share == pytest.approx(0.4)
    # Who asks for that cause, as `whatif --without` does, gets the same.
    again = judgement_of(made_samples.a_callback_of_several_labels(launches), judged.cause)
    assert again == judged


@pytest.mark.parametrize(
    ("batches", "draws", "trains", "found"),
    [(3, True, False, True), (2, True, False, False), (3, False, False, False), (3, True, True, False)],
    ids=["of its own", "one of each", "none of the step", "of the training"],
)
def test_a_loop_over_other_batches_is_named_with_all_that_it_takes(
    batches: int, draws: bool, trains: bool, found: bool
) -> None:
    judged = judgement_of(made_samples.a_loop_over_other_batches(batches, draws, trains))
    assert judged.other_batches is found
    if found:
        main, evaluate = CodeLine("train.py", 40, "main"), CodeLine("train.py", 26, "evaluate")
        assert (judged.place, judged.spent_in) == (main, evaluate)
        assert judged.share == pytest.approx(0.7)
        assert sorted(part.label for part in judged.together) == ["dispatch", "input", "python"]
        assert judged.left_ps == pytest.approx(0.3 * judged.mean_ps)


@pytest.mark.parametrize(
    ("taken", "position", "found"),
    [
        (10, 2, UnfilledCache(14, 10, 40)),
        (39, 2, UnfilledCache(14, 39, 40)),
        (40, 2, None),
        (-1, 2, None),
        ("all", 2, None),
        (10, 0, None),
    ],
    ids=["some", "all but one", "all", "as many as there are", "unknown", "a cache before the stage"],
)
def test_a_cache_of_which_a_part_is_taken_never_fills(
    taken: object, position: int, found: UnfilledCache | None
) -> None:
    assert judgement_of(made_recordings.a_cache_that_never_fills(taken, position)).unfilled == found


def test_python_of_another_thread_keeps_the_interpreter_from_launching() -> None:
    signs = CodeLine("ledger.py", 30, "Ledger.sign")
    found = judgement_of(made_recordings.launching_beside_python())
    assert (found.cause, found.meanwhile) == ("dispatch", signs)
    assert judgement_of(made_recordings.launching_beside_python(11)).meanwhile == signs
    assert judgement_of(made_recordings.launching_beside_python(9)).meanwhile is None
    sleeps = made_recordings.launching_beside_python()
    for row in sleeps.rows["stack_sample"][20:]:
        row["cpu_ps"] = 0
    assert judgement_of(sleeps).meanwhile is None
    # Whether it ran is not known.
    for row in sleeps.rows["stack_sample"][20:]:
        row["cpu_ps"] = None
    assert judgement_of(sleeps).meanwhile is None


def test_a_filter_that_discards_most_is_named_with_the_stage_before_it() -> None:
    assert judgement_of(made_recordings.an_input_pipeline_that_filters()).kept == FilterYield(0.06, 13)
    assert (
        judgement_of(made_recordings.an_input_pipeline_that_filters(name="ParallelFilter")).kept is not None
    )
    assert judgement_of(made_recordings.an_input_pipeline_that_filters(60)).kept is None
    assert judgement_of(made_recordings.an_input_pipeline_that_filters(name="Shuffle")).kept is None
    elsewhere = made_recordings.an_input_pipeline_that_filters()
    elsewhere.rows["iterator"][-1]["file"] = "other.py"
    assert judgement_of(elsewhere).kept == FilterYield(0.06, None)


def test_a_shuffle_that_fills_its_buffer_is_named_with_the_stage_before_it() -> None:
    shuffling = made_recordings.an_input_pipeline_that_shuffles
    assert judgement_of(shuffling()).fill == BufferFill(20.0, 13)
    assert judgement_of(shuffling(100)).fill is None
    (text, *_) = judgement_text.sentences([judgement_of(shuffling())], False)
    assert text.endswith(
        ". The .shuffle in line 13 fills its buffer: it draws 20 elements for each that it hands on."
    )


def test_the_function_of_a_stage_is_that_of_its_kind_on_the_line() -> None:
    """TensorFlow makes several stages of the source, so that the places of all others differ."""
    tables = made_recordings.an_input_pipeline()
    (source,) = tables.rows["user_stage"]
    given = {
        "transformation": "map",
        "dataset": "MapDataset",
        "args_json": '{"map_func": "parse (data.py:7)"}',
    }
    tables.add("user_stage", **{**source, **given, "id": 1, "position": 1})
    source |= {"transformation": "TextLineDataset", "dataset": "TextLineDataset", "position": 2}
    tables.rows["iterator"][0] |= {"user_stage": "ParallelMapDatasetV2:2", "user_position": 2}
    assert judgement_of(tables).given == CodeLine("data.py", 7, "parse")


def test_the_summary_of_a_checkpoint_is_stored_with_it() -> None:
    tables = made_recordings.storing_in_the_loop()
    facts = {"function": "add_session_log", "file": "tensorflow/python/summary/writer/writer.py", "line": 9}
    module = "tensorflow.python.summary.writer.writer"
    frame = tables.add("frame", **facts, module=module, code="library")["id"]
    main = tables.rows["stack"][0]
    stack = tables.add("stack", parent_id=main["id"], frame_id=frame, place_id=main["place_id"])["id"]
    for row in tables.rows["stack_sample"][14:]:
        row["stack_id"] = stack
    found = judgement_of(tables)
    assert (found.cause, found.stores) == ("wait", "checkpoint")


@pytest.mark.parametrize(("part", "stores"), [(20, "checkpoint"), (10, None)])
def test_storing_is_named_where_nearly_all_that_waits_does_so(part: int, stores: str | None) -> None:
    tables = made_recordings.storing_in_the_loop()
    sleeps = tables.add("frame", function="sleep", file="<built-in>", line=0, code="python")["id"]
    main = tables.rows["stack"][0]
    stack = tables.add("stack", parent_id=main["id"], frame_id=sleeps, place_id=main["place_id"])["id"]
    for row in tables.rows["stack_sample"][part:]:
        row["stack_id"] = stack
    found = judgement_of(tables)
    assert (found.cause, found.stores) == ("wait", stores)


@pytest.mark.parametrize(
    ("waiting", "busy", "competes"), [(1.8, True, True), (0.1, False, True), (0.05, False, False)]
)
def test_processes_have_the_cores_that_a_program_waits_for(
    waiting: float, busy: bool, competes: bool
) -> None:
    """Its threads wait for a quarter of the time in which they want one, or longer."""
    tables = made_recordings.ops_beside_processes()
    for row in tables.rows["counter"]:
        if row["series"].endswith("waiting"):
            row["value"] = waiting
    found = judgement_of(tables)
    assert found.contention.busy == busy
    assert found.competing == (Competing("children", 1.5) if competes else None)


def test_a_pipeline_whose_python_sleeps_has_no_cores() -> None:
    """The kernel tells: nobody but the program's own threads runs or waits for a core."""
    computes, sleeps = made_recordings.ops_beside_a_pipeline(), made_recordings.ops_beside_a_pipeline()
    found = judgement_of(computes).competing
    assert (found.who, found.number) == ("input", pytest.approx(5 / 12))
    for row in sleeps.rows["counter"]:
        row["series"] = row["series"].replace("later", "program")
    sleeps.add("counter", name="threads during recording", series="later running", ts_ps=0, value=0.01)
    assert judgement_of(sleeps).competing is None
