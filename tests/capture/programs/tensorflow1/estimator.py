"""An Estimator of TensorFlow 1.15 whose input_fn waits in Python for each element."""

import tempfile
import time

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def slow(number):
    time.sleep(0.02)
    return np.float32(number % 7)


def input_fn():
    dataset = tf.data.Dataset.range(100000)
    dataset = dataset.map(lambda number: tf.py_func(slow, [number], tf.float32))
    dataset = dataset.map(lambda value: (tf.fill([16], value), value))
    return dataset.batch(4)


def model_fn(features, labels, mode):
    net = tf.layers.dense(tf.reshape(features, [-1, 16]), 64, tf.nn.relu)
    loss = tf.losses.mean_squared_error(tf.reshape(labels, [-1, 1]), tf.layers.dense(net, 1))
    train = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train)


with tempfile.TemporaryDirectory() as folder:
    estimator = tf.estimator.Estimator(model_fn, model_dir=folder)
    estimator.train(input_fn, steps=30)
    print("trained", estimator.get_variable_value("global_step"))
