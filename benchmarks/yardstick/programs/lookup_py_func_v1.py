"""A TensorFlow 1 pipeline looks words up in a py_func."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "input", "stage": "Map", "fix": "numbers are kept instead of text"}

tf.disable_v2_behavior()
rng = np.random.default_rng(6)
words = {f"word{number}": number for number in range(3000)}
names = list(words)
sentences = rng.integers(0, 3000, (400, 300))


def look_up(row):
    if chosen.fix:
        return sentences[row % 400].astype(np.float32) % 16
    text = " ".join(names[number] for number in sentences[row % 400])
    return np.array(
        [words.get(word.strip().lower(), 0) % 16 for word in text.split(" ")], np.float32
    )  # culprit


data = tf.data.Dataset.range(1 << 40).map(lambda row: tf.py_func(look_up, [row], tf.float32, stateful=False))
data = data.map(lambda found: tf.reshape(found, [300])).batch(64).prefetch(1)
x = tf.data.make_one_shot_iterator(data).get_next()
w = tf.get_variable("w", [300, 32])
loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
step = tf.train.GradientDescentOptimizer(0.0001).minimize(loss)


def main():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in steps():
            session.run(step)


main()
