"""A client that may ask only so often."""

import time

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "do not ask"}

w = tf.Variable(tf.ones([64, 64]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def permission():
    if not chosen.fix:
        time.sleep(0.012)  # culprit


def main():
    x = tf.ones([128, 64])
    for _ in steps():
        permission()
        train(x)


main()
