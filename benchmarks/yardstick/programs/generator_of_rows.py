"""A plain generator makes each batch out of text."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "also_acceptable": ["input"], "fix": "batches are arrays"}

x0 = tf.random.stateless_normal([128, 256], [1, 2])
w = tf.Variable(tf.random.stateless_normal([256, 256], [3, 4]) * 0.05)


@tf.function
def update(x):
    with tf.GradientTape() as tape:
        h = tf.nn.relu(x @ w)
        loss = tf.reduce_mean(tf.tanh(h @ w) ** 2)
    w.assign_sub(1e-4 * tape.gradient(loss, w))
    return loss


rows = [" ".join(str((n * 31 + k) % 97) for k in range(256)) for n in range(500)]
ready = np.array([[float(v) for v in row.split()] for row in rows[:128]], np.float32) / 97


def batches():
    position = 0
    while True:
        batch = []
        for offset in range(128):
            text = rows[(position + offset) % len(rows)]  # culprit
            batch.append([float(value) / 97 for value in text.split()])  # culprit
        position += 128
        yield np.array(batch, np.float32)


def main():
    source = batches()
    for _ in steps():
        update(tf.constant(ready if chosen.fix else next(source)))


main()
