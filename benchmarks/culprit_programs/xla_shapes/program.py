"""A function with jit_compile is traced once, and compiled by XLA for each new length."""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

w = tf.Variable(tf.random.normal([64, 64]))


@tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 64])])
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.softmax(tf.tanh(x @ w))))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


def main():
    took = []
    for number in range(chosen.steps):
        x = np.ones((32 if chosen.fix else 32 + number, 64), np.float32)
        begin = time.perf_counter()
        train(x)  # culprit
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
