"""A small transformer that fit trains: nothing is wrong."""

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "healthy", "also_acceptable": ["compute", "none"], "fix": "nothing to mend"}

inputs = tf.keras.Input((64,), dtype="int32")
x = tf.keras.layers.Embedding(500, 128)(inputs)
x = x + tf.keras.layers.MultiHeadAttention(4, 32)(x, x)
x = x + tf.keras.layers.Dense(128)(tf.keras.layers.Dense(256, "gelu")(x))
x = tf.keras.layers.Dense(10)(tf.keras.layers.GlobalAveragePooling1D()(x))
model = tf.keras.Model(inputs, x)
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rng = np.random.default_rng(0)
rows = (rng.integers(0, 500, (2048, 64)).astype(np.int32), rng.integers(0, 10, 2048))
data = tf.data.Dataset.from_tensor_slices(rows).batch(32).cache().repeat().prefetch(2)
model.fit(data, steps_per_epoch=chosen.steps, epochs=1, verbose=0, callbacks=[clock()])
