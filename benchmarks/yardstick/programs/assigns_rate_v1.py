"""A session gets a new op in every step, which sets the learning rate: its graph is prepared anew."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "compile", "also_acceptable": ["python"], "fix": "one op with a placeholder"}

tf.disable_v2_behavior()
x, wanted = tf.placeholder(tf.float32, [None, 32]), tf.placeholder(tf.float32, [])
hidden = tf.nn.relu(tf.matmul(x, tf.get_variable("w", [32, 64])))
loss = tf.reduce_mean(tf.square(tf.matmul(hidden, tf.get_variable("out", [64, 1]))))
rate = tf.get_variable("rate", [], initializer=tf.constant_initializer(0.01), trainable=False)
train = tf.train.GradientDescentOptimizer(rate).minimize(loss)
set_rate = tf.assign(rate, wanted)


def decay(session, number):
    value = 0.01 / (1 + number)
    if chosen.fix:
        session.run(set_rate, {wanted: value})
    else:
        session.run(tf.assign(rate, value))  # culprit


def main():
    batch = np.random.default_rng(0).random((64, 32), np.float32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for number in steps():
            decay(session, number)
            session.run(train, {x: batch})


main()
