"""A client that may ask only so often."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

w = tf.Variable(tf.ones([64, 64]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def permission():
    if not chosen.fix:
        time.sleep(0.012)  # culprit


def main():
    took, x = [], tf.ones([128, 64])
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        permission()
        train(x)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
