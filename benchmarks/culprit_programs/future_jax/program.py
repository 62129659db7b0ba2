"""A result of another thread, which waits for a service, is waited for."""

import argparse
import concurrent.futures
import statistics
import time

import jax
import jax.numpy as jnp
import numpy as np

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()


def service(number):
    time.sleep(0.0 if chosen.fix else 0.015)
    return np.full(8, number, np.float32)


@jax.jit
def train(w, x, more):
    grad = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2) + more.sum())(w)
    return w - 0.1 * grad


def main():
    took, w = [], jnp.ones((128, 128))
    x = np.ones((256, 128), np.float32)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number in range(chosen.steps):
            begin = time.perf_counter()
            more = pool.submit(service, number).result()  # culprit
            w = train(w, x, more)
            w.block_until_ready()
            took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
