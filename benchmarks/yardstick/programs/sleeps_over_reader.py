"""A loop that waits between steps, which hides a reader that is slower than the model."""

import time

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "do not wait: the reader limits the steps then"}

w = tf.Variable(tf.ones([64, 64]))


def fetched(number):
    """A row from far away."""
    time.sleep(0.007)
    return number


def rows():
    data = tf.data.Dataset.range(10**6)
    data = data.map(lambda i: tf.ensure_shape(tf.numpy_function(fetched, [i], tf.int64), []))
    return data.map(lambda i: tf.fill([128, 64], tf.cast(i % 7, tf.float32))).prefetch(2)


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def main():
    batches = iter(rows())
    for _ in steps():
        train(next(batches))
        if not chosen.fix:
            time.sleep(0.02)  # culprit


main()
