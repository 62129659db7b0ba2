"""A result of another thread, which waits for a service, is waited for."""

import concurrent.futures
import time

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "wait", "also_acceptable": ["input"], "fix": "the service answers at once"}


def service(number):
    time.sleep(0.0 if chosen.fix else 0.015)
    return np.full(8, number, np.float32)


@jax.jit
def train(w, x, more):
    grad = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2) + more.sum())(w)
    return w - 0.1 * grad


def main():
    w = jnp.ones((128, 128))
    x = np.ones((256, 128), np.float32)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for number in steps():
            more = pool.submit(service, number).result()  # culprit
            w = train(w, x, more)
            w.block_until_ready()


main()
