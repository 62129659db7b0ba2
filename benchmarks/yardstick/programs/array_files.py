"""Every step saves the weights with NumPy."""

import tempfile

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "wait", "also_acceptable": ["copy", "python"], "fix": "nothing is saved"}

x0 = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.tanh(h @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss


folder = tempfile.mkdtemp()
big = np.zeros((1500, 1500), np.float32)


def train_step(number):
    update(x0)
    if not chosen.fix:
        np.save(f"{folder}/weights_{number % 3}.npy", big)  # culprit


def main():
    for number in steps():
        train_step(number)


main()
