"""An average of the parameters is kept on the host, in NumPy."""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

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
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
