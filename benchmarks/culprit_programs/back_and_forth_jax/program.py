"""A big table goes to the host and back in each step."""

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
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
