"""fit with a checkpoint after each batch."""

import argparse
import statistics
import tempfile
import time

import numpy as np
import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()


class Clock(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        now = time.perf_counter()
        if batch:
            took.append((now - self.last) * 1e3)
        self.last = now


took = []
x = np.random.default_rng(0).normal(size=(32 * chosen.steps, 64)).astype(np.float32)
model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(64)])
model.compile("sgd", "mse")
with tempfile.TemporaryDirectory() as folder:
    often = 1000 if chosen.fix else 1
    saving = tf.keras.callbacks.ModelCheckpoint(
        folder + "/w.weights.h5", save_weights_only=True, save_freq=often
    )
    model.fit(x, x, batch_size=32, verbose=0, shuffle=False, callbacks=[Clock(), saving])  # culprit

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
