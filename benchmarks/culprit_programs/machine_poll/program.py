"""Every step runs a program to read the machine's load."""

import argparse
import statistics
import subprocess
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)


@tf.function
def update():
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean((h @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))


def load_of_machine():
    return subprocess.run(
        ["sh", "-c", "sleep 0.01; cat /proc/loadavg"], capture_output=True
    ).stdout  # culprit


def train_step(number):
    update()
    if not chosen.fix:
        load_of_machine()


def main():
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
