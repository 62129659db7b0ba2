"""A lookup multiplies one-hot rows with the table."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "MatMul", "fix": "rows are gathered"}

ids = tf.constant(np.random.default_rng(2).integers(0, 8000, 256))
table = tf.Variable(tf.random.stateless_normal([8000, 48], [1, 2]))
w = tf.Variable(tf.random.stateless_normal([48, 48], [3, 4]) * 0.1)


@tf.function
def update():
    with tf.GradientTape() as tape:
        rows = tf.gather(table, ids) if chosen.fix else tf.one_hot(ids, 8000) @ table  # culprit
        loss = tf.reduce_mean(tf.tanh(rows @ w) ** 2)
    w.assign_sub(1e-2 * tape.gradient(loss, w))


def train_step(number):
    update()


def main():
    for number in steps():
        train_step(number)


main()
