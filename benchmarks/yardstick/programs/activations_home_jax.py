"""All activations come to the host in each step, for a mean that the device could take."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "copy", "also_acceptable": ["python"], "fix": "the mean on the device"}

w = jnp.ones([600, 600]) * 0.01


@jax.jit
def forward(x, w):
    h = jnp.tanh(x @ w)
    return jnp.tanh(h @ w)


@jax.jit
def spread(h):
    return h.std()


def main():
    x = jnp.ones([3000, 600])
    for _ in steps():
        h = forward(x, w)
        if chosen.fix:
            float(spread(h))
        else:
            np.array(h, dtype="float64").std()  # culprit


main()
