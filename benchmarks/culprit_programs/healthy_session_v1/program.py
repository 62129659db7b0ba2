"""A session that trains a plain network: nothing is wrong."""

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
x = tf.constant(np.random.default_rng(0).normal(size=(512, 256)).astype(np.float32))
hidden = x
for layer in range(3):
    hidden = tf.nn.relu(tf.matmul(hidden, tf.get_variable(f"w{layer}", [256, 256])))
step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(hidden)))


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
