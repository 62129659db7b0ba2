"""fit with a checkpoint after each batch."""

import tempfile

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "wait", "fix": "save every 1000th batch"}

x = np.random.default_rng(0).normal(size=(32 * chosen.steps, 64)).astype(np.float32)
model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(64)])
model.compile("sgd", "mse")
with tempfile.TemporaryDirectory() as folder:
    often = 1000 if chosen.fix else 1
    saving = tf.keras.callbacks.ModelCheckpoint(
        folder + "/w.weights.h5", save_weights_only=True, save_freq=often
    )
    model.fit(x, x, batch_size=32, verbose=0, shuffle=False, callbacks=[clock(), saving])  # culprit
