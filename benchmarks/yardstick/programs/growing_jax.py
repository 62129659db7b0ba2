"""A sequence that grows by one at every step."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "pad to one length"}


@jax.jit
def scan(w, x):
    def one(state, row):
        state = jnp.tanh(state @ w + row)
        return state, jnp.sum(state)

    return jax.lax.scan(one, jnp.zeros(32), x)[1].sum()


def main():
    w = jnp.eye(32) * 0.5
    for step in steps():
        length = 80 if chosen.fix else 10 + step
        scan(w, jnp.ones((length, 32))).block_until_ready()  # culprit


main()
