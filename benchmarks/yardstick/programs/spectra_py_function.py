"""Spectra are made by numpy in a py_function, one sample at a time."""

import numpy as np
import tensorflow as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "stage": "Map", "fix": "one FFT instead of a sum a frequency"}


def spectrum(wave):
    found = np.zeros(64, np.float32)
    for k in range(64):
        found[k] = np.abs(np.sum(wave.numpy() * np.exp(-2j * np.pi * k * np.arange(256) / 256)))  # culprit
    return found


def quick(wave):
    return np.abs(np.fft.fft(wave.numpy())[:64]).astype(np.float32)


def load(wave):
    found = tf.py_function(quick if chosen.fix else spectrum, [wave], tf.float32)
    found.set_shape([64])
    return found


rng = np.random.default_rng(3)
waves = rng.normal(size=(300, 256)).astype(np.float32)
data = tf.data.Dataset.from_tensor_slices(waves).repeat().map(load).batch(16).prefetch(1)
w = tf.Variable(tf.random.normal([64, 128]))


@tf.function
def train(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w)))
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


def main():
    batches = iter(data)
    for _ in steps():
        train(next(batches))


main()
