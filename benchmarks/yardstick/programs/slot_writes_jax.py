"""Slots of an array are set one by one."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "fix": "all slots are set by one call"}

x0 = jax.random.normal(jax.random.key(0), (128, 256))
w = jnp.eye(256) * 0.1


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)


slots = jnp.zeros((150, 256))


def filled(slots, values):
    for row in range(150):  # culprit
        slots = slots.at[row].set(values[row % 128] * 0.5)  # culprit
    return slots


together = jax.jit(lambda slots, values: slots.at[:128].set(values * 0.5))


def train_step(number):
    global w, slots
    slots = together(slots, x0) if chosen.fix else filled(slots, x0)
    w = update(w, slots[:128])
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
