"""An average of the parameters is kept on the host, in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "copy", "also_acceptable": ["python"], "fix": "no average"}

names = [f"layer{number}" for number in range(8)]
params = {name: jax.random.normal(jax.random.key(n), (1000, 1000)) * 0.02 for n, name in enumerate(names)}
average = {name: np.zeros((1000, 1000), np.float32) for name in names}
x = jax.random.normal(jax.random.key(99), (2, 1000))


@jax.jit
def update(params):
    h = jnp.tanh(x @ params["layer0"])
    return params | {"layer0": params["layer0"] - 0.01 * jnp.mean(h)}


def averaged():
    for name in names:
        average[name] = 0.99 * average[name] + 0.01 * np.array(params[name])  # culprit


def train_step(number):
    global params
    params = update(params)
    jax.block_until_ready(params)
    if not chosen.fix:
        averaged()


def main():
    for number in steps():
        train_step(number)


main()
