"""A metric in Python after each jitted step."""

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "score every 50th step"}

WORDS = ["profile", "profit", "timeline", "timing", "kernel", "colonel"] * 3


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (x != y))
    return row[-1]


def score(words):
    return sum(distance(a, b) for a in words for b in words)


@jax.jit
def train(w, x):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - x) ** 2))(w)
    return w - 0.1 * g, loss


def main():
    w, x = jnp.eye(192), jnp.ones((256, 192))
    for step in steps():
        w, loss = train(w, x)
        loss.block_until_ready()
        if not chosen.fix or step % 50 == 0:
            score(WORDS[: 12 + step % 3])  # culprit


main()
