"""Many small layers without tf.function."""

import argparse
import statistics
import time

import tensorflow as tf

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()

ws = [tf.Variable(tf.random.normal([16, 16]) * 0.3) for _ in range(40)]


def train(x):
    with tf.GradientTape() as tape:
        for w in ws:
            x = tf.nn.relu(tf.matmul(x, w)) + 0.1 * x  # culprit
        loss = tf.reduce_mean(x)
    for w, g in zip(ws, tape.gradient(loss, ws), strict=False):
        w.assign_sub(0.01 * tf.clip_by_norm(g, 1.0))  # culprit
    return loss


def main():
    took, x = [], tf.ones([8, 16])
    step = tf.function(train) if chosen.fix else train
    for _ in range(chosen.steps):
        begin = time.perf_counter()
        float(step(x))
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
