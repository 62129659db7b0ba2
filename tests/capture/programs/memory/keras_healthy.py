"""A callback keeps numbers."""

import sys

import keras
import numpy as np


class Keep(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.logs = []

    def on_train_batch_end(self, batch, logs=None):
        self.logs.append({k: float(v) for k, v in (logs or {}).items()})


model = keras.Sequential([keras.layers.Dense(128, activation="relu"), keras.layers.Dense(8)])
model.compile("adam", "mse")
x = np.random.default_rng(0).normal(size=(64 * int(sys.argv[1]), 64)).astype("float32")
model.fit(x, x[:, :8], batch_size=64, epochs=1, verbose=0, callbacks=[Keep()])
print("trained True")
