"""A session that fetches each value with a run of its own."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "dispatch", "also_acceptable": ["python"], "fix": "one run for all"}

tf.disable_v2_behavior()
x = tf.placeholder(tf.float32, [16, 32])
w = tf.get_variable("w", [32, 32])
y = tf.nn.relu(tf.matmul(x, w))
loss = tf.reduce_mean(tf.square(y))
update = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
sums = [tf.reduce_sum(y[:, i]) for i in range(32)]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _step in steps():
        fed = {x: np.ones((16, 32), np.float32)}
        session.run([loss, update], fed)
        if chosen.fix:
            session.run(sums, fed)
        else:
            [session.run(one, fed) for one in sums]  # culprit
