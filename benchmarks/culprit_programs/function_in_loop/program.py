"""A tf.function that is made anew in the loop."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()


def main():
    took, x = [], tf.random.normal([64, 128])
    w = tf.Variable(tf.random.normal([128, 128]))

    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.sin(tf.matmul(tf.cos(tf.matmul(x, w)), w)))
        w.assign_sub(0.01 * tape.gradient(loss, w))
        return loss

    once = tf.function(step)
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        if chosen.fix:
            once()
        else:
            tf.function(step)()  # culprit
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
