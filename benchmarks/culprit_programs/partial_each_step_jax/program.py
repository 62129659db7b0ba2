"""The update is bound to its rate and jitted in every step."""

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


def update(rate, w, x):
    grad = jax.grad(lambda w: jnp.mean(jax.nn.gelu(x @ w) ** 2))(w)
    return w - rate * grad


whole = jax.jit(update)


def main():
    took, w = [], jnp.ones((48, 48))
    x = np.ones((32, 48), np.float32)
    for number in range(chosen.steps):
        begin = time.perf_counter()
        rate = 0.1 / (1 + number)
        step = functools.partial(whole, rate) if chosen.fix else jax.jit(functools.partial(update, rate))
        w = step(w, x)  # culprit
        w.block_until_ready()
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
