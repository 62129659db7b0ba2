"""Eager ops on big matrices: launching them costs nothing beside what they compute."""

import numpy as np
import tensorflow as tf
from harness import steps

TRUTH = {
    "cause": "healthy",
    "also_acceptable": ["compute", "none"],
    "op_type": "MatMul",
    "fix": "nothing to mend",
}

layers = [tf.Variable(tf.random.normal([768, 768], stddev=0.03)) for _ in range(3)]


def train(x):
    with tf.GradientTape() as tape:
        for w in layers:
            x = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.square(x))
    for w, gradient in zip(layers, tape.gradient(loss, layers), strict=True):
        w.assign_sub(0.001 * gradient)
    return loss


def main():
    x = tf.constant(np.random.default_rng(0).normal(size=(768, 768)).astype(np.float32))
    for _ in steps():
        train(x)


main()
