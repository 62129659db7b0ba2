"""Batches are nested Python lists, which every step makes an array of."""

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

rng = np.random.default_rng(3)
batches = [rng.normal(size=(256, 200)).astype("float32") for _ in range(6)]
lists = [batch.tolist() for batch in batches]
w = jnp.full((200, 64), 0.01)


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)


def train_step(number):
    global w
    given = batches if chosen.fix else lists
    x = jnp.array(given[number % 6])  # culprit
    w = update(w, x)
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
