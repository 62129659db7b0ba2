"""The loop of tf1_session.py over a callable of the session, which is what Keras 1 makes and calls."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf.config_pb2 import CallableOptions

tf.disable_v2_behavior()
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 30
tf.set_random_seed(1)
dataset = tf.data.Dataset.range(1000).map(lambda x: tf.cast(x % 7, tf.float32)).batch(8).repeat()
x = tf.reshape(tf.data.make_one_shot_iterator(dataset).get_next(), [8, 1])
w = tf.get_variable("w", [1, 16], initializer=tf.random_normal_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
train = tf.train.GradientDescentOptimizer(0.001).minimize(loss, name="train")
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    step_of = session._make_callable_from_options(CallableOptions(fetch=["loss:0"], target=["train"]))
    for step in range(steps):
        (value,) = step_of()
        print(step, repr(float(value)))
    print(np.asarray(session.run(w)).tobytes().hex())
