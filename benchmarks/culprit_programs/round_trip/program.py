"""A big embedding goes to numpy and back in every step, to be clipped."""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

table = tf.Variable(tf.random.normal([40000, 128]))
ids = tf.constant(np.random.default_rng(0).integers(0, 40000, 256))


@tf.function
def train():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.gather(table, ids)))
    gradient = tape.gradient(loss, table)
    table.scatter_sub(tf.IndexedSlices(0.1 * gradient.values, gradient.indices))
    return loss


def main():
    took = []
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        train()
        if not chosen.fix:
            table.assign(table.numpy().copy())  # culprit
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
