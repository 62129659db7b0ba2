"""Every step appends its loss to a log and forces it to the disk."""

import os
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "no log"}

folder = tempfile.TemporaryDirectory()
log = (Path(folder.name) / "log.txt").open("ab")
x = jax.random.normal(jax.random.key(0), (128, 128))
w = jnp.eye(128) * 0.1


@jax.jit
def update(w):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean(jnp.tanh(x @ w @ w) ** 2))(w)
    return w - 0.01 * grad, loss


def written(loss):
    for _ in range(4):
        log.write(b"%f\n" % loss + b"." * 2_000_000)  # culprit
        log.flush()  # culprit
        os.fsync(log.fileno())  # culprit


def train_step(number):
    global w
    w, loss = update(w)
    loss.block_until_ready()
    if not chosen.fix:
        written(float(loss))


def main():
    for number in steps():
        train_step(number)


main()
