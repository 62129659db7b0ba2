"""A classifier whose last layer has far too many classes."""

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "compute", "also_acceptable": ["none"], "op_type": "MatMul", "fix": "50 classes"}

rng = np.random.default_rng(0)
x, y = rng.normal(size=(2048, 32)).astype(np.float32), rng.integers(0, 50, 2048)
model = tf.keras.Sequential(
    [
        tf.keras.Input((32,)),
        tf.keras.layers.Dense(128, "relu"),
        tf.keras.layers.Dense(50 if chosen.fix else 30000, name="classes"),  # culprit
    ]
)
model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
data = tf.data.Dataset.from_tensor_slices((x, y)).batch(64).cache().repeat()
model.fit(data, steps_per_epoch=chosen.steps, epochs=1, verbose=0, callbacks=[clock()])
