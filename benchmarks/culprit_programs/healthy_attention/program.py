"""A small transformer that fit trains: nothing is wrong."""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

took = []


class Clock(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        now = time.perf_counter()
        if batch:
            took.append((now - self.last) * 1e3)
        self.last = now


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
model.fit(data, steps_per_epoch=chosen.steps, epochs=1, verbose=0, callbacks=[Clock()])

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
