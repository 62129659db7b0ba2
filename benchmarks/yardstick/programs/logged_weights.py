"""The weights are written to a log as text in each step."""

import logging
import tempfile

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "no such line in the log"}

logging.basicConfig(filename=tempfile.mktemp(), level=logging.INFO)
w = tf.Variable(tf.random.normal([300, 300]) * 0.05)
x = tf.random.normal([1200, 300])


@tf.function
def train():
    with tf.GradientTape() as tape:
        h = x
        for _ in range(3):
            h = tf.tanh(tf.matmul(h, w))
        loss = tf.reduce_mean(h * h)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def main():
    for number in steps():
        loss = float(train())
        if not chosen.fix:
            text = " ".join(f"{value:.4f}" for value in w.numpy()[:60].ravel())  # culprit
            logging.info("%d %f %s", number, loss, text)  # culprit


main()
