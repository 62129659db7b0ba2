"""A tf.function that gets the number of the step as a Python integer."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

w = tf.Variable(tf.random.normal([256, 256]))


@tf.function
def train(x, step):
    with tf.GradientTape() as tape:
        y = x
        for _ in range(6):
            y = tf.nn.relu(tf.matmul(y, w))
        loss = tf.reduce_mean(y)
    w.assign_sub(0.01 / (1.0 + tf.cast(step, tf.float32)) * tape.gradient(loss, w))
    return loss


def main():
    took, x = [], tf.random.normal([64, 256])
    for step in range(chosen.steps):
        begin = time.perf_counter()
        train(x, tf.constant(step) if chosen.fix else step)  # culprit
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
