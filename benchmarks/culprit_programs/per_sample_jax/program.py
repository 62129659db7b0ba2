"""A jitted function is called for each sample."""

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


@jax.jit
def loss_of(w, sample):
    return jnp.mean(jnp.tanh(sample @ w) ** 2)


all_at_once = jax.jit(jax.vmap(loss_of, (None, 0)))


def losses(w, batch):
    if chosen.fix:
        return all_at_once(w, batch)
    return jnp.stack([loss_of(w, batch[number]) for number in range(len(batch))])  # culprit


@jax.jit
def train(w, batch):
    return w - 0.01 * jax.grad(lambda w: jnp.mean((batch @ w) ** 2))(w)


def main():
    took, w = [], jnp.ones((32, 16))
    batch = np.random.default_rng(0).normal(size=(96, 32)).astype(np.float32)
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        w = train(w, batch)
        losses(w, batch).block_until_ready()
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
