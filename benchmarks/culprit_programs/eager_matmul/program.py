"""Eager ops on big matrices: launching them costs nothing beside what they compute."""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

layers = [tf.Variable(tf.random.normal([768, 768], stddev=0.03)) for _ in range(3)]


def train(x):
    with tf.GradientTape() as tape:
        for w in layers:
            x = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.square(x))
    for w, gradient in zip(layers, tape.gradient(loss, layers), strict=True):
        w.assign_sub(0.001 * gradient)
    return loss


def main():
    took = []
    x = tf.constant(np.random.default_rng(0).normal(size=(768, 768)).astype(np.float32))
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        train(x)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
