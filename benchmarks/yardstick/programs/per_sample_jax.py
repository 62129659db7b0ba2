"""A jitted function is called for each sample."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "also_acceptable": ["python"], "fix": "vmap instead of a call a sample"}


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
    w = jnp.ones((32, 16))
    batch = np.random.default_rng(0).normal(size=(96, 32)).astype(np.float32)
    for _ in steps():
        w = train(w, batch)
        losses(w, batch).block_until_ready()


main()
