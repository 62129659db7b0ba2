"""A helper makes a new jitted function each time that it is called."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "the function is made once"}

x = jax.random.normal(jax.random.key(0), (256, 256))
w = jnp.eye(256) * 0.1


def loss_of(w, x):
    return jnp.mean(jnp.tanh(x @ w) ** 2)


def gradient_with(scale):
    return jax.jit(lambda w, x: scale * jax.grad(loss_of)(w, x))


ready = gradient_with(1.0)


def train_step(number):
    global w
    gradient = ready if chosen.fix else gradient_with(1.0)
    grad = gradient(w, x)  # culprit
    w = w - 0.01 * grad
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
