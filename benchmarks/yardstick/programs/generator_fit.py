"""A generator that makes samples in Python, under fit."""

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "input", "stage": "Generator", "fix": "do not sum in Python"}

SIZE = 256


def samples():
    rng = np.random.default_rng(0)
    while True:
        x = rng.normal(size=SIZE)
        if not chosen.fix:
            x = np.array([sum(x[max(0, i - 9) : i + 1]) for i in range(SIZE)])  # culprit
        yield x.astype(np.float32), np.float32(x[0] > 0)


shape = (tf.TensorSpec([SIZE]), tf.TensorSpec([]))
data = tf.data.Dataset.from_generator(samples, output_signature=shape).batch(32).prefetch(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(data, steps_per_epoch=chosen.steps, epochs=1, verbose=0, callbacks=[clock()])
