"""A static argument that follows the step."""

import argparse
import functools
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()


@functools.partial(jax.jit, static_argnums=2)
def train(w, x, keep):
    grad = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) * keep))(w)
    return w - 0.1 * grad


def main():
    took, w = [], jnp.ones((64, 64))
    x = np.ones((32, 64), np.float32)
    for number in range(chosen.steps):
        begin = time.perf_counter()
        w = train(w, x, 1.0 if chosen.fix else 1.0 - number / 1000)  # culprit
        w.block_until_ready()
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
