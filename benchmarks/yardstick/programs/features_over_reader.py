"""Python between the steps, which hides a reader that sorts and is slower than the model."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "fix": "no such count: the reader limits the steps then"}

w = tf.Variable(tf.ones([64, 64]))


def sorted_rows(seed):
    values = tf.random.stateless_uniform([90_000], [seed, seed])
    return tf.sort(values)[: 128 * 64]


def rows():
    options = tf.data.Options()
    options.autotune.enabled = False
    options.threading.private_threadpool_size = 1
    data = tf.data.Dataset.range(10**6).map(sorted_rows).prefetch(2)
    return data.map(lambda x: tf.reshape(x, [128, 64])).prefetch(2).with_options(options)


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


def counted(loss):
    total = 0
    for number in range(0 if chosen.fix else 400_000):  # culprit
        total += number % 7  # culprit
    return total + loss


def main():
    batches = iter(rows())
    for _ in steps():
        counted(float(train(next(batches))))


main()
