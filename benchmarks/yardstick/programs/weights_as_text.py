"""Every step prints the weights into a text."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "no text"}

x0 = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.tanh(h @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss


notes = []


def noted():
    array = w.numpy()
    notes.append(np.array2string(array[:24], precision=3, threshold=10**6))  # culprit
    del notes[:-1]


def train_step(number):
    update(x0)
    if not chosen.fix:
        noted()


def main():
    for number in steps():
        train_step(number)


main()
