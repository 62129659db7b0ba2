"""A training loop over a callable of a TensorFlow 1 session, which is what Keras 1 makes and calls."""

import sys

import numpy as np
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf.config_pb2 import CallableOptions

tf.disable_v2_behavior()
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 30
tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [8, 1], name="x")
w = tf.get_variable("w", [1, 16], initializer=tf.random_normal_initializer())
loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0), name="loss")
train = tf.train.GradientDescentOptimizer(0.001).minimize(loss, name="train")
options = CallableOptions(feed=["x:0"], fetch=["loss:0"], target=["train"])
batch = np.arange(8, dtype=np.float32).reshape(8, 1)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    step_of = session._make_callable_from_options(options)
    for step in range(steps):
        (value,) = step_of(batch)
        print(step, repr(float(value)))
    print(np.asarray(session.run(w)).tobytes().hex())
