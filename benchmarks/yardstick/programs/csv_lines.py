"""Lines of CSV with many columns, decoded one by one."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "stage": "Map", "fix": "what was decoded is cached"}

COLUMNS = 120
rng = np.random.default_rng(2)
lines = [",".join(f"{value:.5f}" for value in rng.normal(size=COLUMNS)) for _ in range(500)]


def decode(line):
    return tf.stack(tf.io.decode_csv(line, [[0.0]] * COLUMNS))


def dataset():
    data = tf.data.Dataset.from_tensor_slices(lines)
    if chosen.fix:
        return data.map(decode).cache().repeat().batch(64).prefetch(2)
    return data.repeat().map(decode).batch(64).prefetch(2)  # culprit


w = tf.Variable(tf.random.normal([COLUMNS, 64]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def main():
    batches = iter(dataset())
    for _ in steps():
        train(next(batches))


main()
