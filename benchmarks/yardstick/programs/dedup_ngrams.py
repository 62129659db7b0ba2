"""Between steps, n-grams of the generated text are looked for that repeat."""

import collections

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "it is not looked for repeats"}

w = tf.Variable(tf.random.normal([128, 128]))
rng = np.random.default_rng(7)


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return tf.cast(tf.abs(x[:, :60]) * 7, tf.int32)


def repeats(rows):
    seen = collections.Counter()
    for row in rows:
        for at in range(len(row) - 4):
            seen[tuple(row[at : at + 4])] += 1  # culprit
    return sum(number > 1 for number in seen.values())


def main():
    found = 0
    x = tf.constant(rng.normal(size=(256, 128)).astype(np.float32))
    for _ in steps():
        tokens = train(x).numpy()
        if not chosen.fix:
            found += repeats(tokens.tolist())


main()
