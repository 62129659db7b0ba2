"""A tf.function for one token, called for each token of a sentence."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

w = tf.Variable(tf.random.normal([32, 32], stddev=0.1))


@tf.function
def token(state, x):
    return tf.tanh(state @ w + x)


@tf.function
def sentence(state, xs):
    for x in tf.unstack(xs):
        state = token(state, x)
    return state


def run(state, xs):
    if chosen.fix:
        return sentence(state, xs)
    for x in tf.unstack(xs):
        state = token(state, x)  # culprit
    return state


def main():
    took = []
    xs = tf.random.normal([60, 4, 32])
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        run(tf.zeros([4, 32]), xs)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
