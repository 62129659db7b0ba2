"""A training loop of JAX, dispatched ahead."""

import sys

import jax
import jax.numpy as jnp

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 30


def loss_of(w, x):
    return jnp.mean((x @ w - 1.0) ** 2)


@jax.jit
def train_step(w, x):
    loss, gradient = jax.value_and_grad(loss_of)(w, x)
    return w - 0.001 * gradient, loss


w = jax.random.normal(jax.random.PRNGKey(1), (16, 4))
x = jax.random.normal(jax.random.PRNGKey(2), (8, 16))
for step in range(steps):
    w, loss = train_step(w, x + step % 3)
    if step % 10 == 9:
        print(step, repr(float(loss)))
print(jax.device_get(w).tobytes().hex())
