"""Graphs against TensorFlow's own reading of them."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stepscope import _core
from stepscope.formats import HEAD_BYTES, event_file, graph, run_metadata
from tests import corpus
from tests.formats import reference_step_stats as reference
from tests.tiers import cases

SAMPLES = corpus.SAMPLES / "graph"


def graphs() -> list[Path]:
    found = [path for name in ("tf1/*/graph.pb", "tf1/**/*.meta") for path in corpus.files(name)]
    return [SAMPLES / "small.pb", *found]


def texts() -> list[Path]:
    found = [
        path for name in ("tf1/**/graph.pbtxt", "xla/tf_graphs_auto/*.pbtxt") for path in corpus.files(name)
    ]
    return [SAMPLES / "small.pbtxt", *found]


def graph_of(data: bytes, name: str) -> Any:
    return (
        reference.MetaGraphDef.FromString(data).graph_def
        if name.endswith(".meta")
        else reference.GraphDef.FromString(data)
    )


def expected_of(message: Any) -> reference.Reading:
    into = reference.Reading()
    reference.add_graph(into, message, "graph")
    into.nodes_seen = len(message.node) + sum(len(function.node_def) for function in message.library.function)
    return into


@pytest.mark.parametrize("path", graphs(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_node_and_edge_is_as_tensorflow_reads_it(path: Path) -> None:
    data = path.read_bytes()
    message = graph_of(data, path.name)
    store = reference.decode(data, "graph")
    assert reference.reading(store) == expected_of(message)
    assert store.facts["events_stored"] == store.facts["events_seen"]
    assert not reference.flagged(store)
    assert [m.sniff(data[:HEAD_BYTES], "x") for m in (graph, run_metadata, event_file)] == [
        True,
        False,
        False,
    ]
    if not path.name.endswith(".meta"):
        twin = reference.decode(reference.to_text(message), "graph")
        assert reference.rows_of(twin) == reference.rows_of(store)


@pytest.mark.parametrize("path", texts(), ids=lambda path: path.name)
def test_text_as_tensorflow_wrote_it(path: Path) -> None:
    from google.protobuf import text_format

    data = path.read_bytes()
    message = text_format.Parse(data, reference.GraphDef())
    store = reference.decode(data, "graph")
    assert reference.reading(store) == expected_of(message)
    assert not reference.flagged(store)
    assert [m.sniff(data[:HEAD_BYTES], "x") for m in (graph, run_metadata, event_file)] == [
        True,
        False,
        False,
    ]
    binary = reference.decode(message.SerializeToString(), "graph")
    assert reference.rows_of(binary) == reference.rows_of(store)


def shape_of(shape: Any) -> Any:
    return None if shape.unknown_rank else [dim.size for dim in shape.dim]


def simple(value: Any) -> Any:
    """An attribute as the decoder shows it, for the kinds that are shown in full."""
    kind = value.WhichOneof("value")
    if kind == "s":
        try:
            return value.s.decode() if len(value.s) <= 1024 else {"bytes": len(value.s)}
        except UnicodeDecodeError:
            return {"bytes": len(value.s)}
    if kind == "type":
        return reference._dtype(value.type)
    if kind == "shape":
        return shape_of(value.shape)
    if kind == "list":
        items = [
            *(reference._dtype(one) for one in value.list.type), *(shape_of(one) for one in value.list.shape),
            *value.list.i, *(one.decode() for one in value.list.s), *value.list.b, *value.list.f,
        ]  # fmt: skip
        return items
    return None if kind is None else getattr(value, kind)


@pytest.mark.parametrize("path", graphs(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_attributes(path: Path) -> None:
    data = path.read_bytes()
    message = graph_of(data, path.name)
    rows = [row for row in reference.decode(data, "graph").rows("node") if row["graph"] == "graph"]
    compared = 0
    for node, row in zip(message.node, rows, strict=True):
        args = json.loads(row["args_json"] or "{}")
        debug = {name for name in ("original_node_names", "original_func_names") if name in args}
        assert set(args) - debug == set(node.attr)
        for key, value in node.attr.items():
            kind = value.WhichOneof("value")
            if kind == "tensor":
                from tensorflow.python.framework import tensor_util  # the sample has none

                shown = args[key]
                assert shown["dtype"] == reference._dtype(value.tensor.dtype)
                assert shown["shape"] == shape_of(value.tensor.tensor_shape)
                array = tensor_util.MakeNdarray(value.tensor)
                if array.dtype != object:
                    assert shown["bytes"] == array.nbytes
                    if "value" in shown and len(shown["value"]) == array.size:
                        assert np.array_equal(
                            np.array(shown["value"], array.dtype).ravel(),
                            array.ravel(),
                            equal_nan=array.dtype.kind == "f",
                        )
                        compared += 1
            elif kind == "f":
                assert np.float32(args[key]) == np.float32(value.f) or math.isnan(value.f)
            elif kind != "func":
                assert args[key] == simple(value)
    if len(message.node) > 100:
        assert compared > 10


def test_cut_and_flipped() -> None:
    data = (SAMPLES / "small.pb").read_bytes()
    whole = reference.reading(reference.decode(data, "graph"))

    def check(mutant: bytes, damaged_at: int) -> None:
        plain, meta = (
            reference.parse(mutant, reference.GraphDef),
            reference.parse(mutant, reference.MetaGraphDef),
        )
        accepted = [one for one in (plain, meta.graph_def if meta else None) if one is not None]
        try:
            store = reference.decode(mutant, "graph")
        except _core.CoreError as error:
            reference.refused(error)
            store = None
        if store is None:
            # Damaged in its first node, a graph may look like another message.
            assert plain is None or not plain.node or damaged_at < 90
            return
        facts = store.facts
        assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]
        if not reference.flagged(store):
            assert reference.reading(store) in [expected_of(message) for message in accepted]

    for end in range(len(data)):
        check(data[:end], end)
    chance = random.Random(7)
    for _ in range(cases(600, 3_000)):
        mutant = bytearray(data)
        at = chance.randrange(len(mutant))
        mutant[at] ^= 1 << chance.randrange(8)
        check(bytes(mutant), at)
    text = (SAMPLES / "small.pbtxt").read_bytes()
    for end in range(len(text)):
        try:
            store = reference.decode(text[:end], "graph")
        except _core.CoreError:
            continue
        assert not reference.reading(store).nodes - whole.nodes


def test_a_large_tensor_is_summed_up() -> None:
    message = reference.GraphDef()
    node = message.node.add(name="weights", op="Const")
    node.attr["value"].tensor.dtype = 1
    node.attr["value"].tensor.tensor_shape.dim.add(size=1_000_000)
    node.attr["value"].tensor.tensor_content = bytes(4_000_000)
    node.attr["bytes"].s = b"\xff\xfe"
    node.attr["long"].s = b"x" * 5000
    node.attr["many"].list.i.extend(range(1000))
    node.attr["nan"].f = math.nan
    (row,) = reference.decode(message.SerializeToString(), "graph").rows("node")
    args = json.loads(row["args_json"])
    assert args["value"] == {"dtype": "DT_FLOAT", "shape": [1_000_000], "bytes": 4_000_000}
    assert (args["bytes"], args["long"], args["nan"]) == ({"bytes": 2}, {"bytes": 5000}, "NaN")
    assert (args["many"]["length"], len(args["many"]["first"])) == (1000, 256)
    assert len(row["args_json"]) < 3000


def test_functions_have_arguments_and_results() -> None:
    message = reference.GraphDef()
    function = message.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="x", type=1)
    function.node_def.add(name="double", op="Mul", input=["x", "x"])
    function.node_def.add(name="print", op="Print", input=["double:z:0", "^double"])
    function.ret["y"] = "double:z:0"
    function.control_ret["done"] = "print"
    store = reference.decode(message.SerializeToString(), "graph")
    assert {(row["graph"], row["name"], row["op_type"]) for row in store.rows("node")} == {
        ("function/f", "x", "_Arg"), ("function/f", "double", "Mul"), ("function/f", "print", "Print"),
        ("function/f", "y", "_Retval"), ("function/f", "done", "_Retval"),
    }  # fmt: skip
    edges = {
        (row["producer"], row["producer_slot"], row["consumer"], row["consumer_slot"])
        for row in store.rows("edge")
    }
    assert edges == {
        ("x", 0, "double", 0), ("x", 0, "double", 1), ("double", 0, "print", 0), ("double", -1, "print", 1),
        ("double", 0, "y", 0), ("print", -1, "done", 0),
    }  # fmt: skip


@pytest.mark.parametrize(("dtype", "each"), [(3, 4), (103, 4), (29, 1), (33, 1), (20, None)])
def test_a_tensor_of_one_value_is_as_large_as_its_shape(dtype: int, each: int | None) -> None:
    """29 and 33 have less than a byte and take one; a reference has the size of what it refers to; 20 is a
    handle."""
    message = reference.GraphDef()
    tensor = message.node.add(name="same", op="Const").attr["value"].tensor
    tensor.dtype = dtype
    tensor.tensor_shape.dim.add(size=1000)
    tensor.int_val.append(7)
    (row,) = reference.decode(message.SerializeToString(), "graph").rows("node")
    assert json.loads(row["args_json"])["value"].get("bytes") == (each and 1000 * each)
