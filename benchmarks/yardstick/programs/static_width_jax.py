"""A static argument that follows the step."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "the argument stays the same"}


@functools.partial(jax.jit, static_argnums=2)
def train(w, x, keep):
    grad = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) * keep))(w)
    return w - 0.1 * grad


def main():
    w = jnp.ones((64, 64))
    x = np.ones((32, 64), np.float32)
    for number in steps():
        w = train(w, x, 1.0 if chosen.fix else 1.0 - number / 1000)  # culprit
        w.block_until_ready()


main()
