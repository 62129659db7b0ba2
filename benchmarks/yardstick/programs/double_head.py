"""One layer computes in double precision."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "MatMul", "fix": "no wide layer"}

x0 = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)
wide = tf.Variable(tf.random.stateless_normal([256, 4096], [5, 6], dtype=tf.float64) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(h**2)
        if not chosen.fix:
            scores = tf.cast(h, tf.float64) @ wide  # culprit
            loss += tf.cast(tf.reduce_mean(scores), tf.float32)
    w.assign_sub(1e-4 * tape.gradient(loss, w))


def train_step(number):
    update(x0)


def main():
    for number in steps():
        train_step(number)


main()
