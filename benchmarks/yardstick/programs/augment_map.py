"""Images that are blurred and resized one by one while they are read."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "stage": "ParallelMapV2", "fix": "cache what the map makes"}

tf.config.threading.set_inter_op_parallelism_threads(2)
stored = tf.random.uniform([64, 96, 96, 3])
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(8)])


def blurred(image):
    for _ in range(3):
        image = tf.nn.avg_pool2d(tf.image.resize(image[None], [160, 160], "bicubic"), 5, 1, "SAME")[0]
    return tf.image.resize(image, [32, 32])


def images():
    data = tf.data.Dataset.from_tensor_slices(stored)
    data = data.map(blurred).cache() if chosen.fix else data.map(blurred)  # culprit
    return data.repeat().batch(8).prefetch(1)


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)))
    for v, g in zip(model.trainable_variables, tape.gradient(loss, model.trainable_variables), strict=False):
        v.assign_sub(0.01 * g)
    return loss


batches = iter(images())
for _ in steps():
    train(next(batches))
