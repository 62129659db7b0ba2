"""A callback of Keras appends to a journal after each batch and waits until the disk has it."""

import os
import tempfile
from pathlib import Path

import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "wait", "also_acceptable": ["python"], "fix": "no journal"}

folder = tempfile.TemporaryDirectory()
journal = (Path(folder.name) / "journal").open("ab")


class Journal(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        for _ in range(3):
            journal.write(b"." * 3_000_000)  # culprit
            journal.flush()  # culprit
            os.fsync(journal.fileno())  # culprit
        journal.truncate(0)  # culprit


class Quiet(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        pass


x = tf.random.uniform([2048, 256])
data = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, axis=1))).repeat().batch(256).prefetch(2)
layers = [tf.keras.layers.Dense(512, activation="relu") for _ in range(3)]
model = tf.keras.Sequential([tf.keras.layers.Input([256]), *layers, tf.keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
callbacks = [clock(), Quiet() if chosen.fix else Journal()]
model.fit(data, steps_per_epoch=chosen.steps, epochs=1, verbose=0, callbacks=callbacks)
