"""Every step waits until a background thread has published something."""

import argparse
import statistics
import threading
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

x = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)
published = threading.Event()


@tf.function
def update():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))


def publishes():
    while True:
        time.sleep(0.009)
        published.set()


if not chosen.fix:
    threading.Thread(target=publishes, daemon=True).start()


def train_step(number):
    if not chosen.fix:
        published.wait()  # culprit
        published.clear()
    update()


def main():
    took = []
    for number in range(chosen.steps):
        begin = time.perf_counter()
        train_step(number)
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
