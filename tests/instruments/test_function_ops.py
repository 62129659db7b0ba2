"""Ops on threads of TensorFlow 1, 2.0 and 2.1 that functions of tf.data ran."""

import pytest

import stepscope.instruments.pipeline.diagnoses  # noqa: F401 - it brings the statement
from stepscope.library.statements import text
from tests.draw import draw

ON_THREADS = (
    "dense/MatMul:MatMul", "resize:ResizeBilinear", "dense/MatMul/_19:_Recv", "dense/MatMul/_18:_Send",
    "FlatMapDataset:FlatMapDataset", "Iterator::Model::Map", "Session",
)  # fmt: skip


@pytest.mark.parametrize("kind", ["thread", "lane"])
def test_ops_that_no_device_ran_are_of_functions(kind: str) -> None:
    """Those of the session have a row on their device as well, but for tensors on their way. What Python's
    own thread runs, as ops outside of functions, is the program's."""
    threads = "".join(f"[{name}]" for name in ON_THREADS)
    tables = draw(
        f"step train : [1{'.' * 200}]\ncpu/t lane : [dense/MatMul:MatMul]\nhost/t {kind} : {threads}\n"
        "host/python thread : [add:AddV2]"
    )
    (device,) = [track["id"] for track in tables.rows["track"] if track["process"] == "cpu"]
    for row in tables.rows["slice"]:
        if row["track_id"] != device:
            row["op_type"] = None
    asked = text("function_ops", source_id=0, until_ps=2**62)
    rows = tables.shared().execute(asked).fetchall()
    assert [row[-1] for row in rows] == ["resize:ResizeBilinear"]
    rows = tables.shared().execute(text("function_ops", source_id=0, until_ps=0)).fetchall()
    assert rows == []


@pytest.mark.parametrize("kind", ["thread", "lane"])
def test_threads_are_counted_by_the_ops_that_ran_at_once(kind: str) -> None:
    """Ops that wait without a thread do not count, nor does what only touches in whole microseconds."""
    tables = draw(
        f"host/a {kind} : [x:MatMul   ][y:Add   ]\nhost/b {kind} :    [z:Sin  ]\n"
        f"host/c {kind} : [n:IteratorGetNext    ]\nhost/d {kind} : [q:QueueDequeueManyV2 ]\n"
        f"host/e {kind} : [Iterator::Model::Map ]\nhost/f {kind} : [b:_Recv             ]"
    )
    for row in tables.rows["slice"]:
        row["op_type"] = None
    asked = text("threads_at_once", sources=[0])
    assert tables.shared().execute(asked).fetchall() == [(0, 2)]
    assert tables.shared().execute(text("threads_at_once", sources=[7])).fetchall() == []
