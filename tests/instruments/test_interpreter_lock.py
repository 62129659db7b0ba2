"""A driving thread that lacks the interpreter's lock because a loader's Python has it waits for input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.lock_holders import line_beside_label
from stepscope.instruments.causes.sampled_lines import (
    LineSearch,
    StackEvidence,
    line_of_label,
    line_of_loader,
    stacks_of_host,
)
from stepscope.instruments.step_breakdown import labels, part_tables
from stepscope.instruments.step_breakdown.interpreter_lock import THRESHOLDS, ProcessorTime, count_lock_waits
from stepscope.instruments.step_breakdown.sweep import StepPiece
from tests.draw import UNIT_PS, Tables, draw
from tests.instruments.step_drawings import asked, parts
from tests.report.recordings import queried

SCRIPT_OPS = ("tensorflow/python/ops/script_ops.py", "__call__", "library")
WRAPPER = ("tensorflow/python/autograph/impl/api.py", "do_not_convert.wrapper", "library")
ROWS = ("train.py", "rows", "program")
MAIN = ("train.py", "main", "program")
EXECUTE = ("tensorflow/python/eager/execute.py", "quick_execute", "library")


def looked(
    tables: Tables,
    begin: int,
    end: int,
    *path: tuple[str, str, str],
    main: bool,
    cpu: float | None = None,
    queued: float | None = None,
):
    """A sample of a thread, from and to units of time; frames from the outermost to the innermost."""
    parent = None
    for file, function, code in path:
        own = {"file": file, "function": function, "code": code, "line": 7}
        known = [row for row in tables.rows["frame"] if own.items() <= row.items()]
        frame = (known or [tables.add("frame", **own)])[0]["id"]
        own = {"parent_id": parent, "frame_id": frame}
        known = [row for row in tables.rows["stack"] if own.items() <= row.items()]
        parent = (known or [tables.add("stack", **own)])[0]["id"]
    weight = (end - begin) * UNIT_PS
    facts = {"ts_ps": begin * UNIT_PS, "weight_ps": weight, "stack_id": parent, "is_main": main}
    for column, part in (("cpu_ps", cpu), ("queued_ps", queued)):
        facts[column] = None if part is None else round(part * weight)
    tables.add("stack_sample", **facts)


def a_slow_loader(*path: tuple[str, str, str], cpu: float, queued: float | None = None) -> Tables:
    """A step of 40 units that launches all the time; another thread has a stack for 30 of them."""
    tables = draw("""
step       train  : [0.....................................]
cpu/python thread : [FunctionRun...........................]
""")
    looked(tables, 1, 41, MAIN, EXECUTE, main=True, cpu=cpu, queued=queued)
    looked(tables, 6, 36, *path, main=False)
    return tables


def test_launching_beside_a_loader_in_python_is_input_as_far_as_no_processor_was_there():
    """It ran for 16 of 40: the 24 that are missing are lost beside the loader."""
    tables = a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, ("numpy/core/x.py", "sum", "library"), cpu=0.4)
    assert parts(tables) == {0: {"dispatch": 16, "input": 24}}


def test_without_the_lock_no_loader_has_it():
    tables = a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, cpu=0.4)
    tables.add("source_note", source_id=0, slug="free-threaded", effect="info")
    assert parts(tables) == {0: {"dispatch": 40}}


@pytest.mark.parametrize("free", [False, True])
def test_another_thread_in_python_is_told_where_one_keeps_the_other_from_running(free: bool) -> None:
    tables = draw("step train : [0.....................................]")
    looked(tables, 1, 41, MAIN, main=True, cpu=0.5)
    looked(tables, 1, 41, ROWS, main=False, cpu=0.5)
    if free:
        tables.add("source_note", source_id=0, slug="free-threaded", effect="info")
    query = queried(tables)
    found = line_beside_label(StackEvidence(query, stacks_of_host(query, "r", "h"), [0]), "python", 0.5)
    assert found == (None if free else CodeLine("train.py", 7, "rows"))


def test_no_more_is_lost_than_the_loader_ran():
    assert parts(a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, cpu=0.1)) == {0: {"dispatch": 10, "input": 30}}


def test_what_other_programs_took_is_not_lost_beside_the_loader():
    """It ran for 4 of 40 and could have run for 32 more: no loader kept it from running."""
    assert parts(a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, cpu=0.1, queued=0.8)) == {0: {"dispatch": 40}}


def test_on_a_busy_machine_the_time_with_a_core_tells_who_had_the_lock():
    """It waited 20 of 40 for a core, ran for 8 and lacked the lock for 12: three fifths are the loader's."""
    tables = a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, cpu=0.2, queued=0.5)
    assert parts(tables) == {0: {"dispatch": 16, "input": 24}}


def test_a_thread_that_has_a_processor_launches():
    assert parts(a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, cpu=THRESHOLDS.ran)) == {0: {"dispatch": 40}}


def test_other_threads_hold_nobody_up():
    """One of the program's own without a loader; a loader that waits for a queue or is in the framework."""
    others = (
        (("threading.py", "_bootstrap", "python"), ROWS),
        (SCRIPT_OPS, ROWS, ("threading.py", "wait", "python")),
        (SCRIPT_OPS, ROWS, EXECUTE),
    )
    for path in others:
        assert parts(a_slow_loader(*path, cpu=0.1)) == {0: {"dispatch": 40}}


def test_a_thread_that_fills_a_queue_is_a_loader():
    """Which is told by a thread that gets from one: waiting there is waiting for input, too."""
    get, put = ("queue.py", "Queue.get", "python"), ("queue.py", "Queue.put", "python")
    wait = ("threading.py", "Condition.wait", "python")

    def threads(*waits: tuple[str, str, str]) -> Tables:
        tables = draw("""
step       train  : [0.....................................]
cpu/python thread : [FunctionRun...............]
""")
        looked(tables, 1, 29, MAIN, EXECUTE, main=True, cpu=0.25)
        looked(tables, 29, 41, MAIN, *waits, main=True, cpu=0.0)
        looked(tables, 1, 22, ROWS, main=False)
        looked(tables, 22, 41, ROWS, put, wait, main=False)
        return tables

    assert parts(threads(get, wait)) == {0: {"dispatch": 7, "input": 33}}
    assert parts(threads(put, wait)) == {0: {"dispatch": 28, "wait": 12}}


def test_ops_that_call_python_for_the_input_tell_it_as_well():
    """Without one sample of their thread."""
    tables = draw("""
step                 train  : [0.....................................]
cpu/python           thread : [FunctionRun...........................]
cpu/tf_data_iterator thread :      [f:PyFunc....................]
""")
    looked(tables, 1, 41, MAIN, EXECUTE, main=True, cpu=0.4)
    assert parts(tables) == {0: {"dispatch": 16, "input": 24, "+input": 6}}


def test_the_line_of_a_loader_is_where_its_python_runs():
    tables = a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, ("train.py", "tokens", "program"), cpu=0.1)
    ask = asked(tables)
    stacks = StackEvidence(ask, stacks_of_host(ask, "r", "h"), [0])
    found = line_of_loader(stacks, 0.5)
    assert (found.place, found.called_from, found.samples, found.spent_in) == (
        CodeLine("train.py", 7, "tokens"),
        CodeLine("train.py", 7, "rows"),
        (1, 1, 0),
        None,
    )
    assert line_of_loader(stacks, 0.8).place is None, "it ran for 75 % of the time"


def test_what_a_loader_asks_of_the_framework_is_of_its_line():
    """A row that converts a tensor for each number spends its time there; the framework's own does not."""
    numpy = ("tensorflow/python/framework/ops.py", "_EagerTensorBase._numpy", "library")
    ask = asked(a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, numpy, cpu=0.1))
    found = line_of_loader(StackEvidence(ask, stacks_of_host(ask, "r", "h"), [0]), 0.5)
    assert found.place == CodeLine("train.py", 7, "rows")
    ask = asked(a_slow_loader(SCRIPT_OPS, WRAPPER, numpy, cpu=0.1))
    assert line_of_loader(StackEvidence(ask, stacks_of_host(ask, "r", "h"), [0]), 0.0).place is None


def test_a_function_of_a_loader_that_sleeps_is_its_line_and_a_loader_without_work_is_none():
    """Nothing computes there, so it counts where ops tell that the loader's time goes to Python."""
    sleep = ("<built-in>", "sleep", "python")
    ask = asked(a_slow_loader(SCRIPT_OPS, WRAPPER, ROWS, sleep, cpu=0.1))
    stacks = StackEvidence(ask, stacks_of_host(ask, "r", "h"), [0])
    assert line_of_loader(stacks, None).place == CodeLine("train.py", 7, "rows")
    # The process of a worker begins within the program.
    worker = ("torch/utils/data/_utils/worker.py", "_worker_loop", "library")
    empty = ("multiprocessing/queues.py", "Queue.get", "python")
    ask = asked(a_slow_loader(MAIN, worker, empty, cpu=0.1))
    assert line_of_loader(StackEvidence(ask, stacks_of_host(ask, "r", "h"), [0]), None).place is None


def test_what_a_loader_calls_in_the_thread_that_waits_is_its_place():
    """PyTorch's loader without workers runs in the loop itself."""
    tables = draw("step train : [0......................................]")
    loader = ("torch/utils/data/dataloader.py", "_SingleProcessDataLoaderIter.__next__", "library")
    looked(tables, 1, 43, MAIN, loader, ("data.py", "Faces.__getitem__", "program"), main=True)
    ask = asked(tables)
    assert {row["label"] for row in part_tables.rows(ask, ask.stream).step_part} == {"input"}
    stacks = StackEvidence(ask, stacks_of_host(ask, "r", "h"), [0])
    found = line_of_label(stacks, "input", LineSearch())
    assert (found.place, found.called_from) == (
        CodeLine("data.py", 7, "Faces.__getitem__"),
        CodeLine("train.py", 7, "main"),
    )


def test_a_wrapper_of_autograph_that_converts_nothing_compiles_nothing():
    file, function, code = WRAPPER
    assert labels.frame_meaning(file, function, code).label == "dispatch"
    assert labels.frame_meaning(file, "converted_call", code).label == "compile"


_edges = st.sets(st.integers(0, 40), max_size=10).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)


@given(
    st.lists(st.sampled_from(("dispatch", "python", "compute", "input")), min_size=1, max_size=8),
    _edges,
    _edges,
    st.floats(0, 1),
)
def test_no_time_is_lost_and_only_launching_beside_the_loader_changes(said, loading, spans, cpu):
    made = [StepPiece(5 * n, 5 * n + 5, label, ("input",)) for n, label in enumerate(said)]
    ran = [ProcessorTime(begin, end, round(cpu * (end - begin))) for begin, end in spans]
    found = list(count_lock_waits(made, loading, ran))
    at = 0
    for piece in found:
        assert piece.from_ps == at < piece.to_ps
        at = piece.to_ps
        was = made[piece.from_ps // 5].label
        if piece.label != was:
            assert (was, piece.label, piece.hidden) == ("dispatch", "input", ())
            assert any(begin <= piece.from_ps and piece.to_ps <= end for begin, end in loading)
    assert at == 5 * len(said)
