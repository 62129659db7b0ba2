"""A big table that goes to the device in each step."""

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

TABLE = np.random.default_rng(0).normal(size=(1500, 1600))


@jax.jit
def train(w, table, ids):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((table[ids] @ w) ** 2))(w)
    return w - 0.1 * g, loss


def main():
    took, w, ids = [], jnp.ones((1600, 4)), jnp.arange(32)
    once = jnp.asarray(TABLE)
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        table = once if chosen.fix else jnp.asarray(TABLE)  # culprit
        w, loss = train(w, table, ids)
        loss.block_until_ready()
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
