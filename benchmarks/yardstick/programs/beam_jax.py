"""Beam search that keeps its candidates in Python between jitted calls."""

import heapq

import jax
import jax.numpy as jnp
import numpy as np
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "candidates are chosen by numpy"}


@jax.jit
def score(state, w):
    return jax.nn.log_softmax(jnp.tanh(state @ w))


def extend(beams, scores):
    candidates = []
    for number, (total, path) in enumerate(beams):
        row = scores[number].tolist()
        for token in range(len(row)):
            candidates.append((total + row[token], [*path[-8:], token]))  # culprit
    return heapq.nlargest(16, candidates)


def quick(beams, scores):
    totals = scores + np.array([total for total, _ in beams])[:, None]
    best = np.argpartition(-totals.ravel(), 16)[:16]
    width = scores.shape[1]
    return [(float(totals.ravel()[one]), [*beams[one // width][1][-8:], int(one % width)]) for one in best]


def main():
    w = jax.random.normal(jax.random.PRNGKey(0), (64, 1000))
    beams = [(0.0, [0]) for _ in range(16)]
    for number in steps():
        state = np.full((16, 64), number % 5, np.float32)
        scores = np.asarray(score(state, w))
        beams = quick(beams, scores) if chosen.fix else extend(beams, scores)


main()
