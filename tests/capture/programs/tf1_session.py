"""A training loop over a TensorFlow 1 session, with a one-shot iterator."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 30
tf.set_random_seed(1)
dataset = tf.data.Dataset.range(1000).map(lambda x: tf.cast(x % 7, tf.float32)).batch(8).repeat()
x = tf.reshape(tf.data.make_one_shot_iterator(dataset).get_next(), [8, 1])
w = tf.get_variable("w", [1, 16], initializer=tf.random_normal_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
train = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(steps):
        _, value = session.run([train, loss])
        print(step, repr(float(value)))
    print(np.asarray(session.run(w)).tobytes().hex())
