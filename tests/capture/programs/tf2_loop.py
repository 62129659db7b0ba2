"""A custom training loop of TensorFlow 2 over a dataset."""

import sys

import tensorflow as tf

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 30
tf.random.set_seed(1)


def parse(x):
    return tf.cast(x % 7, tf.float32) + tf.random.stateless_uniform([], [1, x])


dataset = tf.data.Dataset.range(1000)
dataset = dataset.map(parse, num_parallel_calls=2, deterministic=True)
dataset = dataset.batch(8).repeat().prefetch(2)
w = tf.Variable(tf.random.normal([1, 16]))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.reshape(x, [8, 1]) @ w - 1.0))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


for step, batch in enumerate(dataset.take(steps)):
    print(step, repr(float(train_step(batch))))
print(w.numpy().tobytes().hex())
