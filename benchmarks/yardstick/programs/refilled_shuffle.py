"""The iterator is made anew for each step, and its shuffle buffer is filled each time."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "stage": "Shuffle", "fix": "one iterator that repeats"}

options = tf.data.Options()
options.autotune.enabled = False


def rows():
    data = tf.data.Dataset.range(10**6).map(lambda i: tf.ones([32]) * tf.cast(i, tf.float32))
    return data.shuffle(1500).batch(32).prefetch(2).with_options(options)  # culprit


w = tf.Variable(tf.random.normal([32, 1200]) * 0.1)
v = tf.Variable(tf.random.normal([1200, 1200]) * 0.02)


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v) ** 2)
    for one, g in zip((w, v), tape.gradient(loss, (w, v)), strict=True):
        one.assign_sub(1e-9 * g)
    return loss


def main():
    data = rows()
    source = iter(data)
    for _ in steps():
        if not chosen.fix:
            source = iter(data)  # culprit
        float(train(next(source)))


main()
