"""The number of the step is a static argument."""

import argparse
import statistics
import time
from functools import partial

import jax
import jax.numpy as jnp

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

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
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
