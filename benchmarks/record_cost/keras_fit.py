"""Keras fit over a pipeline."""

import json
import time

import tensorflow as tf

dataset = tf.data.Dataset.range(10**9).map(
    lambda x: (tf.fill([256], tf.cast(x % 7, tf.float32)), tf.ones([1]))
)


class Times(tf.keras.callbacks.Callback):
    """The times from batch to batch."""

    def __init__(self):
        super().__init__()
        self.times = []
        self.last = time.perf_counter_ns(), time.process_time_ns()

    def on_train_batch_end(self, batch, logs=None):
        now = time.perf_counter_ns(), time.process_time_ns()
        self.times.append((now[0] - self.last[0], now[1] - self.last[1]))
        self.last = now


layers = [tf.keras.layers.Dense(256, activation="relu"), tf.keras.layers.Dense(1)]
model = tf.keras.Sequential(layers)
model.compile("sgd", "mse")
times = Times()
model.fit(dataset.batch(64).prefetch(2), steps_per_epoch=400, epochs=1, verbose=0, callbacks=[times])
print(json.dumps(times.times))
