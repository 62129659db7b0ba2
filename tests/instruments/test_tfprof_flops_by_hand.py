"""Operations of ops without statistics in TensorFlow: by hand, or from ops that have them."""

import math
import random
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from stepscope.formats.models.place import ModelPlace
from tests.later import proto
from tests.tiers import cases

graph_pb2, node_def_pb2 = proto("core.framework.graph_pb2"), proto("core.framework.node_def_pb2")
INT32 = 3
"""Its number in TensorFlow."""


def node(name: str, op: str, inputs: Sequence[str], output: Sequence[int] | None, **attrs: Any) -> Any:
    """A node that need not be valid: what rewrites of the graph make cannot be called from Python."""
    made = node_def_pb2.NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        attr = made.attr[key]
        match value:
            case bool():
                attr.b = value
            case int():
                attr.i = value
            case bytes():
                attr.s = value
            case str():
                attr.s = value.encode()
            case [str(), *_]:
                attr.list.s.extend(part.encode() for part in value)
            case _:
                attr.list.i.extend(value)
    if output is not None:
        shape = made.attr["_output_shapes"].list.shape.add()
        for size in output:
            shape.dim.add(size=size)
    return made


def flops(
    tmp_path: Path,
    op: str,
    inputs: Sequence[Sequence[int] | list[Any]],
    output: Sequence[int] | None = None,
    *,
    constants: dict[int, list[int]] | None = None,
    **attrs: Any,
) -> int | None:
    """What we count for one op of these inputs."""
    graph = graph_pb2.GraphDef()
    for place, shape in enumerate(inputs):
        if constants and place in constants:
            value = graph.node.add(name=f"in{place}", op="Const").attr["value"].tensor
            value.dtype, value.tensor_content = (
                INT32,
                struct.pack(f"<{len(constants[place])}i", *constants[place]),
            )
            value.tensor_shape.dim.add(size=len(constants[place]))
        else:
            graph.node.append(node(f"in{place}", "Placeholder", (), shape))
    graph.node.append(node("op", op, [f"in{place}" for place in range(len(inputs))], output, **attrs))
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    model = _core.Tfprof()
    model.add_graph(_core.Input.file(str(path)))
    counted, unknown, without, _ = model.fill_flops()
    assert not without, without
    assert counted + unknown == 1
    return model.flops("op") if counted else None


SIZES = (1, 2, 3, 5, 8)


@pytest.fixture(params=range(cases(1, 4)))
def dice(request: pytest.FixtureRequest) -> random.Random:
    return random.Random(request.param)


@pytest.fixture
def size(dice: random.Random) -> Callable[[], int]:
    return lambda: dice.choice(SIZES)


def test_renamed_convolutions_are_convolutions(tmp_path: Path, size: Callable[[], int]) -> None:
    batch, height, width, depth, filters, window = (size() for _ in range(6))
    image, kernel = [batch, height, width, depth], [window, window + 1, depth, filters]
    out = [batch, height, width, filters]
    elements = math.prod(out)
    plain = 2 * elements * window * (window + 1) * depth
    for op in (
        "Conv2D",
        "_MklConv2D",
        "_MklNativeConv2D",
        "QuantizedConv2D",
        "_MklQuantizedConv2DPerChannel",
    ):
        assert flops(tmp_path, op, [image, kernel], out) == plain, op
    for op, more in (
        ("_MklNativeConv2DWithBias", 1),
        ("QuantizedConv2DWithBias", 1),
        ("QuantizedConv2DAndRelu", 1),
        ("_MklQuantizedConv2DWithBiasAndReluAndRequantize", 2),
        ("QuantizedConv2DWithBiasSumAndRelu", 3),
    ):
        assert flops(tmp_path, op, [image, kernel, [filters]], out) == plain + more * elements, op
    for fused, more in (
        (["BiasAdd"], 1),
        (["BiasAdd", "Relu"], 2),
        (["FusedBatchNorm", "LeakyRelu"], 5),
        (["BiasAdd", "Add", "Elu"], 3),
        (["BiasAdd", "_MklSwish"], 3),
        (["BiasAdd", "Requantize"], 1),
    ):
        for op in ("_FusedConv2D", "_MklFusedConv2D", "_MklNativeFusedConv2D", "_FusedQuantizedConv2D"):
            got = flops(tmp_path, op, [image, kernel, [filters]], out, fused_ops=fused)
            assert got == plain + more * elements, (op, fused)
    # Where the filter is not the second input.
    assert flops(tmp_path, "FusedPadConv2D", [image, [4, 2], kernel], out) == plain
    assert flops(tmp_path, "FusedResizeAndPadConv2D", [image, [2], [4, 2], kernel], out) == plain
    assert flops(tmp_path, "_MklNativePadWithConv2D", [image, kernel, [4, 2]], out) == plain
    # Of one channel of a group, as many as the filter has.
    assert flops(tmp_path, "Conv", [[batch, height, width, 3 * depth], kernel], out, groups=3) == plain
    depthwise = [batch, height, width, depth * filters]
    wanted = 2 * math.prod(depthwise) * window * (window + 1)
    for op in ("DepthwiseConv2dNative", "_MklNativeDepthwiseConv2dNative", "QuantizedDepthwiseConv2D"):
        assert flops(tmp_path, op, [image, kernel], depthwise) == wanted, op
    assert flops(tmp_path, "Dilation2DBackpropInput", [image, [*kernel[:2], depth], image], image) == (
        math.prod(image) * (2 * window * (window + 1) + 1)
    )
    gradient = {"strides": [1, 1, 1, 1]}
    wanted = flops(tmp_path, "Conv2DBackpropFilter", [image, [4], out], kernel, **gradient)
    assert wanted == 2 * math.prod(image) * math.prod(kernel) // depth
    found = flops(tmp_path, "_MklConv2DBackpropFilterWithBias", [image, [4], out], kernel, **gradient)
    assert found == wanted + elements - filters


def test_products_of_matrices(tmp_path: Path, size: Callable[[], int]) -> None:
    batch, rows, inner, columns = (size() for _ in range(4))
    a, b, out = [rows, inner], [inner, columns], [rows, columns]
    plain = 2 * rows * inner * columns
    for op in (
        *("MatMul", "SparseMatMul", "_MklMatMul", "_MklNativeFusedMatMul", "RiscDot", "UniformQuantizedDot"),
        *("QuantizedMatMul", "_QuantizedMatMul"),
    ):
        assert flops(tmp_path, op, [a, b], out) == plain, op
        assert flops(tmp_path, op, [a[::-1], b], out, transpose_a=True) == plain, op
    assert (
        flops(tmp_path, "QuantizedMatMulWithBiasAndRelu", [a, b, [columns]], out)
        == plain + 2 * rows * columns
    )
    fused = {"fused_ops": ["BiasAdd", "GeluApproximate"]}
    assert flops(tmp_path, "_FusedMatMul", [a, b, [columns]], out, **fused) == plain + 9 * rows * columns
    many = [[batch, *a], [batch, *b]]
    for op in ("BatchMatMulV3", "_MklBatchMatMulV2", "_MklNativeBatchMatMulV2"):
        assert flops(tmp_path, op, many, [batch, *out]) == batch * plain, op
    fused = {"fused_ops": ["Mul", "Add"]}
    found = flops(tmp_path, "_MklFusedBatchMatMulV2", many, [batch, *out], **fused)
    assert found == batch * (plain + 2 * rows * columns)
    for op in ("Einsum", "_MklEinsum", "XlaEinsum"):
        assert flops(tmp_path, op, many, [batch, *out], equation="bij,bjk->bik") == batch * plain
    # lhs_contracting 2, rhs_contracting 1, both batches 0
    numbers = bytes([0x0A, 1, 2, 0x12, 1, 1, 0x1A, 1, 0, 0x22, 1, 0])
    assert flops(tmp_path, "XlaDotV2", many, [batch, *out], dimension_numbers=numbers) == batch * plain
    stored = [[columns + 3, 2], [columns + 3], [2], b]
    assert flops(tmp_path, "SparseTensorDenseMatMul", stored, out) == 2 * (columns + 3) * columns


def test_convolutions_by_dimension_numbers(tmp_path: Path, size: Callable[[], int]) -> None:
    window, depth, filters, batch = (size() for _ in range(4))
    out, kernel = [batch, 4, 4, filters], [window, window, depth, filters]
    wanted = 2 * math.prod(out) * window * window * depth
    # kernel_output_feature_dimension is the fourth field of XLA's message and the fifth of the other's.
    found = flops(
        tmp_path, "XlaConvV2", [[batch, 4, 4, depth], kernel], out, dimension_numbers=bytes([0x20, 3])
    )
    assert found == wanted
    found = flops(
        tmp_path,
        "UniformQuantizedConvolution",
        [[batch, depth, 4, 4], [filters, depth, window, window]],
        [batch, filters, 4, 4],
        dimension_numbers=b"",
    )
    assert found == wanted


def test_attention_is_two_products_and_a_softmax(tmp_path: Path, size: Callable[[], int]) -> None:
    batch, heads, targets, sources, depth, values = (size() for _ in range(6))
    queries, keys = [batch, heads, targets, depth], [batch, heads, sources, depth]
    held, out = [batch, heads, sources, values], [batch, heads, targets, values]
    scores = [batch, heads, targets, sources]
    parts = [
        flops(tmp_path, "BatchMatMulV2", [queries, keys], scores, adj_y=True),
        flops(tmp_path, "Softmax", [scores], scores),
        flops(tmp_path, "BatchMatMulV2", [scores, held], out),
    ]
    found = flops(tmp_path, "ScaledDotProductAttention", [queries, keys, held], out)
    assert found == sum(part or 0 for part in parts)


def test_normalisations(tmp_path: Path, size: Callable[[], int]) -> None:
    shape = [size(), size(), size(), depth := size()]
    elements, one = math.prod(shape), [depth]
    inputs = [shape, one, one, one, one]
    for op in ("FusedBatchNorm", "FusedBatchNormV3", "_MklNativeFusedBatchNormV2", "_FusedBatchNormEx"):
        assert flops(tmp_path, op, inputs, shape) == 8 * elements, op
        assert flops(tmp_path, op, inputs, shape, is_training=False) == 4 * elements, op
    found = flops(
        tmp_path, "_FusedBatchNormEx", [*inputs, shape], shape, activation_mode="Relu", num_side_inputs=1
    )
    assert found == 10 * elements
    for op in ("FusedBatchNormGradV3", "_MklFusedBatchNormGradV2"):
        assert flops(tmp_path, op, [shape, shape, one], shape) == 11 * elements
        assert flops(tmp_path, op, [shape, shape, one], shape, is_training=False) == 7 * elements
    assert flops(tmp_path, "_MklLayerNorm", [shape, one, one], shape) == 8 * elements
    assert (
        flops(tmp_path, "_MklFusedInstanceNorm", [shape, one, one], shape, fused_ops=["Relu"]) == 9 * elements
    )
    assert flops(tmp_path, "LRN", [shape], shape, depth_radius=2) == 9 * elements


def test_recurrent_layers(tmp_path: Path, size: Callable[[], int]) -> None:
    time, batch, inputs, units = (size() for _ in range(4))
    weights = [inputs + units, 4 * units]
    cell = [batch, units]
    product = 2 * batch * weights[0] * weights[1]
    x, each = [time, batch, inputs], batch * units
    block = [[], x, cell, cell, weights]
    assert flops(tmp_path, "BlockLSTM", block, x) == time * (product + 14 * each)
    assert flops(tmp_path, "BlockLSTMV2", block, x) == time * (product + 13 * each)
    assert flops(tmp_path, "BlockLSTMV2", block, x, use_peephole=True) == time * (product + 19 * each)
    assert flops(tmp_path, "BlockLSTMGradV2", block, x) == 2 * time * (product + 13 * each)
    assert (
        flops(tmp_path, "LSTMBlockCell", [[batch, inputs], cell, cell, weights], cell) == product + 14 * each
    )
    assert flops(tmp_path, "LSTMBlockCellGrad", [[batch, inputs], cell], cell) == 22 * each
    gates, candidate = [inputs + units, 2 * units], [inputs + units, units]
    gru = 2 * batch * (math.prod(gates) + math.prod(candidate))
    held = [[batch, inputs], cell, gates, candidate]
    assert flops(tmp_path, "GRUBlockCell", held, cell) == gru + 11 * each
    assert flops(tmp_path, "GRUBlockCellGrad", held, cell) == gru + 18 * each + batch * inputs


def test_cudnn_layers(tmp_path: Path, size: Callable[[], int]) -> None:
    time, batch, inputs, units, layers = (size() for _ in range(5))
    for mode, gates, own in (("lstm", 4, 17), ("gru", 3, 14), ("rnn_tanh", 1, 3)):
        for direction, ways in (("unidirectional", 1), ("bidirectional", 2)):

            def layer(width: int, gates: int = gates, own: int = own, ways: int = ways) -> int:
                return ways * (2 * gates * units * (width + units) + own * units)

            wanted = time * batch * (layer(inputs) + (layers - 1) * layer(ways * units))
            state = [layers * ways, batch, units]
            shapes = [[time, batch, inputs], state, state, [99]]
            about = {"rnn_mode": mode, "direction": direction}
            for op in ("CudnnRNN", "CudnnRNNV2", "CudnnRNNV3"):
                assert flops(tmp_path, op, shapes, None, **about) == wanted, (op, mode, direction)
            assert flops(tmp_path, "CudnnRNNBackpropV3", shapes, None, **about) == 2 * wanted
    projected = max(1, units - 1)
    shapes = [[time, batch, inputs], [1, batch, projected], [1, batch, units], [99]]
    weights = 4 * units * (inputs + projected) + units * projected
    found = flops(tmp_path, "CudnnRNNV3", shapes, None, rnn_mode="lstm", num_proj=projected)
    assert found == time * batch * (2 * weights + 17 * units)


def test_windows_from_constants(tmp_path: Path, size: Callable[[], int]) -> None:
    shape = [size(), size(), size(), size()]
    constants = {1: [1, 2, 3, 1], 2: [1, 1, 1, 1]}
    assert flops(tmp_path, "MaxPoolV2", [shape, [4], [4]], shape, constants=constants) == 6 * math.prod(shape)
    assert flops(tmp_path, "MaxPoolV2", [shape, [4], [4]], shape) is None
    constants = {3: [1, 2, 3, 1], 4: [1, 1, 1, 1]}
    inputs = [shape, shape, shape, [4], [4]]
    assert flops(tmp_path, "MaxPoolGradV2", inputs, shape, constants=constants) == 7 * math.prod(shape)


def test_segments_and_scatters(tmp_path: Path, size: Callable[[], int]) -> None:
    rows, columns, taken = size(), size(), size()
    data, out = [rows, columns], [3, columns]
    assert flops(tmp_path, "UnsortedSegmentSum", [data, [rows], []], out) == rows * columns
    assert flops(tmp_path, "SparseSegmentMean", [data, [taken], [taken]], out) == (taken + 3) * columns
    segments = [[3, columns], [taken], [taken], []]
    assert flops(tmp_path, "SparseSegmentSumGrad", segments, data) == taken * columns
    assert flops(tmp_path, "SparseSegmentMeanGrad", segments, data) == 2 * taken * columns
    assert flops(tmp_path, "ResourceScatterAdd", [[], [taken], [taken, columns]]) == taken * columns
    found = flops(tmp_path, "_UnaryOpsComposition", [data], data, op_names=["Rsqrt", "Tanh"])
    assert found == 3 * rows * columns


def test_ops_without_a_formula_are_said(tmp_path: Path) -> None:
    from stepscope.instruments import tfprof

    graph = graph_pb2.GraphDef()
    graph.node.append(node("x", "Placeholder", (), [2, 3]))
    graph.node.append(node("a", "MyOwnOp", ["x"], [2, 3]))
    graph.node.append(node("b", "MyOwnOp", ["x"], [2, 3]))
    graph.node.append(node("c", "XlaCustomCall", ["x"], [2, 3], target_name="__cudnn$fmhaSoftmax"))
    graph.node.append(node("d", "Relu", ["open"], None))
    path = tmp_path / "graph.pb"
    path.write_bytes(graph.SerializeToString())
    notes = tfprof.TfprofModel(ModelPlace.of_file(str(path)), own_flops=True).notes
    assert notes[-1:] == [
        "floating point operations of stepscope's own for 0 nodes; 1 have no complete shape and count none; "
        "3 of ops without a formula count none: MyOwnOp, XlaCustomCall"
    ]
