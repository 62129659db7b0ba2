"""A callback keeps a deep copy of the weights of every batch."""

import copy

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "copy", "also_acceptable": ["python"], "fix": "no copy"}

tf.keras.utils.set_random_seed(1)


class Keep(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if not chosen.fix:
            self.best = copy.deepcopy(self.model.get_weights())  # culprit


model = tf.keras.Sequential(
    [tf.keras.layers.Embedding(40000, 64), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(5)]
)
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.default_rng(0).integers(0, 40000, (32, 12))
y = np.random.default_rng(1).integers(0, 5, 32)
data = tf.data.Dataset.from_tensors((x, y)).cache().repeat().take(chosen.steps)
model.fit(data, epochs=1, verbose=0, callbacks=[Keep(), clock()])
