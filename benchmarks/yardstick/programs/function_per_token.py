"""A tf.function for one token, called for each token of a sentence."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "also_acceptable": ["python"], "fix": "the loop is inside of one tf.function"}

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
    xs = tf.random.normal([60, 4, 32])
    for _ in steps():
        run(tf.zeros([4, 32]), xs)


main()
