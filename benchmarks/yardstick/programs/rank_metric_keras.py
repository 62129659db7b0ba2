"""A custom metric ranks scores in Python through tf.py_function."""

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "python", "fix": "the metric is an op"}

tf.keras.utils.set_random_seed(1)


def ranked(truth, scores):
    hits = 0
    for row, label in zip(scores.numpy(), truth.numpy(), strict=True):  # culprit
        better = sum(1 for score in row if score > row[int(label)])  # culprit
        hits += better < 5  # culprit
    return np.float32(hits / len(scores))


def top5(truth, scores):
    if chosen.fix:
        return tf.reduce_mean(tf.cast(tf.math.in_top_k(tf.cast(truth, tf.int32), scores, 5), tf.float32))
    value = tf.py_function(ranked, [truth, scores], tf.float32)
    value.set_shape([])
    return value


model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(200)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=[top5])
x = np.random.default_rng(0).normal(size=(64, 128)).astype("float32")
y = np.random.default_rng(1).integers(0, 200, 64).astype("float32")
data = tf.data.Dataset.from_tensors((x, y)).cache().repeat().take(chosen.steps)
model.fit(data, epochs=1, verbose=0, callbacks=[clock()])
