"""A session that trains a plain network: nothing is wrong."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import steps

TRUTH = {"cause": "healthy", "also_acceptable": ["compute", "none"], "fix": "nothing to mend"}

tf.disable_v2_behavior()
x = tf.constant(np.random.default_rng(0).normal(size=(512, 256)).astype(np.float32))
hidden = x
for layer in range(3):
    hidden = tf.nn.relu(tf.matmul(hidden, tf.get_variable(f"w{layer}", [256, 256])))
step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(hidden)))


def main():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in steps():
            session.run(step)


main()
