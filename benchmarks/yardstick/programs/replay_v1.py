"""A replay memory with priorities, sampled in Python."""

import random

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "also_acceptable": ["input"], "fix": "numpy draws by cumulated sums"}

tf.disable_v2_behavior()
states = np.random.default_rng(9).normal(size=(20000, 32)).astype(np.float32)
priorities = [1.0 + (number % 17) for number in range(20000)]
x = tf.placeholder(tf.float32, [None, 32])
w1 = tf.get_variable("w1", [32, 256])
w2 = tf.get_variable("w2", [256, 4])
q = tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)
step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(tf.square(q)))


def draw(many):
    found, total = [], sum(priorities)
    for _ in range(many):
        left = random.random() * total
        for number, priority in enumerate(priorities):
            left -= priority
            if left <= 0:  # culprit
                found.append(number)
                break
    return found


def quick(many):
    sums = np.cumsum(priorities)
    return np.searchsorted(sums, np.random.random(many) * sums[-1])


def main():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in steps():
            rows = quick(32) if chosen.fix else draw(32)
            session.run(step, {x: states[rows]})


main()
