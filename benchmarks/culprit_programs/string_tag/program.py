"""A text that names the step is given to a tf.function."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

w = tf.Variable(tf.random.normal([64, 64]))


@tf.function
def train(x, tag):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
        for _ in range(4):
            loss += tf.reduce_sum(tf.square(tf.tanh(w)))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return tf.strings.join([tag, tf.strings.as_string(loss)])


def main():
    took = []
    x = tf.ones([64, 64])
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train(x, tf.constant(f"step {number}: ") if chosen.fix else f"step {number}: ")  # culprit
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
