"""Writes a TensorFlow 1 model of any size for benchmarks: graph, step, op log. The same seed, the same bytes.

    python benchmarks/generate_graph.py FOLDER --nodes 200000

A training graph as TensorFlow writes one: towers of units, each unit with its variables (initial values,
assignments, slots of an optimizer), forward ops, gradients and updates. TensorFlow can import it, and so
shapes and types agree. FOLDER gets graph.pb (or graph.pbtxt with --text), run_meta.pb (every op that trains,
on its accelerator and among its kernels) and tfprof_log. Plain bytes, no protobuf library.
"""

from __future__ import annotations

import argparse
import random
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from generate_xspace import nested, number

BATCH = 32
WIDTHS = (64, 128, 256)
UNITS = 60
"""Units of a tower: how deep the graph is."""
NODES_OF_A_UNIT = 43
"""At most."""
START_MICROS = 1_795_000_000_000_000


@dataclass(frozen=True)
class Attr:
    """The value of an attribute, binary and as text."""

    binary: bytes
    text: str


@dataclass(frozen=True)
class Node:
    """A node; `runs` is what it takes in the step, in microseconds, with the shape of its output."""

    name: str
    op: str
    inputs: tuple[str, ...]
    attrs: dict[str, Attr]
    shape: tuple[int, ...] = ()
    runs: int = 0
    flops: int = 0
    trains: bool = False


FLOAT, INT32 = 1, 3
TYPE_NAMES = {FLOAT: "DT_FLOAT", INT32: "DT_INT32"}


@cache
def kind(number_: int) -> Attr:
    """A type."""
    return Attr(number(6, number_), f"type: {TYPE_NAMES[number_]}")


def _dims(shape: Sequence[int]) -> tuple[bytes, str]:
    binary = b"".join(nested(2, number(1, dim)) for dim in shape)
    return binary, " ".join(f"dim {{ size: {dim} }}" for dim in shape)


@cache
def shape_of(shape: tuple[int, ...]) -> Attr:
    """A shape."""
    binary, text = _dims(shape)
    return Attr(nested(7, binary), f"shape {{ {text} }}")


@cache
def shapes_of(shape: tuple[int, ...]) -> Attr:
    """A list of one shape, as TensorFlow writes the outputs of a node."""
    binary, text = _dims(shape)
    return Attr(nested(1, nested(7, binary)), f"list {{ shape {{ {text} }} }}")


@cache
def constant(shape: tuple[int, ...], *values: float) -> Attr:
    """A tensor of floats, or of 32 bit integers when the values are; one value stands for all."""
    whole = all(isinstance(value, int) for value in values)
    binary, text = _dims(shape)
    content = b"".join(struct.pack("<i" if whole else "<f", value) for value in values)
    data = nested(4, content) if len(values) > 1 else nested(7 if whole else 5, content)
    if len(values) > 1:
        escaped = "".join(f"\\{byte:03o}" for byte in content)
        shown = f'tensor_content: "{escaped}"'
    else:
        shown = f"{'int_val' if whole else 'float_val'}: {values[0]}"
    own = INT32 if whole else FLOAT
    tensor = number(1, own) + nested(2, binary) + data
    return Attr(nested(8, tensor), f"tensor {{ dtype: {TYPE_NAMES[own]} tensor_shape {{ {text} }} {shown} }}")


@cache
def truth(value: bool) -> Attr:
    """A truth."""
    return Attr(number(5, int(value)), f"b: {str(value).lower()}")


@cache
def text_of(value: str) -> Attr:
    """A text."""
    return Attr(nested(2, value.encode()), f's: "{value}"')


def located(name: str) -> Attr:
    """Where something lives."""
    value = f"loc:@{name}"
    return Attr(nested(1, nested(2, value.encode())), f'list {{ s: "{value}" }}')


def _value(
    name: str, op: str, inputs: Sequence[str], shape: tuple[int, ...], micros: int = 0, flops: int = 0,
    **attrs: Attr,
) -> Node:  # fmt: skip
    own = {"T": kind(FLOAT), **attrs, "_output_shapes": shapes_of(shape)}
    return Node(name, op, tuple(inputs), own, shape, micros, flops)


def variable(dice: random.Random, name: str, shape: tuple[int, ...], *, trains: bool) -> Iterator[Node]:
    """A variable with its initial value: drawn for a trained matrix, else a constant."""
    start = f"{name}/Initializer"
    if trains and len(shape) == 2:
        drawn = f"{start}/random_uniform"
        of_class = {"_class": located(name)}
        yield Node(f"{drawn}/shape", "Const", (), {
            "dtype": kind(INT32), "value": constant((2,), *shape), **of_class,
            "_output_shapes": shapes_of((2,)),
        })  # fmt: skip
        for edge, value in (("min", -0.1), ("max", 0.1)):
            yield Node(f"{drawn}/{edge}", "Const", (), {
                "dtype": kind(FLOAT), "value": constant((), value), **of_class,
                "_output_shapes": shapes_of(()),
            })  # fmt: skip
        seeds = {"seed": _seed(87654321), "seed2": _seed(dice.randrange(1 << 16))}
        yield Node(f"{drawn}/RandomUniform", "RandomUniform", (f"{drawn}/shape",), {
            "T": kind(INT32), "dtype": kind(FLOAT), **seeds, **of_class, "_output_shapes": shapes_of(shape),
        })  # fmt: skip
        yield _value(f"{drawn}/sub", "Sub", (f"{drawn}/max", f"{drawn}/min"), (), **of_class)
        yield _value(f"{drawn}/mul", "Mul", (f"{drawn}/RandomUniform", f"{drawn}/sub"), shape, **of_class)
        yield _value(drawn, "Add", (f"{drawn}/mul", f"{drawn}/min"), shape, **of_class)
        first = drawn
    else:
        first = f"{start}/zeros"
        yield Node(first, "Const", (), {
            "dtype": kind(FLOAT), "value": constant(shape, 0.0), "_output_shapes": shapes_of(shape),
        })  # fmt: skip
    yield Node(name, "VariableV2", (), {
        "container": text_of(""), "dtype": kind(FLOAT), "shape": shape_of(shape), "shared_name": text_of(""),
        "_output_shapes": shapes_of(shape),
    }, shape, dice.randrange(1, 9), 0, trains)  # fmt: skip
    yield _value(
        f"{name}/Assign", "Assign", (name, first), shape, use_locking=truth(True), validate_shape=truth(True),
        _class=located(name),
    )  # fmt: skip
    yield _value(f"{name}/read", "Identity", (name,), shape, dice.randrange(1, 5), _class=located(name))


def _seed(value: int) -> Attr:
    return Attr(number(3, value), f"i: {value}")


def unit(
    dice: random.Random, scope: str, source: str, gradient: str, widths: tuple[int, int]
) -> tuple[list[Node], str]:
    """Nodes of a unit, and its output."""
    before, after = widths
    out, inner = (BATCH, after), (BATCH, before)
    weights, biases, gamma = f"{scope}/dense/weights", f"{scope}/dense/biases", f"{scope}/BatchNorm/gamma"
    nodes: list[Node] = []
    for name, shape in ((weights, (before, after)), (biases, (after,)), (gamma, (after,))):
        nodes += variable(dice, name, shape, trains=True)
        nodes += variable(dice, f"{name}/Momentum", shape, trains=False)
    large, small = 2 * BATCH * before * after, BATCH * after

    def add(
        name: str, op: str, inputs: Sequence[str], shape: tuple[int, ...], flops: int = 0, **attrs: Attr
    ) -> str:
        micros = dice.randrange(20, 4000) if flops == large else dice.choice((0, 3, 12, dice.randrange(200)))
        nodes.append(_value(name, op, inputs, shape, micros, flops, **attrs))
        return name

    def product(name: str, inputs: Sequence[str], shape: tuple[int, ...], a: bool, b: bool) -> str:
        return add(name, "MatMul", inputs, shape, large, transpose_a=truth(a), transpose_b=truth(b))

    dense = product(f"{scope}/dense/MatMul", (source, f"{weights}/read"), out, False, False)
    shifted = add(f"{scope}/dense/BiasAdd", "BiasAdd", (dense, f"{biases}/read"), out, small)
    scaled = add(f"{scope}/BatchNorm/mul", "Mul", (shifted, f"{gamma}/read"), out, small)
    output = add(f"{scope}/Relu", "Relu", (scaled,), out)
    if before == after:
        output = add(f"{scope}/add", "Add", (output, source), out, small)
    back = f"gradients/{scope}"
    relu = add(f"{back}/Relu_grad/ReluGrad", "ReluGrad", (gradient, scaled), out)
    mul = add(f"{back}/BatchNorm/mul_grad/Mul", "Mul", (relu, f"{gamma}/read"), out, small)
    of_biases = add(f"{back}/dense/BiasAdd_grad/BiasAddGrad", "BiasAddGrad", (mul,), (after,))
    both = f"{back}/dense/MatMul_grad/tuple/group_deps"
    nodes.append(Node(both, "NoOp", (f"^{mul}", f"^{of_biases}"), {}, runs=1))
    product(_of_source(scope), (mul, f"{weights}/read", f"^{both}"), inner, False, True)
    of_weights = product(f"{back}/dense/MatMul_grad/MatMul_1", (source, mul), (before, after), True, False)
    for name, slope, shape in ((weights, of_weights, (before, after)), (biases, of_biases, (after,))):
        inputs = (name, f"{name}/Momentum", "learning_rate", slope, "momentum")
        add(f"Momentum/update_{name}/ApplyMomentum", "ApplyMomentum", inputs, shape, _class=located(name))
    return nodes, output


def model(nodes: int, seed: int) -> list[Node]:
    """A model of that many nodes: whole units, and what is left are nodes that wait for others."""
    dice = random.Random(seed)
    values = (("learning_rate", (), 0.1), ("momentum", (), 0.9), ("input/images", (BATCH, WIDTHS[0]), 1.0))
    losses = [(f"gradients/loss_{width}", (BATCH, width), 1.0) for width in WIDTHS]
    made = []
    for name, shape, value in (*values, *losses):
        attrs = {"dtype": kind(FLOAT), "value": constant(shape, value), "_output_shapes": shapes_of(shape)}
        made.append(Node(name, "Const", (), attrs, shape, 1))
    units = (nodes - len(made)) // NODES_OF_A_UNIT
    for number_ in range(units):
        tower, index = divmod(number_, UNITS)
        if index == 0:
            source, width = "input/images", WIDTHS[0]
        after = _width(index)
        is_last = index == UNITS - 1 or number_ == units - 1
        gradient = f"gradients/loss_{after}" if is_last else _of_source(_scope(tower, index + 1))
        added, source = unit(dice, _scope(tower, index), source, gradient, (width, after))
        width = after
        made += added
    waiting = range(nodes - len(made))
    return made + [
        Node(f"init/group_deps_{index}", "NoOp", (f"^{made[index].name}",), {}) for index in waiting
    ]


def _width(index: int) -> int:
    return WIDTHS[index * len(WIDTHS) // UNITS]


def _scope(tower: int, index: int) -> str:
    stage = index * len(WIDTHS) // UNITS
    return f"tower_{tower}/stage_{stage}/unit_{stage}_{index}"


def _of_source(scope: str) -> str:
    return f"gradients/{scope}/dense/MatMul_grad/MatMul"


def graph_of(nodes: Sequence[Node]) -> Iterator[bytes]:
    """A GraphDef, binary."""
    for node in nodes:
        out = [nested(1, node.name.encode()), nested(2, node.op.encode())]
        out += [nested(3, each.encode()) for each in node.inputs]
        out += [nested(5, nested(1, key.encode()) + nested(2, one.binary)) for key, one in node.attrs.items()]
        yield nested(1, b"".join(out))
    yield nested(4, number(1, 2000))


def text_of_graph(nodes: Sequence[Node]) -> Iterator[bytes]:
    """The same as text."""
    for node in nodes:
        lines = [f'node {{\n  name: "{node.name}"\n  op: "{node.op}"']
        lines += [f'  input: "{each}"' for each in node.inputs]
        lines += [
            f'  attr {{\n    key: "{key}"\n    value {{ {one.text} }}\n  }}'
            for key, one in node.attrs.items()
        ]
        yield "\n".join([*lines, "}\n"]).encode()
    yield b"versions { producer: 2000 }\n"


def _output(node: Node) -> bytes:
    size = 4
    for dim in node.shape:
        size *= dim
    binary, _ = _dims(node.shape)
    about = number(1, size) + number(2, -(-size // 256) * 256) + nested(3, b"GPU_0_bfc") + number(6, 1 << 40)
    return nested(7, nested(3, number(1, FLOAT) + nested(2, binary) + nested(4, about)))


def step_of(nodes: Sequence[Node], seed: int) -> Iterator[bytes]:
    """RunMetadata: each tower on an accelerator, whose kernels stand once more on its streams."""
    dice = random.Random(seed)
    towers: dict[str, list[Node]] = {}
    for node in nodes:
        if node.runs:
            found = [part for part in node.name.split("/") if part.startswith("tower_")]
            towers.setdefault(found[0] if found else "", []).append(node)
    stats = []
    for index, (tower, ran) in enumerate(towers.items()):
        place = f"/device:GPU:{index - 1}" if tower else "/device:CPU:0"
        rows, kernels = [], []
        clock = START_MICROS + dice.randrange(1000)
        for node in ran:
            clock += node.runs // 4 + 2
            name, launch = nested(3, node.name.encode()), dice.randrange(0, 40)
            label = nested(8, f"{node.name} = {node.op}({', '.join(node.inputs)})".encode())
            memory = b""
            if node.shape and node.op != "VariableV2":
                total = 4 * BATCH * node.shape[-1]
                memory = nested(
                    6, nested(1, b"GPU_0_bfc") + number(2, total) + number(3, total) + number(4, total)
                )
            times = number(2, clock) + number(3, 1) + number(4, launch + 2) + number(5, launch + 4)
            rows.append(
                nested(
                    2, nested(1, node.name.encode()) + times + memory + _output(node) + label + number(10, 7)
                )
            )
            if node.op in ("NoOp", "VariableV2", "Const", "Identity") or not tower:
                continue
            kernel = nested(1, f"{node.name}:{node.op}".encode())
            times = number(2, clock + launch) + number(4, node.runs) + number(5, node.runs)
            kernels.append(nested(2, kernel + times + nested(8, name)))
        stats.append(
            nested(1, nested(1, f"/job:localhost/replica:0/task:0{place}".encode()) + b"".join(rows))
        )
        if tower:
            for stream in ("all", "13"):
                device = f"{place}/stream:{stream}"
                stats.append(nested(1, nested(1, device.encode()) + b"".join(kernels)))
    yield nested(1, b"".join(stats))


FILES = ("none", "/home/me/models/train.py", "/home/me/models/resnet/model.py", "/home/me/models/layers.py")


def op_log_of(nodes: Sequence[Node]) -> Iterator[bytes]:
    """An op log: operations, which variables train, and the Python stack of every node."""
    functions = (
        "<module>",
        "main",
        "build_towers",
        "unit",
        "dense",
        "batch_norm",
        "gradients",
        "apply_gradients_of_all",
    )
    texts = [*FILES, *functions]
    frame = {name: place for place, name in enumerate(texts)}

    def call(file: int, line: int, function: str) -> bytes:
        return nested(1, number(2, line) + number(5, -1) + number(6, file) + number(7, frame[function]))

    outer = call(1, 12, "<module>") + call(1, 88, "main") + call(1, 140, "build_towers")
    for node in nodes:
        parts = [part for part in node.name.split("/") if part.startswith("unit_")]
        line = int(parts[0].rsplit("_", 1)[1]) if parts else 0
        stack = outer + call(2, 20 + line, "unit")
        if node.name.startswith("gradients/"):
            stack = outer + call(1, 160, "gradients")
        elif node.name.startswith("Momentum/"):
            stack = outer + call(1, 171, "apply_gradients_of_all")
        elif "/dense/" in node.name:
            stack += call(3, 31 + len(node.op), "dense")
        elif "/BatchNorm/" in node.name:
            stack += call(3, 77 + len(node.op), "batch_norm")
        entry = nested(1, node.name.encode())
        entry += number(2, node.flops) if node.flops else b""
        entry += nested(3, b"_trainable_variables") if node.trains else b""
        yield nested(1, entry + nested(4, stack))
    for place, text in enumerate(texts):
        yield nested(2, number(1, place) + nested(2, text.encode()))


def write(folder: Path, nodes: int, *, text: bool = False, seed: int = 0) -> None:
    """Writes the three files of a model."""
    made = model(nodes, seed)
    folder.mkdir(parents=True, exist_ok=True)
    graph = ("graph.pbtxt", text_of_graph(made)) if text else ("graph.pb", graph_of(made))
    for name, parts in (graph, ("run_meta.pb", step_of(made, seed)), ("tfprof_log", op_log_of(made))):
        with (folder / name).open("wb") as out:
            out.writelines(parts)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--text", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    write(args.folder, args.nodes, text=args.text, seed=args.seed)


if __name__ == "__main__":
    main()
