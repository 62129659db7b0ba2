"""A big table that goes to the device in each step."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "copy", "fix": "move it once"}

TABLE = np.random.default_rng(0).normal(size=(1500, 1600))


@jax.jit
def train(w, table, ids):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((table[ids] @ w) ** 2))(w)
    return w - 0.1 * g, loss


def main():
    w, ids = jnp.ones((1600, 4)), jnp.arange(32)
    once = jnp.asarray(TABLE)
    for _ in steps():
        table = once if chosen.fix else jnp.asarray(TABLE)  # culprit
        w, loss = train(w, table, ids)
        loss.block_until_ready()


main()
