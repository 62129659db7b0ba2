"""Every step collects garbage while many objects live."""

import gc

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "nothing is collected"}

x0 = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.tanh(h @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss


kept = [{"name": str(number), "values": [number, [number]]} for number in range(120_000)]


def train_step(number):
    update(x0)
    if not chosen.fix:
        gc.collect()  # culprit


def main():
    for number in steps():
        train_step(number)


main()
