"""A model of Keras as TensorFlow 1.15 has it: it makes callables of its session, and calls those."""

import numpy as np
import tensorflow as tf

np.random.seed(1)
x = np.random.rand(3200, 8).astype("float32")
model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu", input_shape=(8,)), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, x[:, :1], batch_size=16, epochs=6, verbose=0)
print("trained", model.predict(x[:4]).shape)
