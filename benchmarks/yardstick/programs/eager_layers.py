"""Many small layers without tf.function."""

import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "also_acceptable": ["python"], "fix": "tf.function"}

ws = [tf.Variable(tf.random.normal([16, 16]) * 0.3) for _ in range(40)]


def train(x):
    with tf.GradientTape() as tape:
        for w in ws:
            x = tf.nn.relu(tf.matmul(x, w)) + 0.1 * x  # culprit
        loss = tf.reduce_mean(x)
    for w, g in zip(ws, tape.gradient(loss, ws), strict=False):
        w.assign_sub(0.01 * tf.clip_by_norm(g, 1.0))  # culprit
    return loss


def main():
    x = tf.ones([8, 16])
    step = tf.function(train) if chosen.fix else train
    for _ in steps():
        float(step(x))


main()
