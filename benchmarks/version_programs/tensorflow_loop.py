"""A loop of TensorFlow that waits for its pipeline: each batch takes far longer to make than its step."""

import tensorflow as tf


def augment(x):
    """Multiplies matrices until a batch has taken a while."""
    y = tf.ones([320, 320]) * tf.cast(x % 7, tf.float32)
    for _ in range(8):
        y = tf.linalg.matmul(y, y) * 1e-3
    return y[0]


dataset = tf.data.Dataset.range(10**9).map(augment).batch(4)
w = tf.Variable(tf.random.normal([320, 4]))


@tf.function
def train_step(x):
    """One step of gradient descent."""
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.linalg.matmul(x, w)))
    w.assign_sub(0.0001 * tape.gradient(loss, w))
    return loss


for batch in dataset.take(150):
    float(train_step(batch))
