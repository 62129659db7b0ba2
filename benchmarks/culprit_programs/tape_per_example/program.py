"""Gradients of a batch are taken one example at a time, without a compiled function."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x = tf.random.stateless_normal([48, 64], [1, 2])
w = tf.Variable(tf.random.stateless_normal([64, 16], [3, 4]) * 0.05)


def gradient_of(rows):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(rows @ w) ** 2)
    return tape.gradient(loss, w)


def accumulated():
    total = tf.zeros_like(w)
    for number in range(48):  # culprit
        total += gradient_of(x[number : number + 1])  # culprit
    return total / 48  # culprit


batched = tf.function(lambda: gradient_of(x))


def train_step(number):
    w.assign_sub(1e-3 * (batched() if chosen.fix else accumulated()))


def main():
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
