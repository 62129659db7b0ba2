"""A layer that inverts a matrix in each step."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

a = tf.eye(420) * 3 + tf.random.normal([420, 420]) * 0.01
w = tf.Variable(tf.random.normal([420, 8]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        y = tf.matmul(x, w) if chosen.fix else tf.matmul(tf.linalg.inv(a + 1e-3 * w[:, :1]), w)  # culprit
        loss = tf.reduce_mean(tf.square(y))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def main():
    took, x = [], tf.random.normal([420, 420])
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        train(x)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
