"""All activations are fetched in every step, and thrown away."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "copy", "fix": "only the loss is fetched"}

tf.disable_v2_behavior()
x = tf.constant(np.random.default_rng(0).normal(size=(2000, 16)).astype(np.float32))
w = tf.get_variable("w", [16, 8])
hidden = tf.matmul(x, w)
wide = tf.get_variable("wide", [2000, 4000], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(hidden))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss, var_list=[w])


def main():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in steps():
            if chosen.fix:
                session.run([step, loss])
            else:
                session.run([step, loss, wide])  # culprit


main()
