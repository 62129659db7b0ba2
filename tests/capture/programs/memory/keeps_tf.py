"""Keeps an output of every step: 512 KiB."""

import sys

import tensorflow as tf

w = tf.Variable(tf.ones((256, 64)))


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((x @ w) ** 2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss, x * 2


class Trainer:
    def __init__(self):
        self.seen = {}

    def run(self):
        for i in range(int(sys.argv[1])):
            loss, y = step(tf.random.normal((512, 256)))
            self.seen[i] = y
        print("trained", float(loss) > 0)


Trainer().run()
