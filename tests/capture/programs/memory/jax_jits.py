"""A new jitted function at every step, kept in a cache."""

import sys

import jax
import jax.numpy as jnp

CACHE = {}


def scaled(i):
    if i not in CACHE:
        CACHE[i] = jax.jit(lambda w: w * (1 + 1e-6 * i))
    return CACHE[i]


@jax.jit
def update(w, x):
    return w - 0.1 * jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)


w = jnp.ones((32, 8))
for i in range(int(sys.argv[1])):
    w = update(w, jnp.full((16, 32), 0.01 * i))
    w = scaled(i)(w)
print("trained", float(w.sum()) != 0)
