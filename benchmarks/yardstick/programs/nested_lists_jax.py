"""Batches are nested Python lists, which every step makes an array of."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "copy", "also_acceptable": ["python"], "fix": "arrays are kept"}

rng = np.random.default_rng(3)
batches = [rng.normal(size=(256, 200)).astype("float32") for _ in range(6)]
lists = [batch.tolist() for batch in batches]
w = jnp.full((200, 64), 0.01)


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)


def train_step(number):
    global w
    given = batches if chosen.fix else lists
    x = jnp.array(given[number % 6])  # culprit
    w = update(w, x)
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
