"""A TF1 session is fed nested lists."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "copy", "also_acceptable": ["python"], "fix": "arrays are fed"}

tf.disable_v2_behavior()
rng = np.random.default_rng(3)
arrays = [rng.normal(size=(200, 300)).astype("float32") for _ in range(5)]
lists = [one.tolist() for one in arrays]
x = tf.placeholder(tf.float32, [200, 300])
w = tf.get_variable("w", [300, 64])
loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, w))))
step = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
session = tf.Session()
session.run(tf.global_variables_initializer())


def train_step(number):
    batch = (arrays if chosen.fix else lists)[number % 5]
    session.run(step, {x: batch})  # culprit


def main():
    for number in steps():
        train_step(number)


main()
