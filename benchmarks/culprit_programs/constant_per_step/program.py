"""An array that becomes a tensor in each step."""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

PRIOR = np.random.default_rng(0).normal(size=(1800, 1400)).astype(np.float32)


@tf.function
def train(w, prior, rows):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(tf.gather(prior, rows), w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def main():
    took, rows = [], tf.range(16)
    w, once = tf.Variable(tf.ones([1400, 2])), tf.constant(PRIOR)
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        prior = once if chosen.fix else tf.constant(PRIOR * 1.0)  # culprit
        train(w, prior, rows)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
