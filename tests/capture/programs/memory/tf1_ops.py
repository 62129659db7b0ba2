"""Adds two ops to the graph at every step."""

import sys

import numpy as np
import tensorflow as tf

tf1 = getattr(tf.compat, "v1", tf) if hasattr(tf, "compat") else tf
if hasattr(tf1, "disable_eager_execution"):
    tf1.disable_eager_execution()

x = tf1.placeholder(tf.float32, [None, 32], name="x")
w = tf1.get_variable("w", [32, 8], initializer=tf1.zeros_initializer())
y = tf.matmul(x, w)
loss = tf.reduce_mean(tf.square(y - 1.0))
train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)


def main():
    with tf1.Session() as session:
        session.run(tf1.global_variables_initializer())
        for _ in range(int(sys.argv[1])):
            feed = {x: np.random.rand(64, 32).astype("float32")}
            session.run(train, feed)
            value = session.run(tf.reduce_max(y), feed)
    print("trained", value > 0)


main()
