"""Operations of our own against TensorFlow's statistics, on shapes by chance; and formulas worked by hand."""

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from stepscope.cli import main
from stepscope.instruments import tfprof
from tests.instruments.test_tfprof_flops_by_hand import SIZES, flops
from tests.later import Later
from tests.tiers import cases

tf, v1 = Later("tensorflow"), Later("tensorflow.compat.v1")

UNARY = ("Reciprocal", "Square", "Rsqrt", "Log", "Neg", "L2Loss", "Softmax")
BINARY = (
    *("Add", "AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "Pow", "RsqrtGrad", "SquaredDifference"),
    *("GreaterEqual", "Greater", "LessEqual", "Less", "Equal", "NotEqual"),
)


def counts(
    graph: Any, tmp_path: Path, more: Sequence[Any] = (), *, add_shapes: bool = True
) -> tuple[_core.Tfprof, dict[str, int | None]]:
    """Our model of a graph, with its shapes or without, and TensorFlow's own count of each node."""
    from tensorflow.python.framework import ops
    from tensorflow.python.profiler.internal import flops_registry  # noqa: F401  it registers them

    path = tmp_path / "graph.pb"
    definition = graph.as_graph_def(add_shapes=add_shapes)
    definition.node.extend(more)
    path.write_bytes(definition.SerializeToString())
    model = _core.Tfprof()
    model.add_graph(_core.Input.file(str(path)))
    model.fill_flops()
    wanted: dict[str, int | None] = {}
    for op in graph.get_operations():
        try:
            found = ops.get_stats_for_node_def(graph, op.node_def, "flops").value
        except ValueError:  # a shape is missing
            found = None
        wanted[op.name] = None if found is None else int(found)
    return model, wanted


def placeholders(dice: random.Random) -> None:
    """One of each op that TensorFlow has statistics for."""
    side = dice.choice((1, 2, 5, 8))
    shape = [dice.choice((1, 3, 16)), side, dice.choice((4, 7))]
    x, y = v1.placeholder("float32", shape), v1.placeholder("float32", [1, side, 1])
    for op in UNARY:
        call(op, x)
    for op in BINARY:
        # Both of one shape where nothing is spread out over the other.
        call(op, x, x if op == "RsqrtGrad" else y)
    axis = tf.constant([dice.choice((0, 1, 2))])
    tf.raw_ops.Mean(input=x, axis=axis)
    tf.raw_ops.Sum(input=x, axis=axis, keep_dims=dice.choice((True, False)))
    tf.raw_ops.ArgMax(input=x, dimension=1)
    tf.raw_ops.ArgMin(input=x, dimension=2)
    tf.raw_ops.AddN(inputs=[x, x, x][: dice.choice((1, 2, 3))])
    rows, inner, columns = (dice.choice((1, 3, 8, 17)) for _ in range(3))
    for turn_a in (False, True):
        for turn_b in (False, True):
            a = v1.placeholder("float32", [inner, rows] if turn_a else [rows, inner])
            b = v1.placeholder("float32", [columns, inner] if turn_b else [inner, columns])
            tf.raw_ops.MatMul(a=a, b=b, transpose_a=turn_a, transpose_b=turn_b)
    a, b = v1.placeholder("float32", [5, rows, inner]), v1.placeholder("float32", [5, inner, columns])
    for op in (tf.raw_ops.BatchMatMul, tf.raw_ops.BatchMatMulV2):
        op(x=a, y=b)
    tf.raw_ops.BatchMatMulV3(x=a, y=b, Tout=tf.float32)
    images(dice)
    variable = v1.get_variable("variable", [3, 4], use_resource=False)
    v1.assign_add(variable, v1.placeholder("float32", [3, 4]))
    v1.assign_sub(variable, v1.placeholder("float32", [3, 4]))


def call(op: str, *inputs: Any) -> None:
    names = {1: ("x",), 2: ("x", "y")}[len(inputs)]
    names = {"L2Loss": ("t",), "Softmax": ("logits",), "RsqrtGrad": ("y", "dy")}.get(op, names)
    getattr(tf.raw_ops, op)(**dict(zip(names, inputs, strict=True)))


def images(dice: random.Random) -> None:
    depth, filters, window = (dice.choice((1, 2, 3, 5)) for _ in range(3))
    strides = [1, dice.choice((1, 2)), dice.choice((1, 2)), 1]
    padding = dice.choice(("SAME", "VALID"))
    image = v1.placeholder("float32", [dice.choice((1, 4)), 12, 15, depth])
    kernel = v1.placeholder("float32", [window, window, depth, filters])
    out = tf.raw_ops.Conv2D(input=image, filter=kernel, strides=strides, padding=padding)
    tf.raw_ops.Conv2DBackpropInput(
        input_sizes=image.shape.as_list(), filter=kernel, out_backprop=out, strides=strides, padding=padding
    )
    tf.raw_ops.Conv2DBackpropFilter(
        input=image, filter_sizes=kernel.shape.as_list(), out_backprop=out, strides=strides, padding=padding
    )
    tf.raw_ops.DepthwiseConv2dNative(input=image, filter=kernel, strides=[1, 1, 1, 1], padding=padding)
    tf.raw_ops.Dilation2D(
        input=image,
        filter=v1.placeholder("float32", [window, 2, depth]),
        strides=strides,
        rates=[1, 1, 1, 1],
        padding=padding,
    )
    tf.raw_ops.BiasAdd(value=out, bias=v1.placeholder("float32", [filters]))
    tf.raw_ops.BiasAddGrad(out_backprop=out)
    about = {"ksize": [1, window, 2, 1], "strides": strides, "padding": padding}
    pooled = tf.raw_ops.MaxPool(input=image, **about)
    tf.raw_ops.MaxPoolGrad(orig_input=image, orig_output=pooled, grad=pooled, **about)
    pooled = tf.raw_ops.AvgPool(value=image, **about)
    tf.raw_ops.AvgPoolGrad(orig_input_shape=image.shape.as_list(), grad=pooled, **about)
    volume = v1.placeholder("float32", [2, 6, 7, 8, depth])
    tf.raw_ops.Conv3D(
        input=volume,
        filter=v1.placeholder("float32", [2, window, 3, depth, filters]),
        strides=[1, 1, 2, 1, 1],
        padding="SAME",
    )


@pytest.mark.parametrize("add_shapes", [True, False])
@pytest.mark.parametrize("seed", range(cases(1, 12)))
def test_counts_are_those_of_tensorflow(seed: int, add_shapes: bool, tmp_path: Path) -> None:
    """Also where the graph was written without shapes: they follow from constants and inputs."""
    from tensorflow.python.framework import ops

    graph = tf.Graph()
    with graph.as_default():
        placeholders(random.Random(seed))
    model, wanted = counts(graph, tmp_path, add_shapes=add_shapes)
    registered = {key.partition(",")[0] for key in ops._stats_registry.list()}
    compared = set()
    for op in graph.get_operations():
        if op.type in registered:
            compared.add(op.type)
            assert model.flops(op.name) == wanted[op.name], (op.name, op.type)
    assert compared == registered


def recurrent_and_gradients() -> None:
    """What has no statistics: three steps of an LSTM, and gradients that cost what their forward op costs."""

    def tensor(*shape: int) -> Any:
        return v1.placeholder("float32", shape)

    tf.raw_ops.BlockLSTM(
        seq_len_max=tf.constant(3, tf.int64),
        x=tensor(3, 2, 5),
        cs_prev=tensor(2, 4),
        h_prev=tensor(2, 4),
        w=tensor(9, 16),
        wci=tensor(4),
        wcf=tensor(4),
        wco=tensor(4),
        b=tensor(16),
        name="lstm",
    )
    image, kernel, out = tensor(2, 4, 5, 6, 3), tensor(3, 3, 3, 3, 7), tensor(2, 4, 5, 6, 7)
    about: dict[str, Any] = {"strides": [1] * 5, "padding": "SAME"}
    tf.raw_ops.Conv3D(input=image, filter=kernel, name="volume", **about)
    tf.raw_ops.Conv3DBackpropInputV2(
        input_sizes=[2, 4, 5, 6, 3], filter=kernel, out_backprop=out, name="volume_input", **about
    )
    tf.raw_ops.Conv3DBackpropFilterV2(
        input=image, filter_sizes=[3, 3, 3, 3, 7], out_backprop=out, name="volume_filter", **about
    )
    about = {"strides": [1] * 4, "padding": "SAME"}
    tf.raw_ops.DepthwiseConv2dNativeBackpropInput(
        input_sizes=[2, 4, 5, 3],
        filter=tensor(3, 3, 3, 2),
        out_backprop=tensor(2, 4, 5, 6),
        name="depthwise_input",
        **about,
    )
    tf.raw_ops.DepthwiseConv2dNativeBackpropFilter(
        input=tensor(2, 4, 5, 3),
        filter_sizes=[3, 3, 3, 2],
        out_backprop=tensor(2, 4, 5, 6),
        name="depthwise_filter",
        **about,
    )


def test_what_tensorflow_does_not_count(tmp_path: Path) -> None:
    graph = tf.Graph()
    with graph.as_default():
        a, b = v1.placeholder("float32", [2, 3, 5]), v1.placeholder("float32", [2, 5, 7])
        tf.raw_ops.Einsum(inputs=[a, b], equation="bij,bjk->bik", name="einsum")
        tf.raw_ops.BatchMatMulV2(x=a, y=v1.placeholder("float32", [2, 3, 4]), adj_x=True, name="turned")
        image = v1.placeholder("float32", [2, 3, 8, 9])
        kernel = v1.placeholder("float32", [3, 3, 3, 4])
        tf.raw_ops.Conv2D(
            input=image, filter=kernel, strides=[1] * 4, padding="SAME", data_format="NCHW", name="nchw"
        )
        flat = v1.placeholder("float32", [4, 6], name="flat")
        v1.placeholder("float32", [6, 5], name="weights")
        v1.placeholder("float32", [5], name="bias")
        norm = v1.placeholder("float32", [4])
        tf.raw_ops.FusedBatchNormV3(
            x=v1.placeholder("float32", [2, 3, 3, 4]),
            scale=norm,
            offset=norm,
            mean=norm,
            variance=norm,
            name="norm",
        )
        tf.nn.relu(flat, name="relu")
        recurrent_and_gradients()
        tf.multiply(v1.placeholder("float32", [None, 3]), 2.0, name="open")
    # Python cannot call a fused op; rewrites of the graph make them.
    fused = v1.NodeDef(name="fused", op="_FusedMatMul", input=["flat", "weights", "bias"])
    fused.attr["fused_ops"].list.s.extend([b"BiasAdd", b"Relu"])
    for size in (4, 5):
        if not fused.attr["_output_shapes"].list.shape:
            fused.attr["_output_shapes"].list.shape.add()
        fused.attr["_output_shapes"].list.shape[0].dim.add(size=size)
    model, wanted = counts(graph, tmp_path, [fused])
    known = {
        "einsum": 2 * 2 * 3 * 5 * 7,
        "turned": 2 * 3 * (2 * 5 * 4),
        "nchw": 2 * (2 * 4 * 8 * 9) * 9 * 3,
        "fused": 2 * 6 * (4 * 5) + 2 * (4 * 5),
        "norm": 8 * (2 * 3 * 3 * 4),
        "relu": 24,
        "lstm": 3 * 2 * (2 * 9 * 16 + 2 * 16 + 6 * 4),
        "volume": (forward := 2 * (2 * 4 * 5 * 6 * 7) * 27 * 3),
        "volume_input": forward,
        "volume_filter": forward,
        "depthwise_input": (forward := 2 * (2 * 4 * 5 * 6) * 9),
        "depthwise_filter": forward,
        "open": 0,
    }
    assert {name: model.flops(name) for name in known} == known
    assert wanted["nchw"] == known["nchw"]


def test_steps_complete_shapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, step = tmp_path / "graph.pbtxt", tmp_path / "step.pbtxt"
    graph.write_text(
        'node { name: "x" op: "Placeholder" }\n'
        'node { name: "w" op: "VarHandleOp" attr { key: "shape" value { shape { dim { size: 4 }'
        " dim { size: 5 } } } } }\n"
        'node { name: "read" op: "ReadVariableOp" input: "w" }\n'
        'node { name: "mm" op: "_MklMatMul" input: "x" input: "read" }\n'
    )

    def row(name: str, *dims: int) -> str:
        shape = " ".join(f"dim {{ size: {dim} }}" for dim in dims)
        return (
            f'node_stats {{ node_name: "{name}" all_start_micros: 1 op_end_rel_micros: 1'
            f" output {{ tensor_description {{ shape {{ {shape} }} }} }} }}"
        )

    step.write_text(
        f'step_stats {{ dev_stats {{ device: "/device:CPU:0" {row("x", 3, 4)} {row("mm", 3, 5)} }} }}'
    )
    line = ["tfprof", "scope", f"-graph_path={graph}", f"-run_meta_path={step}", "-select", "float_ops"]
    assert main(line) == 0
    assert "mm (0/0 flops)" in capsys.readouterr().out
    assert main([*line, "-flops", "own"]) == 0
    assert "mm (120/120 flops)" in capsys.readouterr().out
    assert main([*line[:3], *line[4:], "-flops=own"]) == 0
    captured = capsys.readouterr()
    assert "mm (0/0 flops)" in captured.out
    assert "1 have no complete shape" in captured.err


def test_the_list_of_options_is_complete() -> None:
    listed = [line.split()[0].lstrip("-") for line in _core.TfprofOptions().list().splitlines()]
    assert list(tfprof.names()) == listed


def test_the_documentation_lists_every_option() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/how-to/tfprof.md").read_text(encoding="utf-8")
    for one in tfprof.options():
        default = f"`{one.default}`" if one.default else "none"
        assert f"| `-{one.name}` | {default} | {one.meaning} |" in page
    for column, meaning in tfprof.columns().items():
        assert "| `{}` | {} |".format(column, meaning.replace("|", "\\|")) in page


# --- all ops of TensorFlow ------------------------------------------------------------------------

OPTIMISERS = {
    "GradientDescent": (2, 2), "ProximalGradientDescent": (4, 8), "Momentum": (3, 4), "Adagrad": (3, 7),
    "AdagradV2": (4, 7), "AdagradDA": (3, 12), "ProximalAdagrad": (5, 16), "Adadelta": (6, 17),
    "Adam": (9, 12), "AdaMax": (8, 10), "RMSProp": (7, 11), "CenteredRMSProp": (8, 16), "Ftrl": (3, 17),
    "FtrlV2": (3, 19), "AddSign": (6, 11), "PowerSign": (6, 11),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(cases(1, 4)))
def test_optimisers_find_their_gradient(seed: int, tmp_path: Path) -> None:
    """The gradient's place is that of TensorFlow's own definitions, in every form of the op."""
    from tensorflow.python.framework import op_def_registry

    dice = random.Random(seed)
    shape = [dice.choice(SIZES) for _ in range(3)]
    seen = 0
    for name, (place, each) in OPTIMISERS.items():
        for form in ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"):
            op = op_def_registry.get(form + name)
            if op is None:
                continue
            seen += 1
            names = [one.name for one in op.input_arg]
            assert names[place] in ("grad", "delta"), (op.name, names)
            inputs = [shape if one == names[place] else [] for one in names]
            assert flops(tmp_path, op.name, inputs) == each * math.prod(shape), op.name
    assert seen > 50
    about: dict[str, Any] = {"use_nesterov": True}
    assert flops(tmp_path, "ResourceApplyMomentum", [[], [], [], shape, []], **about) == 7 * math.prod(shape)
    inputs = [[]] * 10 + [shape]
    assert flops(tmp_path, "ResourceApplyAdamWithAmsgrad", inputs) == 13 * math.prod(shape)


def test_every_op_of_tensorflow_is_sorted() -> None:
    """With a formula, without arithmetic, or named here: an op that is forgotten fails."""
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.client import pywrap_tf_session
    from tensorflow.python.framework import ops
    from tensorflow.python.profiler.internal import flops_registry  # noqa: F401  it registers them

    everything = op_def_pb2.OpList()
    everything.ParseFromString(pywrap_tf_session.TF_GetBuffer(pywrap_tf_session.TF_GetAllOpList()))
    kinds = {op.name: _core.Tfprof.arithmetic(op.name) for op in everything.op}
    registered = {key.partition(",")[0] for key in ops._stats_registry.list()}
    assert {kinds[op] for op in registered} == {"counted"}
    for op in ("While", "PartitionedCall", "XlaCustomCall", "XlaCallModule", "CTCLoss", "FFT2D", "Svd"):
        assert kinds[op] == "unknown", op
    for op in ("Reshape", "GatherV2", "TensorListStack", "RandomUniform", "TopKV2", "Cast"):
        assert kinds[op] == "none", op
    assert sum(kind == "counted" for kind in kinds.values()) > 500
