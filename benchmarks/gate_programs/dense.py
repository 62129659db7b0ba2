"""A small training loop whose second hidden layer has the width that the command line says."""

import sys

import tensorflow as tf

WIDTH = int(sys.argv[1])
STEPS = int(sys.argv[2])

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.random.set_seed(1)
model = tf.keras.Sequential(
    [
        tf.keras.Input((256,)),
        tf.keras.layers.Dense(512, activation="relu", name="hidden1"),
        tf.keras.layers.Dense(WIDTH, activation="relu", name="hidden2"),
        tf.keras.layers.Dense(256, activation="relu", name="hidden3"),
        tf.keras.layers.Dense(10, name="logits"),
    ]
)
optimizer = tf.keras.optimizers.SGD(0.01)
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
x = tf.random.normal((64, 256))
y = tf.random.uniform((64,), 0, 10, tf.int32)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_of(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


for _ in range(STEPS):
    step(x, y)
