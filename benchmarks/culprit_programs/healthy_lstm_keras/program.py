"""A small LSTM on cached data."""

import argparse
import statistics
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

tf.keras.utils.set_random_seed(1)


class Clock(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.begin = time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        took.append((time.perf_counter() - self.begin) * 1e3)


took = []
model = tf.keras.Sequential([tf.keras.layers.LSTM(128), tf.keras.layers.Dense(10)])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.default_rng(0).normal(size=(64, 40, 64)).astype("float32")
y = np.random.default_rng(1).integers(0, 10, 64)
data = tf.data.Dataset.from_tensors((x, y)).cache().repeat().take(chosen.steps).prefetch(2)
model.fit(data, epochs=1, verbose=0, callbacks=[Clock()])

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
