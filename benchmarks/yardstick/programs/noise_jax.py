"""NumPy draws noise and blurs images between steps."""

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "images are not disturbed"}

rng = np.random.default_rng(5)
images = rng.random((48, 64, 64), dtype=np.float32)
w = jnp.full((64 * 64, 32), 0.001)


def disturbed(batch):
    noise = rng.normal(size=batch.shape).astype(np.float32)  # culprit
    mixed = batch + 0.1 * noise  # culprit
    for shift in (1, 2, 3):  # culprit
        mixed = mixed + np.roll(mixed, shift, axis=1) + np.roll(mixed, -shift, axis=2)  # culprit
    return mixed / mixed.max()  # culprit


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean((x.reshape(48, -1) @ w) ** 2))(w)


def train_step(number):
    global w
    x = images if chosen.fix else disturbed(images)
    w = update(w, x)
    w.block_until_ready()


def main():
    for number in steps():
        train_step(number)


main()
