"""A loss that sorts a long vector in each step."""

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
def train(w, x):
    def loss(w):
        y = jnp.tanh(x @ w).ravel()
        return jnp.mean(y[:100] ** 2) if chosen.fix else jnp.mean(jnp.sort(y)[:100] ** 2)  # culprit

    value, g = jax.value_and_grad(loss)(w)
    return w - 0.1 * g, value


def main():
    took, w, x = [], jnp.eye(64), jax.random.normal(jax.random.PRNGKey(0), (2048, 64))
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        w, value = train(w, x)
        value.block_until_ready()
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
