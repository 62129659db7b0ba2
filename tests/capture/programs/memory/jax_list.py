"""Keeps arrays of every step, some of them as NumPy's."""

import sys

import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def update(w, x):
    y = x @ w
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w), y


def train(steps):
    w = jnp.ones((32, 16))
    history = {"y": []}
    for i in range(steps):
        w, y = update(w, jnp.full((64, 32), 0.01 * i))
        history["y"].append(np.asarray(y))
    return w


print("trained", float(train(int(sys.argv[1])).sum()) != 0)
