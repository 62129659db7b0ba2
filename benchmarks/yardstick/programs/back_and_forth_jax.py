"""A big table goes to the host and back in each step."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "copy", "fix": "the table stays"}

x0 = jax.random.normal(jax.random.key(0), (128, 256))
w = jnp.eye(256) * 0.1


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)


table = jnp.zeros((3000, 1000))


def train_step(number):
    global w, table
    w = update(w, x0)
    w.block_until_ready()
    if not chosen.fix:
        host = np.array(table)  # culprit
        host[0, 0] = number
        table = jax.device_put(host)  # culprit
        table.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
