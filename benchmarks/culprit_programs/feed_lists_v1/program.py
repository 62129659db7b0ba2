"""A TF1 session is fed nested lists."""

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
rng = np.random.default_rng(3)
arrays = [rng.normal(size=(200, 300)).astype("float32") for _ in range(5)]
lists = [one.tolist() for one in arrays]
x = tf.placeholder(tf.float32, [200, 300])
w = tf.get_variable("w", [300, 64])
loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w))))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
session = tf.Session()
session.run(tf.global_variables_initializer())


def train_step(number):
    batch = (arrays if chosen.fix else lists)[number % 5]
    session.run(step, {x: batch})  # culprit


def main():
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
