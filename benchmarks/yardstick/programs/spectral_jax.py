"""A penalty takes the spectrum of a big signal."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "fft", "fix": "no penalty"}

signal = jax.random.normal(jax.random.key(0), (64, 16384))
x = jax.random.normal(jax.random.key(1), (128, 128))
w = jnp.eye(128) * 0.1


@jax.jit
def update(w):
    def loss(w):
        h = jnp.tanh(x @ w)
        value = jnp.mean(h**2)
        if not chosen.fix:
            spectrum = jnp.abs(jnp.fft.rfft(signal * jnp.mean(w)))  # culprit
            value = value + 1e-6 * jnp.mean(spectrum)
        return value

    return w - 0.01 * jax.grad(loss)(w)


def train_step(number):
    global w
    w = update(w)
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
