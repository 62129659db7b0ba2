"""A text that names the step is given to a tf.function."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compile", "fix": "the text is a tensor"}

w = tf.Variable(tf.random.normal([64, 64]))


@tf.function
def train(x, tag):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
        for _ in range(4):
            loss += tf.reduce_sum(tf.square(tf.tanh(w)))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return tf.strings.join([tag, tf.strings.as_string(loss)])


def main():
    x = tf.ones([64, 64])
    for number in steps():
        train(x, tf.constant(f"step {number}: ") if chosen.fix else f"step {number}: ")  # culprit


main()
