"""Each image of a batch is augmented by eager ops of its own."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "also_acceptable": ["python"], "fix": "the whole batch in one tf.function"}

w = tf.Variable(tf.random.normal([16 * 16 * 3, 32]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.reshape(x, [-1, 16 * 16 * 3]) @ w))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


def augment(image):
    image = tf.reverse(image, [1])
    image = tf.clip_by_value(image * 1.1 + 0.05, 0.0, 1.0)
    return (image - tf.reduce_mean(image)) / (tf.math.reduce_std(image) + 1e-3)


def augmented(images):
    if chosen.fix:
        return whole(images)
    return tf.stack([augment(image) for image in tf.unstack(images)])  # culprit


@tf.function
def whole(images):
    images = tf.clip_by_value(tf.reverse(images, [2]) * 1.1 + 0.05, 0.0, 1.0)
    middle = tf.reduce_mean(images, [1, 2, 3], keepdims=True)
    return (images - middle) / (tf.math.reduce_std(images, [1, 2, 3], keepdims=True) + 1e-3)


def main():
    images = tf.constant(np.random.default_rng(0).random((48, 16, 16, 3)).astype(np.float32))
    for _ in steps():
        train(augmented(images))


main()
