"""A layer that inverts a matrix in each step."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "MatrixInverse", "fix": "no inverse"}

a = tf.eye(420) * 3 + tf.random.normal([420, 420]) * 0.01
w = tf.Variable(tf.random.normal([420, 8]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        y = tf.matmul(x, w) if chosen.fix else tf.matmul(tf.linalg.inv(a + 1e-3 * w[:, :1]), w)  # culprit
        loss = tf.reduce_mean(tf.square(y))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def main():
    x = tf.random.normal([420, 420])
    for _ in steps():
        train(x)


main()
