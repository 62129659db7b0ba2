"""Programs whose compilation hlo_diff.py looks at: each makes passes do something else.

python benchmarks/hlo_programs.py NAME
"""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Program = tuple[Any, tuple[Any, ...]]


def _descended(loss: Any) -> Any:
    def step(weights: Any, *inputs: Any) -> Any:
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, *inputs))

    return jax.jit(step)


def lstm() -> Program:
    """A loop with its gradient."""
    weights = {"x": jnp.ones((32, 256)), "h": jnp.ones((64, 256)), "b": jnp.zeros(256)}

    def loss(weights: Any, xs: Any) -> Any:
        def cell(carried: Any, x: Any) -> Any:
            h, state = carried
            gates = jnp.split(x @ weights["x"] + h @ weights["h"] + weights["b"], 4, -1)
            i, f, o = (jax.nn.sigmoid(gate) for gate in gates[:3])
            state = f * state + i * jnp.tanh(gates[3])
            h = o * jnp.tanh(state)
            return (h, state), h

        _, hs = lax.scan(cell, (jnp.zeros((8, 64)), jnp.zeros((8, 64))), xs)
        return jnp.mean(hs**2)

    return _descended(loss), (weights, jnp.ones((20, 8, 32)))


def dropout() -> Program:
    """Layers that are alike, random numbers, an optimiser."""

    def loss(weights: Any, x: Any, key: Any) -> Any:
        for number, weight in enumerate(weights):
            x = jax.nn.gelu(x @ weight)
            x = x * jax.random.bernoulli(jax.random.fold_in(key, number), 0.9, x.shape) / 0.9
            x = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        return -jax.nn.log_softmax(x).mean()

    return _descended(loss), ([jnp.ones((48, 48))] * 6, jnp.ones((16, 48)), jax.random.PRNGKey(0))


def convolution() -> Program:
    """Convolutions with normalisation, whose reshapes go away."""
    weights = [jnp.ones((3, 3, 16 if number else 3, 16)) for number in range(5)]

    def loss(weights: Any, x: Any) -> Any:
        for weight in weights:
            x = lax.conv_general_dilated(
                x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu((x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5))
        return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).mean()

    return _descended(loss), (weights, jnp.ones((4, 16, 16, 3)))


def attention() -> Program:
    """A decoder of five layers."""
    layer = {name: jnp.ones((32, 4, 8)) for name in "qkv"}
    layer |= {"o": jnp.ones((4, 8, 32)), "up": jnp.ones((32, 64)), "down": jnp.ones((64, 32))}

    def loss(weights: Any, x: Any) -> Any:
        layers, table = weights
        h = table[x]
        for one in layers:
            n = h * lax.rsqrt((h * h).mean(-1, keepdims=True) + 1e-6)
            q, k, v = (jnp.einsum("btd,dhk->bthk", n, one[name]) for name in "qkv")
            scores = jnp.einsum("bthk,bshk->bhts", q, k) / 3
            scores = jnp.where(jnp.tril(jnp.ones((12, 12), bool)), scores, -1e9)
            h = h + jnp.einsum("bhts,bshk,hkd->btd", jax.nn.softmax(scores), v, one["o"])
            h = h + jax.nn.silu(h @ one["up"]) @ one["down"]
        chosen = jnp.take_along_axis(jax.nn.log_softmax(h @ table.T), x[..., None], -1)
        return -chosen.mean()

    return _descended(loss), (([layer] * 5, jnp.ones((50, 32))), jnp.zeros((3, 12), int))


def odd() -> Program:
    """Sorts, branches, loops of unknown length, decompositions, a Fourier transform."""

    def program(x: Any, at: Any, times: Any) -> Any:
        summed = jnp.cumsum(jnp.take(jnp.sort(x, -1), at, axis=0), 0)
        branch = lax.cond(summed.sum() > 0, lambda y: jnp.sin(y) + 1, lambda y: jnp.cos(y) * 2, summed)
        looped = lax.while_loop(
            lambda state: state[0] < times,
            lambda state: (state[0] + 1, state[1] @ state[1].T @ state[1] * 0.01),
            (0, branch),
        )
        q, r = jnp.linalg.qr(looped[1][:8, :8])
        added = jnp.zeros((16, 16)).at[at, at].add(1.0)
        waves = jax.vmap(lambda row: jnp.fft.rfft(row).real)(x).sum()
        return q, r, added, waves, jnp.argmax(x, 1), jnp.linalg.cholesky(x @ x.T + jnp.eye(16) * 100)

    return jax.jit(program), (jax.random.normal(jax.random.PRNGKey(0), (16, 16)), jnp.arange(16), 5)


if __name__ == "__main__":
    function, arguments = globals()[sys.argv[1]]()
    jax.block_until_ready(function(*arguments))
