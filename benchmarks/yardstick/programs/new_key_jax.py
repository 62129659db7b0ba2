"""A dictionary of metrics that gains a key in every step goes into the jitted step."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "the dictionary keeps its keys"}


@jax.jit
def train(w, x, metrics):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * grad, {name: value * 0.9 + loss for name, value in metrics.items()}


def main():
    w = jnp.ones((64, 64))
    x, metrics = np.ones((32, 64), np.float32), {"loss": jnp.zeros(())}
    for number in steps():
        if not chosen.fix:
            metrics = {**dict(list(metrics.items())[-3:]), f"loss at {number}": jnp.zeros(())}
        w, metrics = train(w, x, metrics)  # culprit
        w.block_until_ready()


main()
