"""A session that fetches each value with a run of its own."""

import argparse
import statistics
import time

import numpy as np
import tensorflow.compat.v1 as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

tf.disable_v2_behavior()
took = []
x = tf.placeholder(tf.float32, [16, 32])
w = tf.get_variable("w", [32, 32])
y = tf.nn.relu(tf.matmul(x, w))
loss = tf.reduce_mean(tf.square(y))
update = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
sums = [tf.reduce_sum(y[:, i]) for i in range(32)]
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _step in range(chosen.steps):
        begin = time.perf_counter()
        fed = {x: np.ones((16, 32), np.float32)}
        session.run([loss, update], fed)
        if chosen.fix:
            session.run(sums, fed)
        else:
            [session.run(one, fed) for one in sums]  # culprit
        took.append((time.perf_counter() - begin) * 1e3)

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
