"""A penalty takes the spectrum of a big signal."""

import argparse
import statistics
import time

import jax
import jax.numpy as jnp

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

signal = jax.random.normal(jax.random.key(0), (64, 16384))
x = jax.random.normal(jax.random.key(1), (128, 128))
w = jnp.eye(128) * 0.1


@jax.jit
def update(w):
    def loss(w):
        h = jnp.tanh(x @ w)
        value = jnp.mean(h**2)
        if not chosen.fix:
            spectrum = jnp.abs(jnp.fft.rfft(signal * jnp.mean(w)))  # culprit
            value = value + 1e-6 * jnp.mean(spectrum)
        return value

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
