"""A pipeline of ops without prefetch: it works only while the model waits for it."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "fix": "prefetch(2): reading goes on beside the model"}


def smoothed(seed):
    x = tf.random.stateless_uniform([64, 3000], [seed, 1])
    return tf.sort(x, axis=1)[:, :500]


def batches():
    options = tf.data.Options()
    options.autotune.enabled = False
    options.threading.private_threadpool_size = 1
    options.experimental_optimization.inject_prefetch = False
    data = tf.data.Dataset.range(10**6).map(smoothed).with_options(options)  # culprit
    return data.prefetch(2) if chosen.fix else data


w = tf.Variable(tf.ones([500, 500]) * 0.01)


@tf.function
def train(x):
    h = x
    for _ in range(14):
        h = tf.tanh(tf.matmul(h, w))
    return tf.reduce_mean(h)


def main():
    source = iter(batches())
    for _ in steps():
        float(train(next(source)))


main()
