"""The number of the step is a static argument."""

from functools import partial

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "the number does not change"}

x0 = jax.random.normal(jax.random.key(0), (128, 256))
w = jnp.eye(256) * 0.1


@partial(jax.jit, static_argnums=2)
def update(w, x, number):
    rate = 1e-3 / (1 + number)
    return w - rate * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)


def train_step(number):
    global w
    w = update(w, x0, 0 if chosen.fix else number)  # culprit
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
