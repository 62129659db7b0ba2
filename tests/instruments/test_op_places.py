"""Which line of the program an op comes from, and which one what loads the input."""

from types import SimpleNamespace
from typing import Any

from stepscope.code_lines import CodeLine
from stepscope.engines import Statement
from stepscope.instruments.causes.layers import forward_of
from stepscope.instruments.causes.op_lines import creating_line
from stepscope.instruments.causes.sampled_lines import StackEvidence, line_of_loader, stacks_of_host
from stepscope.library.statements import Query
from tests.draw import Tables
from tests.each import each


@each(
    ("op", "forward"),
    [
        ("gradients/context/Conv2D_grad/Conv2DBackpropInput", "context/Conv2D"),
        ("gradients_1/a/MatMul_grad/tuple/group_deps", "a/MatMul"),
        ("gradient_tape/context/Conv2D/Conv2DBackpropFilter", "context/Conv2D"),
        ("tower_0/gradients/tower_0/a/MatMul_grad/MatMul", "tower_0/a/MatMul"),
        ("my_gradients/a/MatMul", None),
        ("gradients", None),
        ("context/Conv2D", None),
        ("AddGrad", None),
    ],
)
def test_the_op_of_a_gradient(op: str, forward: str | None) -> None:
    assert forward_of(op) == forward


def asked_of(tables: Tables) -> Query:
    """Queries of drawn tables, as a trace answers them."""
    connection = tables.connect()

    def query(asked: Statement) -> Any:
        found = connection.execute(asked.sql).fetchall()
        return SimpleNamespace(rows=lambda: found)

    return query


def place_of(op: str, made: dict[str, tuple[int, int | None]]) -> CodeLine | None:
    """made: by op, the line of the helper `conv`, and that of its call in `network`."""
    tables = Tables()
    for name, (line, caller) in made.items():
        call: dict[str, Any] = {} if caller is None else {"caller_file": "p.py", "caller_line": caller}
        call |= {} if caller is None else {"caller_function": "network"}
        tables.add("op_line", op_name=name, file="p.py", line=line, function="conv", told_by="log", **call)
    return creating_line(asked_of(tables), "r", op)


CONVS = {"stem/Conv2D": (14, 18), "context/Conv2D": (14, 22), "context/kernel/read": (13, 22)}


def test_a_helper_that_makes_several_layers_is_not_the_place() -> None:
    assert place_of("context/Conv2D", CONVS) == CodeLine("p.py", 22, "network")
    # One call in a loop makes all layers: the line of the helper tells as much.
    looped = {name: (line, 20) for name, (line, _) in CONVS.items()}
    assert place_of("context/Conv2D", looped) == CodeLine("p.py", 14, "conv")
    assert place_of("context/Conv2D", {"context/Conv2D": (14, 22)}) == CodeLine("p.py", 14, "conv")
    assert place_of("context/Conv2D", {"context/Conv2D": (14, None), "stem/Conv2D": (14, None)}) == CodeLine(
        "p.py", 14, "conv"
    )


def test_a_gradient_belongs_to_the_line_of_its_op() -> None:
    gradient = "gradients/context/Conv2D_grad/Conv2DBackpropInput"
    assert place_of(gradient, {**CONVS, gradient: (41, None)}) == CodeLine("p.py", 22, "network")
    assert place_of(gradient, {gradient: (41, None)}) == CodeLine("p.py", 41, "conv")
    assert place_of("other", CONVS) is None


LOADER = (
    ("/p/train.py", 9, "main", "program"),
    ("/site-packages/keras/src/trainers/data_adapters/py_dataset_adapter.py", 180, "get_", "framework"),
    ("/p/data.py", 22, "Reviews.__getitem__", "program"),
    ("numpy/_core/_methods.py", 49, "_sum", "library"),
)


def test_the_line_of_what_loads_is_in_threads_beside_the_driving_one() -> None:
    """A library counts to the line of the program that called it. Threads that sleep load nothing."""
    tables = Tables()
    tables.source()
    tables.rows["capture"][0]["origin_unix_ns"] = 0
    tables.add("step_stored", dur_ps=100, averaged=True, recovered_from="marker", kind="train")
    for number, (file, line, function, code) in enumerate(LOADER):
        tables.add("frame", file=file, line=line, function=function, code=code)
        tables.add("stack", parent_id=number - 1 if number else None, frame_id=number)
    for stack_id, main, weight, cpu in (
        (3, False, 30, None),
        (2, False, 10, 9),
        (0, False, 90, 0),
        (0, True, 99, 99),
    ):
        tables.add("stack_sample", ts_ps=5, weight_ps=weight, cpu_ps=cpu, stack_id=stack_id, is_main=main)
    query = asked_of(tables)
    found = line_of_loader(StackEvidence(query, stacks_of_host(query, "r", "h"), [0]), 0.4)
    assert found.place == CodeLine("/p/data.py", 22, "Reviews.__getitem__")
    assert found.samples == (2, 2, 0)
    # It explains 40 of 99; nobody else was sampled.
    assert line_of_loader(StackEvidence(query, stacks_of_host(query, "r", "h"), [0]), 0.5).place is None
    assert line_of_loader(StackEvidence(query, stacks_of_host(query, "r", "other"), [0]), 0.0).place is None
