"""A small LSTM on cached data."""

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "healthy", "also_acceptable": ["compute", "none"], "fix": "nothing"}

tf.keras.utils.set_random_seed(1)


model = tf.keras.Sequential([tf.keras.layers.LSTM(128), tf.keras.layers.Dense(10)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.default_rng(0).normal(size=(64, 40, 64)).astype("float32")
y = np.random.default_rng(1).integers(0, 10, 64)
data = tf.data.Dataset.from_tensors((x, y)).cache().repeat().take(chosen.steps).prefetch(2)
model.fit(data, epochs=1, verbose=0, callbacks=[clock()])
