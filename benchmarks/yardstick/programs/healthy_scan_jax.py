"""A recurrent net by lax.scan."""

import jax
import jax.numpy as jnp
from harness import steps

TRUTH = {"cause": "healthy", "also_acceptable": ["compute", "none"], "fix": "nothing"}

x = jax.random.normal(jax.random.key(0), (60, 32, 96))
w = jax.random.normal(jax.random.key(1), (192, 96)) * 0.05


@jax.jit
def update(w):
    def loss(w):
        def cell(h, x):
            h = jnp.tanh(jnp.concatenate([h, x], axis=1) @ w)
            return h, jnp.sum(h)

        return jnp.mean(jax.lax.scan(cell, jnp.zeros((32, 96)), x)[1])

    return w - 0.01 * jax.grad(loss)(w)


def train_step(number):
    global w
    w = update(w)
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
