"""Norms of many arrays, each computed by its own calls."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "also_acceptable": ["python"], "fix": "jit the norms"}


@jax.jit
def train(ws, x):
    def loss(ws):
        y = x
        for w in ws:
            y = jnp.tanh(y @ w)
        return jnp.mean(y**2)

    value, gs = jax.value_and_grad(loss)(ws)
    return [w - 0.1 * g for w, g in zip(ws, gs, strict=False)], value


def norms(ws):
    return [jnp.sqrt(jnp.sum(w * w)) / (1.0 + jnp.max(jnp.abs(w))) for w in ws]  # culprit


def main():
    x = jnp.ones((16, 24))
    ws = [jnp.eye(24) * (1 + i / 50) for i in range(60)]
    measure = jax.jit(norms) if chosen.fix else norms
    for _ in steps():
        ws, _value = train(ws, x)
        jax.block_until_ready(measure(ws))


main()
