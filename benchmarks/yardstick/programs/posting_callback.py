"""A callback of Keras posts the loss to a service and waits for its answer."""

import time

import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "wait", "fix": "no such callback"}


class Posts(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        time.sleep(0.012)  # culprit


x = tf.random.uniform([2048, 400])
data = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, axis=1))).repeat().batch(128).prefetch(2)
layers = [tf.keras.layers.Dense(700, activation="tanh") for _ in range(4)]
model = tf.keras.Sequential([tf.keras.layers.Input([400]), *layers, tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
callbacks = [clock()] if chosen.fix else [clock(), Posts()]
model.fit(data, steps_per_epoch=chosen.steps, epochs=1, verbose=0, callbacks=callbacks)
