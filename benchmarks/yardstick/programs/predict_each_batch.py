"""A callback predicts one example after every batch."""

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "dispatch", "also_acceptable": ["compile", "python", "input"], "fix": "no callback"}

tf.keras.utils.set_random_seed(1)


class Look(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if not chosen.fix:
            self.model.predict(x[:1], verbose=0)  # culprit


model = tf.keras.Sequential([tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(10)])
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.default_rng(0).normal(size=(64, 128)).astype("float32")
y = np.random.default_rng(1).integers(0, 10, 64)
data = tf.data.Dataset.from_tensors((x, y)).cache().repeat().take(chosen.steps)
model.fit(data, epochs=1, verbose=0, callbacks=[Look(), clock()])
