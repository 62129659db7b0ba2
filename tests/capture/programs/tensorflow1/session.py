"""A Session that is fed batches of NumPy, in the words of TensorFlow 1.1 to 1.15; its exit code is 7."""

import sys

import numpy as np
import tensorflow as tf


def batch(numbers):
    images = numbers.rand(16, 12, 12, 1).astype(np.float32)
    return np.rot90(images, axes=(1, 2)), numbers.randint(0, 10, 16)


tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [None, 12, 12, 1])
y = tf.placeholder(tf.int64, [None])
net = tf.layers.conv2d(x, 8, 5, activation=tf.nn.relu)
net = tf.layers.dense(tf.reshape(net, [-1, 8 * 8 * 8]), 10)
loss = tf.losses.sparse_softmax_cross_entropy(y, net)
train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    numbers = np.random.RandomState(0)
    for _ in range(40):
        images, labels = batch(numbers)
        _, value = session.run([train, loss], {x: images, y: labels})
    print("trained", value < 10)
sys.exit(7)
