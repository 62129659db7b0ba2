"""A small convolutional training loop whose first block has the width that the command line says."""

import sys

import tensorflow as tf

WIDTH = int(sys.argv[1])
STEPS = int(sys.argv[2])

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)
tf.random.set_seed(3)


def weight(name, *shape):
    """A variable with small random numbers."""
    return tf.Variable(tf.random.normal(shape, stddev=0.05), name=name)


weights = {
    "stem": weight("stem", 3, 3, 3, 32),
    "block1": weight("block1", 3, 3, 32, WIDTH),
    "block2": weight("block2", 3, 3, WIDTH, 32),
    "head": weight("head", 32, 10),
}
x = tf.random.normal((16, 32, 32, 3))
y = tf.random.uniform((16,), 0, 10, tf.int32)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        hidden = x
        for name in ("stem", "block1", "block2"):
            with tf.name_scope(name):
                stride = 2 if name == "block2" else 1
                hidden = tf.nn.relu(tf.nn.conv2d(hidden, weights[name], stride, "SAME"))
        with tf.name_scope("head"):
            logits = tf.matmul(tf.reduce_mean(hidden, (1, 2)), weights["head"])
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
    variables = list(weights.values())
    for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
        variable.assign_sub(0.01 * gradient)
    return loss


for _ in range(STEPS):
    train_step(x, y)
