"""A thread prepares batches with numpy and puts them into a queue."""

import queue
import threading

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "input", "also_acceptable": ["python"], "fix": "rows are not smoothed"}


def prepare(rng):
    x = rng.normal(size=(128, 64)).astype(np.float32)
    if not chosen.fix:
        for row in range(len(x)):
            x[row] = np.convolve(x[row], np.ones(9) / 9, mode="same")[
                np.argsort(np.argsort(x[row]))
            ]  # culprit
    return x


def fill(batches):
    rng = np.random.default_rng(5)
    while True:
        batches.put(prepare(rng))


@jax.jit
def train(w, x):
    grad = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * grad


def main():
    w = jnp.ones((64, 64))
    batches = queue.Queue(2)
    threading.Thread(target=fill, args=(batches,), daemon=True).start()
    for _ in steps():
        w = train(w, batches.get())
        w.block_until_ready()


main()
