"""Features that NumPy makes are doubles, and with them all products of the model."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "MatMul", "fix": "features in float32"}

random = np.random.default_rng(0)
features = random.random((256, 600))
if chosen.fix:
    features = features.astype("float32")
x = tf.constant(features)
weights = [tf.Variable(tf.cast(random.random((600, 600)) * 0.01, x.dtype)) for _ in range(4)]


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        h = x
        for w in weights:
            h = tf.nn.relu(tf.matmul(h, w))  # culprit
        loss = tf.reduce_mean(tf.square(h))
    for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
        w.assign_sub(tf.cast(0.01, x.dtype) * g)
    return loss


for _ in steps():
    float(train(x))
