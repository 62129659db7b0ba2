"""Gradients of a batch are taken one example at a time, without a compiled function."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "fix": "one compiled call for the batch"}

x = tf.random.stateless_normal([48, 64], [1, 2])
w = tf.Variable(tf.random.stateless_normal([64, 16], [3, 4]) * 0.05)


def gradient_of(rows):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(rows @ w) ** 2)
    return tape.gradient(loss, w)


def accumulated():
    total = tf.zeros_like(w)
    for number in range(48):  # culprit
        total += gradient_of(x[number : number + 1])  # culprit
    return total / 48  # culprit


batched = tf.function(lambda: gradient_of(x))


def train_step(number):
    w.assign_sub(1e-3 * (batched() if chosen.fix else accumulated()))


def main():
    for number in steps():
        train_step(number)


main()
