"""Two matrices are multiplied before the vector, where the vector could go first."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "dot", "fix": "the vector first"}

a = jnp.ones([700, 700]) * 0.001
b = jnp.ones([700, 700]) * 0.001


@jax.jit
def forward(x, v):
    h = jnp.sin(x).sum(axis=1) + jnp.cos(x).sum(axis=1)
    if chosen.fix:
        return a @ (b @ (v + h))
    return ((a * h[None]) @ b) @ v  # culprit


def main():
    x = jnp.ones([700, 2000])
    v = jnp.ones([700])
    for _ in steps():
        v = forward(x, v)
        v.block_until_ready()


main()
