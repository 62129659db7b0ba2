"""Whitening by an eigendecomposition in every step."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "custom-call", "fix": "standard deviations"}


def whiten(h):
    if chosen.fix:
        return h / (jnp.std(h, axis=0) + 1e-3)
    values, vectors = jnp.linalg.eigh(h.T @ h / len(h))  # culprit
    return h @ vectors / jnp.sqrt(values + 1e-3)


@jax.jit
def train(w, x):
    hidden = jax.lax.stop_gradient(whiten(x))
    grad = jax.grad(lambda w: jnp.mean(jnp.tanh(hidden @ w) ** 2))(w)
    return w - 0.1 * grad


def main():
    w = jnp.ones((160, 64))
    x = np.random.default_rng(0).normal(size=(512, 160)).astype(np.float32)
    for _ in steps():
        w = train(w, x)
        w.block_until_ready()


main()
