"""Every step settles an auction in Python before it runs the session."""

import heapq
import random

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "python", "also_acceptable": ["input"], "fix": "auctions are settled beforehand"}

tf.disable_v2_behavior()
rng = random.Random(5)
x = tf.placeholder(tf.float32, [None, 400])
h = x
for number in range(4):
    h = tf.tanh(tf.matmul(h, tf.get_variable(f"w{number}", [400, 400])))
step = tf.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(h)))


def settled():
    bids = []
    for bidder in range(20000):
        heapq.heappush(bids, (rng.random(), bidder))  # culprit
    won = [heapq.heappop(bids) for _ in range(256)]  # culprit
    return np.array([price for price, _ in won], np.float32)


def main():
    rows = np.random.default_rng(0).normal(size=(256, 400)).astype(np.float32)
    prices = settled()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in steps():
            if not chosen.fix:
                prices = settled()
            session.run(step, {x: rows * prices[:, None]})


main()
