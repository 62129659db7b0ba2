"""A compiled step gets a dictionary that gains a key in each step."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x = tf.random.stateless_normal([64, 128], [1, 2])
w = tf.Variable(tf.random.stateless_normal([128, 64], [3, 4]) * 0.05)


@tf.function
def update(facts):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ w) ** 2) * facts["scale"]
    w.assign_sub(1e-3 * tape.gradient(loss, w))
    return loss


def train_step(number):
    facts = {"scale": tf.constant(1.0)}
    if not chosen.fix:
        facts[f"seen_{number}"] = tf.constant(0.0)
    update(facts)  # culprit


def main():
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
