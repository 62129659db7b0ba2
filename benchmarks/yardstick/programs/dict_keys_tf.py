"""A compiled step gets a dictionary that gains a key in each step."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "the dictionary keeps its keys"}

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
    for number in steps():
        train_step(number)


main()
