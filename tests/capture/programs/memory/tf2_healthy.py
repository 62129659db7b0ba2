"""Keeps the loss tensors and a tensor of each step in a list."""

import sys

import tensorflow as tf

w = tf.Variable(tf.ones((64, 16)))
seen = []


@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = x @ w
        loss = tf.reduce_mean(y**2)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss, y


for _ in range(int(sys.argv[1])):
    loss, y = step(tf.random.normal((128, 64)))
    seen.append(float(loss))
print("trained", float(loss) > 0)
