"""What computes longest: what SQL adds up is what looking at every op says."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.engines import Statement
from stepscope.instruments.causes import query_cache
from stepscope.instruments.causes.layers import forward_of, is_gradient, layer_of
from stepscope.instruments.causes.query_cache import QueryCache
from stepscope.instruments.causes.top_op import (
    TopLayer,
    TopOp,
    top_layer_of,
    top_line_of,
    top_op_of,
    top_op_or_copies,
    top_op_or_eager,
)
from tests.fakes import FakeResult
from tests.tiers import cases

CONNECTION = duckdb.connect()
CONNECTION.execute(
    "CREATE TABLE _computing_op (run_id VARCHAR, host_id VARCHAR, place VARCHAR, op_type VARCHAR, "
    "op_name VARCHAR, name VARCHAR, class VARCHAR, kind_ps BIGINT, slices BIGINT)"
)


class Op(NamedTuple):
    """A row of the view, as one host has it."""

    place: str
    op_type: str | None
    op_name: str | None
    name: str
    kind: str
    own_ps: int
    runs: int


def asked(statement: Statement) -> FakeResult:
    """What the statement finds."""
    return FakeResult(CONNECTION.execute(statement.sql))


def top(ops: Sequence[Op], line_of: Mapping[str, str], host: str = "a") -> tuple[TopOp, TopLayer]:
    """Of a host that has these ops; another one has all of them twice as long."""
    CONNECTION.execute("DELETE FROM _computing_op")
    rows: list[tuple[Any, ...]] = [("r", "a", *op) for op in ops]
    rows += [("r", "b", *op._replace(own_ps=2 * op.own_ps)) for op in ops]
    if rows:
        CONNECTION.executemany("INSERT INTO _computing_op VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    cache = QueryCache(asked)
    ask, called = cache.host_query("r", host), partial(cache.ops_called_as_layers, "r", host)
    return top_op_of(ask), top_layer_of(ask, called, line_of)


def op_by_op(ops: Sequence[Op], line_of: Mapping[str, str]) -> tuple[TopOp, TopLayer]:
    """The same in plain Python."""
    on_device = any(op.place == "device" and op.own_ps for op in ops)
    busy = [op for op in ops if op.place == ("device" if on_device else "host") and op.own_ps]
    if not busy:
        return TopOp(), TopLayer()
    types: Counter[str] = Counter()
    for op in busy:
        types[op.op_type or op.op_name or op.name] += op.own_ps
    most = max(types, key=lambda name: (types[name], name))
    inside: Counter[str] = Counter()
    layers: Counter[str] = Counter()
    names = {op.op_name for op in ops} | line_of.keys()
    for op in busy:
        if (op.op_type or op.op_name or op.name) == most:
            inside[op.op_name or op.name] += op.own_ps
        if op.op_name and (layer := layer_of(op.op_name)):
            layers[layer.rpartition("/")[0] if layer in names else layer] += op.own_ps
    del layers[""]
    if not layers:
        for op in busy:
            called = op.op_name or op.name
            if made := line_of.get(forward_of(called) or "" if is_gradient(called) else called):
                layers[made] += op.own_ps
    whole = sum(types.values())
    launched = [(op.op_type or op.op_name or op.name, op.runs) for op in ops if op.place == "device"]
    found = TopOp(
        max(inside, key=lambda name: (inside[name], name)),
        most,
        types[most] / whole,
        sum(runs for kind, runs in launched if kind == most) / sum(runs for _, runs in launched)
        if on_device
        else 0.0,
        on_device,
        "matmul" in most.lower(),
        types[most],
        whole,
    )
    if len(layers) <= 1:
        return found, TopLayer()
    layer = max(layers, key=lambda name: (layers[name], name))
    return found, TopLayer(layer, layers[layer] / whole)


PARTS = st.lists(st.sampled_from(["a", "b_grad", "Mat", "gradients", "", "c"]), min_size=1, max_size=4)
NAMES = PARTS.map("/".join)
OPS = st.lists(
    st.builds(
        Op,
        st.sampled_from(["host", "device"]),
        st.none() | st.sampled_from(["", "MatMul", "Add"]),
        st.none() | NAMES,
        st.sampled_from(["x", "a", "a/Mat"]),
        st.sampled_from(["compute", "python"]),
        st.integers(0, 3),
        st.integers(1, 3),
    ),
    max_size=12,
)


@pytest.mark.repeats("a twin looks at every op")
@settings(max_examples=cases(20, 60), deadline=None)
@given(OPS, st.dictionaries(NAMES, st.sampled_from(["p.py:1", "p.py:2"]), max_size=3))
def test_it_is_what_looking_at_every_op_says(ops: list[Op], line_of: dict[str, str]) -> None:
    assert top(ops, line_of) == op_by_op(ops, line_of)
    doubled = [op._replace(own_ps=2 * op.own_ps) for op in ops]
    assert top(ops, line_of, "b") == op_by_op(doubled, line_of)


@settings(max_examples=cases(8, 20), deadline=None)
@given(OPS)
def test_more_layers_than_a_statement_lists(ops: list[Op]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(query_cache, "_MOST_NAMES", 0)
        assert top(ops, {}) == op_by_op(ops, {})


def test_instructions_without_scopes_are_told_apart_by_their_lines() -> None:
    """XLA names a chain of products like every other product."""
    ops = [Op("host", "ynn_fusion", f"ynn_fusion.{n}", f"ynn_fusion.{n}", "compute", 20, 1) for n in range(4)]
    ops += [
        Op("host", "dot", "dot.1", "dot.1", "compute", 15, 1),
        Op("host", "dot", "dot.2", "dot.2", "compute", 5, 1),
    ]
    lines = {f"ynn_fusion.{n}": "p.py:16" for n in range(4)} | {"dot.1": "p.py:16", "dot.2": "p.py:30"}
    found, layer = top(ops, lines)
    assert (found.op_type, found.share, layer.share, found.launched) == ("ynn_fusion", 0.8, 0.95, 0.0)
    assert top(ops, {})[1].share is None
    assert top(ops, {"dot.1": "p.py:16"})[1].share is None
    scoped = [
        Op("host", "MatMul", "a/MatMul", "x", "compute", 60, 1),
        Op("host", "MatMul", "b/MatMul", "x", "compute", 40, 1),
    ]
    assert top(scoped, {"a/MatMul": "p.py:1"})[1].share == 0.6
    on_device = [Op("device", "svd", None, f"k{n}", "compute", 20 - n, 30) for n in range(3)]
    on_device += [
        Op("device", "gemm", None, "gemm", "compute", 30, 10),
        Op("host", "svd", "a", "a", "compute", 9, 7),
    ]
    found, _ = top(on_device, {})
    assert (found.op, found.op_type, found.share, found.launched) == ("k0", "svd", 57 / 87, 0.9)


@pytest.mark.parametrize(
    ("op_type", "is_product"),
    [
        ("MatMul", True),
        ("_FusedMatMul", True),
        ("Conv2DBackpropFilter", True),
        ("aten::addmm", True),
        ("aten::convolution_backward", True),
        ("aten::linear", True),
        ("dot_general", True),
        ("convert_element_type", False),
        ("aten::sum", False),
        ("Sum", False),
    ],
)
def test_products_are_told_by_their_type(op_type: str, is_product: bool) -> None:
    assert top([Op("host", op_type, None, "x", "compute", 7, 1)], {})[0].is_product == is_product


def test_what_copies_within_ops_is_part_of_their_time() -> None:
    computes = TopOp("aten::bmm", "aten::bmm", 0.3, is_product=True, own_ps=30, all_own_ps=100)
    copies = [("aten::copy_", "aten::copy_", 80), ("aten::_to_copy", "aten::_to_copy", 1)]
    assert top_op_or_copies(computes, copies, 180) == TopOp("aten::copy_", "aten::copy_", 80 / 180)
    # Most of it copies by itself, beside the ops.
    assert top_op_or_copies(computes, copies, 120) == computes._replace(share=30 / 120)
    assert top_op_or_copies(computes, [], 180) == computes._replace(share=30 / 180)
    assert top_op_or_copies(computes, copies, 90) == computes
    assert top_op_or_copies(TopOp(), copies, 180) == TopOp()


def test_a_line_has_the_ops_that_it_made_and_their_gradients() -> None:
    """Whatever scopes they are in: a loss of the framework makes several."""
    names = ("SSIM/a", "SSIM/b", "gradient_tape/SSIM/a/Grad", "net/dense/c")
    ops = [Op("host", "Conv", name, name, "compute", 20, 1) for name in names]
    CONNECTION.execute("DELETE FROM _computing_op")
    CONNECTION.executemany(
        "INSERT INTO _computing_op VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [("r", "a", *op) for op in ops]
    )
    ask = QueryCache(asked).host_query("r", "a")
    loss, net = "losses.py:9", "train.py:16"
    assert top_line_of(ask, {"SSIM/a": loss, "SSIM/b": loss, "net/dense/c": net}) == (loss, 0.75, True)
    # What a metric computes has no gradients.
    lines = {"SSIM/b": loss, "net/dense/c": net, "gradient_tape/SSIM/a/Grad": net}
    assert top_line_of(ask, lines) == (net, 0.25, False)
    # One call, as of fit, makes all there is.
    assert top_line_of(ask, {"SSIM/a": net, "SSIM/b": net, "net/dense/c": net}) is None


def test_an_op_that_is_called_alone_may_compute_longest() -> None:
    """TensorFlow computes such an op within its call, and the only ops with slices are those of functions."""
    ms = 10**9
    gather = TopOp("Gather", "ResourceGather", 0.95, own_ps=6 * ms, all_own_ps=7 * ms)

    def call(op: str, number: int, took_ps: int, is_product: int = 0) -> tuple[str, str, int, int, int]:
        return f"EagerLocalExecute: {op}", op, is_product, number, took_ps

    rows = [
        call("LookupTableImportV2", 30, 193 * ms),
        call("__inference_pool_7", 30, 900 * ms),  # its ops are there by themselves
        call("_EagerConst", 60, 500 * ms),  # copies
        call("MakeIterator", 10, 600 * ms),  # input
        call("Mul", 5000, 400 * ms),  # each too short to compute much
    ]
    found = top_op_or_eager(gather, rows)
    assert (found.op, found.op_type, found.is_product) == ("LookupTableImportV2",) * 2 + (False,)
    assert (found.own_ps, found.all_own_ps, found.share) == (193 * ms, 200 * ms, 0.965)
    few = top_op_or_eager(gather, [call("MatMul", 1, 5 * ms, 1)])
    assert few == gather._replace(share=0.5, all_own_ps=12 * ms)
    assert top_op_or_eager(TopOp(), [call("MatMul", 1, 5 * ms, 1)]).is_product
    assert top_op_or_eager(gather, rows[1:]) == gather
