"""Text that becomes numbers between the steps."""

import itertools
import random

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "also_acceptable": ["input"], "fix": "make the numbers once"}

LETTERS = "abcdefghijklmnopqrstuvwxyz "
VOCABULARY = {a + b: i for i, (a, b) in enumerate((a, b) for a in LETTERS for b in LETTERS)}


def pairs(texts):
    numbers = np.zeros((len(texts), len(VOCABULARY)), np.float32)
    for row, text in enumerate(texts):
        for a, b in itertools.pairwise(text):
            numbers[row, VOCABULARY.get(a + b, 0)] += 1
    return numbers


@tf.function(reduce_retracing=True)
def train(w, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss


def main():
    pick = random.Random(3)
    w = tf.Variable(tf.random.normal([len(VOCABULARY), 64]))
    texts = ["".join(pick.choice(LETTERS) for _ in range(700)) for _ in range(40)]
    ready = tf.constant(pairs(texts))
    for _ in steps():
        x = ready if chosen.fix else tf.constant(pairs(texts))  # culprit
        train(w, x)


main()
