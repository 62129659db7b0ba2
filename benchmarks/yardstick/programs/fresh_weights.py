"""Every step waits until a background thread has published something."""

import threading
import time

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "nothing is published"}

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
    for number in steps():
        train_step(number)


main()
