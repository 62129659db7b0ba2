"""A recurrent net by lax.scan."""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x = jax.random.normal(jax.random.key(0), (60, 32, 96))
w = jax.random.normal(jax.random.key(1), (192, 96)) * 0.05


@jax.jit
def update(w):
    def loss(w):
        def cell(h, x):
            h = jnp.tanh(jnp.concatenate([h, x], axis=1) @ w)
            return h, jnp.sum(h)

        return jnp.mean(jax.lax.scan(cell, jnp.zeros((32, 96)), x)[1])

    return w - 0.01 * jax.grad(loss)(w)


def train_step(number):
    global w
    w = update(w)
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
