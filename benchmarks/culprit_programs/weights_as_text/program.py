"""Every step prints the weights into a text."""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x0 = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.tanh(h @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss


notes = []


def noted():
    array = w.numpy()
    notes.append(np.array2string(array[:24], precision=3, threshold=10**6))  # culprit
    del notes[:-1]


def train_step(number):
    update(x0)
    if not chosen.fix:
        noted()


def main():
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
