"""A function with jit_compile is traced once, and compiled by XLA for each new length."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "lengths are the same"}

w = tf.Variable(tf.random.normal([64, 64]))


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 64])])
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.softmax(tf.tanh(x @ w))))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


def main():
    for number in steps():
        x = np.ones((32 if chosen.fix else 32 + number, 64), np.float32)
        train(x)  # culprit


main()
