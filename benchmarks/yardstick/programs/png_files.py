"""Images are read and decoded one after another."""

import tempfile

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "stage": "Map", "fix": "decoded images are cached"}

folder = tempfile.mkdtemp()
for number in range(40):
    picture = np.random.default_rng(number).integers(0, 255, (200, 200, 3)).astype(np.uint8)
    tf.io.write_file(f"{folder}/{number:03}.png", tf.io.encode_png(picture))


def read(name):
    return tf.image.resize(tf.io.decode_png(tf.io.read_file(name), 3), [32, 32]) / 255.0


data = tf.data.Dataset.list_files(f"{folder}/*.png", shuffle=False)
options_ = tf.data.Options()
options_.autotune.enabled = False
options_.experimental_optimization.inject_prefetch = False
data = data.map(read, num_parallel_calls=1)  # culprit
if chosen.fix:
    data = data.cache()
data = data.repeat().batch(16).with_options(options_)
w = tf.Variable(tf.random.stateless_normal([3072, 64], [3, 4]) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.tanh(tf.reshape(x, [-1, 3072]) @ w) ** 2)
    w.assign_sub(1e-3 * tape.gradient(loss, w))


rows = iter(data)


def train_step(number):
    update(next(rows))


def main():
    for number in steps():
        train_step(number)


main()
