"""A layer that inverts a matrix in each step, which hides a reader slower than the rest of the model."""

import time

import tensorflow as tf
from harness import chosen, steps

TRUTH = {
    "cause": "compute",
    "op_type": "MatrixInverse",
    "fix": "no inverse: the reader limits the steps then",
}

a = tf.eye(600) * 3 + tf.random.normal([600, 600]) * 0.01
w = tf.Variable(tf.random.normal([600, 8]))


def fetched(number):
    """A row from far away."""
    time.sleep(0.006)
    return number


def rows():
    data = tf.data.Dataset.range(10**6)
    data = data.map(lambda i: tf.ensure_shape(tf.numpy_function(fetched, [i], tf.int64), []))
    return data.map(lambda i: tf.fill([], tf.cast(i % 7, tf.float32))).prefetch(2)


@tf.function
def train(x):
    b = a + 1e-3 * x
    y = tf.matmul(b, w) if chosen.fix else tf.matmul(tf.linalg.inv(b), w)  # culprit
    w.assign_sub(1e-4 * y)
    return tf.reduce_mean(tf.square(y))


def main():
    batches = iter(rows())
    for _ in steps():
        train(next(batches))


main()
