"""A classifier whose last layer has far too many classes."""

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


rng = np.random.default_rng(0)
x, y = rng.normal(size=(2048, 32)).astype(np.float32), rng.integers(0, 50, 2048)
model = tf.keras.Sequential(
    [
        tf.keras.Input((32,)),
        tf.keras.layers.Dense(128, "relu"),
        tf.keras.layers.Dense(50 if chosen.fix else 30000, name="classes"),  # culprit
    ]
)
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64).cache().repeat()
model.fit(data, steps_per_epoch=chosen.steps, epochs=1, verbose=0, callbacks=[Clock()])

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
