"""A session whose input parses text in a py_func."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "also_acceptable": ["python"], "stage": "MapV2", "fix": "parse each line once"}

tf.disable_v2_behavior()


def parsed(line):
    fields = line.decode().split(",")
    again = 1 if chosen.fix else 25
    for _ in range(again):
        values = [float(field) for field in fields]  # culprit
    return np.array(values, np.float32)


def records():
    rng = np.random.default_rng(1)
    lines = [",".join(f"{v:.4f}" for v in rng.normal(size=120)) for _ in range(64)]
    data = tf.data.Dataset.from_tensor_slices(lines).repeat()
    data = data.map(lambda line: tf.py_func(parsed, [line], tf.float32))  # culprit
    return data.batch(24).prefetch(1)


x = tf.reshape(tf.data.make_one_shot_iterator(records()).get_next(), [24, 120])
w = tf.get_variable("w", [120, 32])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
update = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in steps():
        session.run([loss, update])
