"""A sequence that grows by one at every step."""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()


@jax.jit
def scan(w, x):
    def one(state, row):
        state = jnp.tanh(state @ w + row)
        return state, jnp.sum(state)

    return jax.lax.scan(one, jnp.zeros(32), x)[1].sum()


def main():
    took, w = [], jnp.eye(32) * 0.5
    for step in range(chosen.steps):
        begin = time.perf_counter()
        length = 80 if chosen.fix else 10 + step
        scan(w, jnp.ones((length, 32))).block_until_ready()  # culprit
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
