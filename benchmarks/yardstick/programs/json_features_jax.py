"""Features come as JSON text, which every step parses."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "python", "also_acceptable": ["input"], "fix": "features are kept"}

x0 = jax.random.normal(jax.random.key(0), (128, 256))
w = jnp.eye(256) * 0.1


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)


texts = [json.dumps({str(n): [(n * k) % 7 / 7 for k in range(256)] for n in range(128)}) for _ in range(4)]


class Features:
    def __call__(self, number):
        if chosen.fix:
            return x0
        found = json.loads(texts[number % 4])  # culprit
        return np.array([found[str(n)] for n in range(128)], np.float32)  # culprit


features = Features()


def train_step(number):
    global w
    w = update(w, features(number))
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
