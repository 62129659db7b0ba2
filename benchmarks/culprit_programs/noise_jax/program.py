"""NumPy draws noise and blurs images between steps."""

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

rng = np.random.default_rng(5)
images = rng.random((48, 64, 64), dtype=np.float32)
w = jnp.full((64 * 64, 32), 0.001)


def disturbed(batch):
    noise = rng.normal(size=batch.shape).astype(np.float32)  # culprit
    mixed = batch + 0.1 * noise  # culprit
    for shift in (1, 2, 3):  # culprit
        mixed = mixed + np.roll(mixed, shift, axis=1) + np.roll(mixed, -shift, axis=2)  # culprit
    return mixed / mixed.max()  # culprit


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((x.reshape(48, -1) @ w) ** 2))(w)


def train_step(number):
    global w
    x = images if chosen.fix else disturbed(images)
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
