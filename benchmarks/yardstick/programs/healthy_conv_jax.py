"""A convolution that computes all the time."""

import jax
import jax.numpy as jnp
from harness import steps

TRUTH = {"cause": "healthy", "also_acceptable": ["compute", "none"], "fix": "nothing to mend"}


@jax.jit
def train(w, x):
    def loss(w):
        y = jax.lax.conv(x, w, (1, 1), "SAME")
        return jnp.mean(jax.nn.relu(y) ** 2)

    value, g = jax.value_and_grad(loss)(w)
    return w - 0.1 * g, value


def main():
    w, x = jnp.ones((16, 8, 3, 3)) * 0.1, jax.random.normal(jax.random.PRNGKey(0), (16, 8, 48, 48))
    for _ in steps():
        w, value = train(w, x)
        value.block_until_ready()


main()
