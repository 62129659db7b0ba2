"""A loss that sorts all activations."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "TopKV2", "fix": "the deviation instead of the order"}

w = tf.Variable(tf.random.normal([64, 512]))


def spread(values):
    if chosen.fix:
        return tf.math.reduce_std(values)
    ordered = tf.math.top_k(values, k=512, sorted=True).values  # culprit
    return tf.reduce_mean(ordered[:, :64]) - tf.reduce_mean(ordered[:, -64:])


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        hidden = x @ w
        loss = tf.reduce_mean(tf.square(hidden)) + spread(hidden)
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


def main():
    x = tf.constant(np.random.default_rng(0).normal(size=(512, 64)).astype(np.float32))
    for _ in steps():
        train(x)


main()
