"""Every step runs a program to read the machine's load."""

import subprocess

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "the machine is not asked"}

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
    for number in steps():
        train_step(number)


main()
