"""An evaluator is started as a process in every step."""

import subprocess

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "no process a step"}

w = tf.Variable(tf.random.normal([128, 128]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


def evaluate():
    if not chosen.fix:
        subprocess.run(["sleep", "0.02"], check=True)  # culprit


def main():
    x = tf.ones([256, 128])
    for _ in steps():
        train(x)
        evaluate()


main()
