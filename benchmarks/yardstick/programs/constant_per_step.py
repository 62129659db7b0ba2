"""An array that becomes a tensor in each step."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "copy", "also_acceptable": ["python"], "fix": "convert it once"}

PRIOR = np.random.default_rng(0).normal(size=(1800, 1400)).astype(np.float32)


@tf.function
def train(w, prior, rows):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.gather(prior, rows), w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def main():
    rows = tf.range(16)
    w, once = tf.Variable(tf.ones([1400, 2])), tf.constant(PRIOR)
    for _ in steps():
        prior = once if chosen.fix else tf.constant(PRIOR * 1.0)  # culprit
        train(w, prior, rows)


main()
