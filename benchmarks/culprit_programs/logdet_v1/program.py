"""A determinant in the loss of a session."""

import argparse
import statistics
import time

import numpy as np
import tensorflow.compat.v1 as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

tf.disable_v2_behavior()
x = tf.constant(np.random.default_rng(0).normal(size=(64, 128)).astype(np.float32))
w = tf.get_variable("w", [128, 128])


def prior(matrix):
    if chosen.fix:
        return tf.reduce_sum(tf.square(matrix))
    return tf.reduce_sum(tf.self_adjoint_eigvals(tf.matmul(matrix, matrix, transpose_a=True)))  # culprit


loss = tf.reduce_mean(tf.square(tf.matmul(x, w))) + 0.001 * prior(w)
step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)


def main():
    took = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(chosen.steps):
            begin = time.perf_counter()
            session.run(step)
            took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
