"""The update is bound to its rate and jitted in every step."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "jitted once, the rate is an argument"}


def update(rate, w, x):
    grad = jax.grad(lambda w: jnp.mean(jax.nn.gelu(x @ w) ** 2))(w)
    return w - rate * grad


whole = jax.jit(update)


def main():
    w = jnp.ones((48, 48))
    x = np.ones((32, 48), np.float32)
    for number in steps():
        rate = 0.1 / (1 + number)
        step = functools.partial(whole, rate) if chosen.fix else jax.jit(functools.partial(update, rate))
        w = step(w, x)  # culprit
        w.block_until_ready()


main()
