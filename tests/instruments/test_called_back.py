"""Python that an op calls is Python, at the line of what it calls, on whatever thread it runs."""

from itertools import product

import pytest

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import ranking
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.causes.sampled_lines import stacks_of_host
from tests.draw import Tables, draw
from tests.instruments.step_drawings import asked, parts, rows
from tests.instruments.test_interpreter_lock import EXECUTE, MAIN, SCRIPT_OPS, looked

CALLBACK = ("lib/jax/_src/callback.py", "_FlatCallback.__call__", "library")
CALLED = ("train.py", "ranked", "program")
SORTED = ("train.py", "order", "program")


def a_step(op: str, *, thread: str, looks: int) -> Tables:
    """A step of 40 units with an op that calls Python for 30 of them, and samples of it."""
    tables = draw(f"""
step       train  : [0.....................................]
cpu/{thread} thread : [{op}...................]
cpu/pool thread   :                               [x:MatMul]
""")
    for number in range(looks):
        looked(tables, number * 5, number * 5 + 5, *STACKS[thread], main=thread == "python", cpu=1.0)
    return tables


STACKS = {"python": (MAIN, EXECUTE, CALLBACK, CALLED, SORTED), "pool": (SCRIPT_OPS, CALLED, SORTED)}


def judgement(tables: Tables) -> Judgement:
    for table, own in rows(tables)._asdict().items():
        for row in own:
            tables.add(table, **{key: value for key, value in row.items() if key != "id"})
    (one,) = ranking.judge(asked(tables))
    return one


CALLS = ["p:pure_callback", "p:io_callback", "p:debug_print", "p:EagerPyFunc"]
# A library each, and a thread each: the others differ in a name that a table holds.
DIFFER = [("p:pure_callback", "pool"), ("p:EagerPyFunc", "python")]
OTHERS = [one for one in product(CALLS, ("python", "pool")) if one not in DIFFER]
ALIKE = pytest.mark.repeats("ops of the same class")


@pytest.mark.parametrize(("op", "thread"), [*DIFFER, *(pytest.param(*one, marks=ALIKE) for one in OTHERS)])
def test_the_place_is_in_what_the_op_calls(op: str, thread: str) -> None:
    tables = a_step(op, thread=thread, looks=4)
    assert parts(tables)[0]["python"] >= 28
    found = judgement(tables)
    assert (found.cause, found.op_type) == ("python", op.partition(":")[2])
    assert found.place == CodeLine("train.py", 7, "order")
    assert found.called_from == CodeLine("train.py", 7, "ranked")
    assert found.op == "p"


def test_a_loop_hides_no_python_that_its_ops_call() -> None:
    """XLA runs what a loop repeats on the thread of the loop."""
    drawn = """
step       train  : [0.....................................]
cpu/python thread : [train.................................]
cpu/pool   thread : [w:{}..............................]
cpu/pool   thread :  [a:dot..][p:pure_callback........]
"""
    assert parts(draw(drawn.format("while")))[0] == {"compute": 14, "python": 25, "unknown": 1}
    # An op of another kind is what computes, whatever it calls beside that.
    assert parts(draw(drawn.format("fused")))[0] == {"compute": 39, "+python": 25, "unknown": 1}


def test_without_a_sample_the_op_is_told() -> None:
    found = judgement(a_step("p:pure_callback", thread="python", looks=0))
    assert (found.cause, found.op, found.op_type, found.place) == ("python", "p", "pure_callback", None)


def test_what_an_op_calls_begins_where_the_framework_calls_it() -> None:
    tables = a_step("p:pure_callback", thread="python", looks=2)
    looked(tables, 12, 14, MAIN, EXECUTE, main=True)
    (stacks,) = stacks_of_host(asked(tables), "r", "h").values()
    inside = {tuple(one.function for one in path) for path in stacks.called_back.values()}
    assert inside == {(), ("ranked",), ("ranked", "order")}


def test_python_of_the_loop_is_not_an_ops() -> None:
    """An op calls Python for 10 of 60 units; the loop's own has 50."""
    tables = draw("""
step       train  : [0.........................................................]
cpu/python thread :                                                   [p:PyFunc]
""")
    for number in range(10):
        looked(tables, number * 5, number * 5 + 5, MAIN, SORTED, main=True, cpu=1.0)
    looked(tables, 51, 60, MAIN, EXECUTE, SCRIPT_OPS, CALLED, main=True, cpu=1.0)
    found = judgement(tables)
    assert (found.cause, found.op_type) == ("python", None)
    assert found.place == CodeLine("train.py", 7, "order")
    assert found.called_from == CodeLine("train.py", 7, "main")


@pytest.mark.parametrize("looks", [0, 6])
def test_a_queue_of_the_graph_has_the_line_that_made_it_or_of_what_fills_it(looks: int) -> None:
    """The only op of a step takes from a queue, and waits; a function of the program fills that, or nothing
    is known of what does."""
    tables = draw("""
step       train  : [0.....................................]
cpu/python thread : [train.................................]
cpu/pool   thread :   [batch:QueueDequeueManyV2......]
""")
    tables.add("op_line", op_name="batch", told_by="log", file="data.py", line=31, function="inputs")
    for number in range(looks):
        looked(tables, number * 5, number * 5 + 5, SCRIPT_OPS, CALLED, main=False, cpu=1.0)
    looked(tables, 0, 39, MAIN, EXECUTE, main=True, cpu=0.0)
    found, made = judgement(tables), CodeLine("data.py", 31, "inputs")
    assert (found.cause, found.spoken) == ("input", "what fills the queue `batch`")
    filled = CodeLine("train.py", 7, "ranked")
    assert (found.place, found.called_from) == ((filled, made) if looks else (made, None))
