"""A helper makes a new jitted function each time that it is called."""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x = jax.random.normal(jax.random.key(0), (256, 256))
w = jnp.eye(256) * 0.1


def loss_of(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


def gradient_with(scale):
    return jax.jit(lambda w, x: scale * jax.grad(loss_of)(w, x))


ready = gradient_with(1.0)


def train_step(number):
    global w
    gradient = ready if chosen.fix else gradient_with(1.0)
    grad = gradient(w, x)  # culprit
    w = w - 0.01 * grad
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
