"""tf.map_fn runs a small function for each row."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x0 = tf.random.stateless_normal([256, 64], [1, 2])
w = tf.Variable(tf.random.stateless_normal([64, 64], [3, 4]) * 0.05)


def normed(row):
    return row / (tf.norm(row) + 1e-6)


@tf.function
def update(x):
    rows = x / (tf.norm(x, axis=1, keepdims=True) + 1e-6) if chosen.fix else tf.map_fn(normed, x)  # culprit
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(rows @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))


def train_step(number):
    update(x0)


def main():
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
