"""A tf.function that gets the number of the step as a Python integer."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "pass a tensor"}

w = tf.Variable(tf.random.normal([256, 256]))


@tf.function
def train(x, step):
    with tf.GradientTape() as tape:
        y = x
        for _ in range(6):
            y = tf.nn.relu(tf.matmul(y, w))
        loss = tf.reduce_mean(y)
    w.assign_sub(0.01 / (1.0 + tf.cast(step, tf.float32)) * tape.gradient(loss, w))
    return loss


def main():
    x = tf.random.normal([64, 256])
    for step in steps():
        train(x, tf.constant(step) if chosen.fix else step)  # culprit


main()
