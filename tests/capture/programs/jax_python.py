"""A training loop of JAX that spends most of a step in Python."""

import jax
import jax.numpy as jnp


@jax.jit
def train_step(w, x):
    return w - 0.01 * jnp.tanh(x @ w)


def count_pairs(values):
    count = 0
    for first in values:
        for second in values:
            if first < second:
                count += 1
    return count


w, x = jnp.ones((16, 16)), jnp.ones((16, 16))
for _ in range(45):
    w = train_step(w, x)
    pairs = count_pairs(w[0].tolist() * 30)
print(pairs)
