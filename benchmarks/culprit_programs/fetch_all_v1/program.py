"""All activations are fetched in every step, and thrown away."""

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
x = tf.constant(np.random.default_rng(0).normal(size=(2000, 16)).astype(np.float32))
w = tf.get_variable("w", [16, 8])
hidden = tf.matmul(x, w)
wide = tf.get_variable("wide", [2000, 4000], initializer=tf.zeros_initializer())
loss = tf.reduce_mean(tf.square(hidden))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss, var_list=[w])


def main():
    took = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(chosen.steps):
            begin = time.perf_counter()
            if chosen.fix:
                session.run([step, loss])
            else:
                session.run([step, loss, wide])  # culprit
            took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
