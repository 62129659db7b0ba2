"""Every batch is hashed for a log."""

import hashlib

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "no digest"}

x0 = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.tanh(h @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss


payload = bytes(12_000_000)


def digest():
    return hashlib.sha256(payload).hexdigest()  # culprit


def train_step(number):
    update(x0)
    if not chosen.fix:
        digest()


def main():
    for number in steps():
        train_step(number)


main()
