"""A loss that sorts a long vector in each step."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "sort", "fix": "do not sort"}


@jax.jit
def train(w, x):
    def loss(w):
        y = jnp.tanh(x @ w).ravel()
        return jnp.mean(y[:100] ** 2) if chosen.fix else jnp.mean(jnp.sort(y)[:100] ** 2)  # culprit

    value, g = jax.value_and_grad(loss)(w)
    return w - 0.1 * g, value


def main():
    w, x = jnp.eye(64), jax.random.normal(jax.random.PRNGKey(0), (2048, 64))
    for _ in steps():
        w, value = train(w, x)
        value.block_until_ready()


main()
