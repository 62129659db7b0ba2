"""tf.map_fn runs a small function for each row."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "also_acceptable": ["compute"], "fix": "the whole batch at once"}

x0 = tf.random.stateless_normal([256, 64], [1, 2])
w = tf.Variable(tf.random.stateless_normal([64, 64], [3, 4]) * 0.05)


def normed(row):
    return row / (tf.norm(row) + 1e-6)


@tf.function
def update(x):
    rows = x / (tf.norm(x, axis=1, keepdims=True) + 1e-6) if chosen.fix else tf.map_fn(normed, x)  # culprit
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(rows @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))


def train_step(number):
    update(x0)


def main():
    for number in steps():
        train_step(number)


main()
