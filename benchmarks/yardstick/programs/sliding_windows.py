"""Windows over a series, each a dataset of its own."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "stage": "FlatMap", "fix": "windows are gathered by the batch"}

series = np.random.default_rng(4).normal(size=50000).astype(np.float32)


def dataset():
    if chosen.fix:
        starts = tf.data.Dataset.range(40000).batch(64).repeat()
        return starts.map(lambda at: tf.gather(series, at[:, None] + tf.range(32, dtype=tf.int64))).prefetch(
            2
        )
    values = tf.data.Dataset.from_tensor_slices(series).repeat()
    windows = values.window(32, shift=1, drop_remainder=True).flat_map(lambda one: one.batch(32))  # culprit
    return windows.batch(64).prefetch(2)


w = tf.Variable(tf.random.normal([32, 64]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


def main():
    batches = iter(dataset())
    for _ in steps():
        train(next(batches))


main()
