"""A convolution that computes all the time."""

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
        y = jax.lax.conv(x, w, (1, 1), "SAME")
        return jnp.mean(jax.nn.relu(y) ** 2)

    value, g = jax.value_and_grad(loss)(w)
    return w - 0.1 * g, value


def main():
    took = []
    w, x = jnp.ones((16, 8, 3, 3)) * 0.1, jax.random.normal(jax.random.PRNGKey(0), (16, 8, 48, 48))
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        w, value = train(w, x)
        value.block_until_ready()
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
