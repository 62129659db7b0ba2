"""A custom loop of TensorFlow 2 over a pipeline: `tf2_loop.py WIDTH RATE`."""

import json
import sys
import time

import tensorflow as tf

width, rate = int(sys.argv[1]), float(sys.argv[2])
dataset = tf.data.Dataset.range(10**9).map(lambda x: tf.fill([width], tf.cast(x % 7, tf.float32))).batch(64)
w = tf.Variable(tf.random.normal([width, width]))
v = tf.Variable(tf.random.normal([width, width]))


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w) @ v - 1.0))
    for variable, gradient in zip((w, v), tape.gradient(loss, (w, v)), strict=True):
        variable.assign_sub(rate * gradient)
    return loss


times = []
begin = time.perf_counter_ns(), time.process_time_ns()
for batch in dataset.prefetch(2).take(400):
    float(train_step(batch))
    now = time.perf_counter_ns(), time.process_time_ns()
    times.append((now[0] - begin[0], now[1] - begin[1]))
    begin = now
print(json.dumps(times))
