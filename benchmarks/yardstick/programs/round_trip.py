"""A big embedding goes to numpy and back in every step, to be clipped."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "copy", "also_acceptable": ["python"], "fix": "the table stays where it is"}

table = tf.Variable(tf.random.normal([40000, 128]))
ids = tf.constant(np.random.default_rng(0).integers(0, 40000, 256))


@tf.function
def train():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.gather(table, ids)))
    gradient = tape.gradient(loss, table)
    table.scatter_sub(tf.IndexedSlices(0.1 * gradient.values, gradient.indices))
    return loss


def main():
    for _ in steps():
        train()
        if not chosen.fix:
            table.assign(table.numpy().copy())  # culprit


main()
