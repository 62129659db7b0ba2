"""Operations of ops without statistics in TensorFlow: what XLA counts when it compiles them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from tests.instruments.test_tfprof_flops import OPTIMISERS
from tests.instruments.test_tfprof_flops_by_hand import flops
from tests.later import Later

tf = Later("tensorflow")
N = 1000


def by_xla(tmp_path: Path, made: Callable[..., Any], *inputs: Any) -> float:
    """Operations in the module that XLA makes; of a function of an element, the root included, one."""
    compiled = tf.function(made, jit_compile=True)
    module = tmp_path / "module.pb"
    module.write_bytes(compiled.experimental_get_compiler_ir(*inputs)(stage="hlo_serialized"))
    (told,) = _core.hlo_summaries([str(module)])
    return float(told["flops"] + told["transcendentals"])


# Reciprocal roots are two here, as in TensorFlow's statistics, and one to XLA.
@pytest.mark.parametrize(
    ("name", "slots", "scalars", "reciprocal_roots"),
    [
        ("GradientDescent", 0, (0.1,), 0),
        ("Momentum", 1, (0.1, 0.9), 0),
        ("Adagrad", 1, (0.1,), 1),
        ("Adam", 2, (0.9, 0.99, 0.1, 0.9, 0.99, 1e-7), 0),
        ("RMSProp", 2, (0.1, 0.9, 0.9, 1e-7), 0),
        ("Adadelta", 2, (0.1, 0.9, 1e-7), 1),
    ],
)
def test_optimisers(
    tmp_path: Path, name: str, slots: int, scalars: tuple[float, ...], reciprocal_roots: int
) -> None:
    states = [tf.Variable(tf.zeros([N])) for _ in range(slots + 1)]
    apply = getattr(tf.raw_ops, f"ResourceApply{name}")
    keys = list(apply.__signature__.parameters)
    gradient = "delta" if "delta" in keys else "grad"
    given = dict(zip(keys, (state.handle for state in states), strict=False))
    given |= dict(zip((one for one in keys[slots + 1 :] if one != gradient), scalars, strict=False))

    def step(grad: Any) -> Any:
        apply(**{gradient: grad}, **given)
        return grad

    assert by_xla(tmp_path, step, tf.zeros([N])) / N == pytest.approx(
        OPTIMISERS[name][1] - reciprocal_roots, abs=0.1
    )


@pytest.mark.parametrize("equation", ["ij,jk->ik", "bij,jk->bik", "bij,bjk->bik"])
def test_einsum(tmp_path: Path, equation: str) -> None:
    sizes = {"b": 3, "i": 4, "j": 5, "k": 7}
    shapes = [[sizes[label] for label in term] for term in equation.partition("->")[0].split(",")]
    output = [sizes[label] for label in equation.partition("->")[2]]
    ours = flops(tmp_path, "Einsum", shapes, output, equation=equation)
    inputs = [tf.zeros(shape) for shape in shapes]
    assert ours == by_xla(tmp_path, lambda one, other: tf.einsum(equation, one, other), *inputs)


def test_a_recurrent_layer_is_its_products(tmp_path: Path) -> None:
    """XLA has no recurrent op: the cell is written out, gates and all."""
    time, batch, inputs, units = 3, 16, 64, 64
    weights = tf.zeros([inputs + units, 4 * units])

    def layer(x: Any) -> Any:
        h = c = tf.zeros([batch, units])
        for step in range(time):
            i, j, f, o = tf.split(tf.concat([x[step], h], 1) @ weights, 4, 1)
            c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
            h = tf.sigmoid(o) * tf.tanh(c)
        return h

    found = by_xla(tmp_path, layer, tf.zeros([time, batch, inputs]))
    cell = [batch, units]
    held = [[], [time, batch, inputs], cell, cell, [inputs + units, 4 * units]]
    assert flops(tmp_path, "BlockLSTMV2", held, [time, batch, inputs]) == pytest.approx(found, rel=0.01)
