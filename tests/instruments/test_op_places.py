"""Which line of the program an op comes from."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from stepscope.engines import Statement
from stepscope.instruments.step_parts import places
from stepscope.instruments.step_parts.judgement import Place
from stepscope.instruments.step_parts.layers import forward_of
from tests.draw import Tables


@pytest.mark.parametrize(
    ("op", "forward"),
    [
        ("gradients/context/Conv2D_grad/Conv2DBackpropInput", "context/Conv2D"),
        ("gradients_1/a/MatMul_grad/tuple/group_deps", "a/MatMul"),
        ("gradient_tape/context/Conv2D/Conv2DBackpropFilter", "context/Conv2D"),
        ("gradients", None),
        ("context/Conv2D", None),
        ("AddGrad", None),
    ],
)
def test_the_op_of_a_gradient(op: str, forward: str | None) -> None:
    assert forward_of(op) == forward


def place_of(op: str, made: dict[str, tuple[int, int | None]]) -> Place | None:
    """made: by op, the line of the helper `conv`, and that of its call in `network`."""
    tables = Tables()
    for name, (line, caller) in made.items():
        call: dict[str, Any] = {} if caller is None else {"caller_file": "p.py", "caller_line": caller}
        call |= {} if caller is None else {"caller_function": "network"}
        tables.add("op_line", op_name=name, file="p.py", line=line, function="conv", told_by="log", **call)
    connection = tables.connect()

    def query(asked: Statement) -> Any:
        found = connection.execute(asked.sql).fetchall()
        return SimpleNamespace(rows=lambda: found)

    return places.of_op(query, "r", op)


CONVS = {"stem/Conv2D": (14, 18), "context/Conv2D": (14, 22), "context/kernel/read": (13, 22)}


def test_a_helper_that_makes_several_layers_is_not_the_place() -> None:
    assert place_of("context/Conv2D", CONVS) == Place("p.py", 22, "network")
    # One call in a loop makes all layers: the line of the helper tells as much.
    looped = {name: (line, 20) for name, (line, _) in CONVS.items()}
    assert place_of("context/Conv2D", looped) == Place("p.py", 14, "conv")
    assert place_of("context/Conv2D", {"context/Conv2D": (14, 22)}) == Place("p.py", 14, "conv")
    assert place_of("context/Conv2D", {"context/Conv2D": (14, None), "stem/Conv2D": (14, None)}) == Place(
        "p.py", 14, "conv"
    )


def test_a_gradient_belongs_to_the_line_of_its_op() -> None:
    gradient = "gradients/context/Conv2D_grad/Conv2DBackpropInput"
    assert place_of(gradient, {**CONVS, gradient: (41, None)}) == Place("p.py", 22, "network")
    assert place_of(gradient, {gradient: (41, None)}) == Place("p.py", 41, "conv")
    assert place_of("other", CONVS) is None
