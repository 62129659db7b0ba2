"""A TensorFlow 1 session that draws its batches from a pipeline."""

import json
import time

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
dataset = tf.data.Dataset.range(10**9).map(lambda x: tf.fill([256], tf.cast(x % 7, tf.float32))).batch(64)
x = tf.reshape(tf.data.make_one_shot_iterator(dataset.prefetch(2)).get_next(), [64, 256])
w = tf.get_variable("w", [256, 256])
v = tf.get_variable("v", [256, 256])
loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w)), v) - 1.0))
train = tf.train.GradientDescentOptimizer(0.0001).minimize(loss)
times = []
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(400):
        begin = time.perf_counter_ns(), time.process_time_ns()
        session.run([train, loss])
        times.append((time.perf_counter_ns() - begin[0], time.process_time_ns() - begin[1]))
print(json.dumps(times))
