"""A model that computes all the time."""

import tensorflow as tf
from harness import steps

TRUTH = {
    "cause": "healthy",
    "also_acceptable": ["compute", "none"],
    "op_type": "MatMul",
    "fix": "nothing to mend",
}

ws = [tf.Variable(tf.random.normal([384, 384]) * 0.05) for _ in range(4)]


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        y = x
        for w in ws:
            y = tf.nn.relu(tf.matmul(y, w))
        loss = tf.reduce_mean(tf.square(y))
    for w, g in zip(ws, tape.gradient(loss, ws), strict=False):
        w.assign_sub(0.01 * g)
    return loss


def main():
    x = tf.random.normal([512, 384])
    for _ in steps():
        train(x)


main()
