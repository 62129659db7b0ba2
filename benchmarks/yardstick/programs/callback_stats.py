"""A callback of fit that walks over the weights in Python."""

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "python", "fix": "no histogram"}


class Stats(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if not chosen.fix:
            self.histogram(weights)

    def histogram(self, values):
        bins = [0] * 32
        for value in values:  # culprit
            bins[min(max(int(value * 4 + 16), 0), 31)] += 1
        self.last = bins


weights = [i / 2500 for i in range(40000)]
x = np.random.default_rng(0).normal(size=(64 * chosen.steps, 64)).astype(np.float32)
model = tf.keras.Sequential([tf.keras.layers.Dense(128, "relu"), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, x[:, :1], batch_size=64, epochs=1, verbose=0, shuffle=False, callbacks=[Stats(), clock()])
