"""Ops of a graph that a program waits for, because they write a file or a stream."""

import pytest

from stepscope.code_lines import CodeLine
from tests.draw import draw
from tests.report.recordings import judgement_of


@pytest.mark.parametrize(
    ("ops", "named"),
    [
        ("[rate/Print:Print....................]", ("Print", CodeLine("model.py", 15, "rater"))),
        # Nobody made a line of it known, or files are written by many ops.
        ("[save/WriteFile:WriteFile............]", ("WriteFile", None)),
        ("[a:Print....][b:Print....][c:Print...]", (None, None)),
    ],
)
def test_the_op_that_has_most_of_the_waiting_is_named_with_its_line(
    ops: str, named: tuple[str | None, CodeLine | None]
) -> None:
    tables = draw(f"step train : [train{'.' * 33}]\ncpu/t thread : {ops}")
    place = {"file": "model.py", "line": 15, "function": "rater"}
    tables.add("op_line", op_name="rate/Print", told_by="tfprof_log", **place)
    judgement = judgement_of(tables)
    assert judgement.cause == "wait"
    assert (judgement.op_type, judgement.place) == named


def test_a_checkpoint_that_is_written_eagerly_is_a_call_and_named() -> None:
    """TensorFlow's profiler shows it as a call of the thread that runs the steps, and samples no stacks."""
    tables = draw(f"step train : [train{'.' * 33}]\ncpu/python thread : [a][call.....................][b]")
    for row in tables.rows["slice"]:
        if row["name"] == "call":
            row |= {
                "name": "EagerLocalExecute: SaveV2",
                "category": "python",
                "op_name": None,
                "op_type": None,
            }
    judgement = judgement_of(tables)
    assert (judgement.cause, judgement.op_type) == ("wait", "SaveV2")
