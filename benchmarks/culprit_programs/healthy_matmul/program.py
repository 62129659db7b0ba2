"""A model that computes all the time."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

ws = [tf.Variable(tf.random.normal([384, 384]) * 0.05) for _ in range(4)]


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        y = x
        for w in ws:
            y = tf.nn.relu(tf.matmul(y, w))
        loss = tf.reduce_mean(tf.square(y))
    for w, g in zip(ws, tape.gradient(loss, ws), strict=False):
        w.assign_sub(0.01 * g)
    return loss


def main():
    took, x = [], tf.random.normal([512, 384])
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        train(x)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
