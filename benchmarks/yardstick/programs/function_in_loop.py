"""A tf.function that is made anew in the loop."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "make it once"}


def main():
    x = tf.random.normal([64, 128])
    w = tf.Variable(tf.random.normal([128, 128]))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.sin(tf.matmul(tf.cos(tf.matmul(x, w)), w)))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    once = tf.function(step)
    for _ in steps():
        if chosen.fix:
            once()
        else:
            tf.function(step)()  # culprit


main()
