"""Word counts of pages, made by a PyDataset while fit asks for them."""

import re

import numpy as np
import tensorflow as tf
from harness import chosen, clock

TRUTH = {"cause": "input", "fix": "the words are counted beforehand"}


class Pages(tf.keras.utils.PyDataset):
    def __init__(self, texts, labels):
        super().__init__()
        self.texts, self.labels = texts, labels

    def __len__(self):
        return chosen.steps

    def __getitem__(self, number):
        rows = np.zeros((32, 300), np.float32)
        for row in range(32):
            text = self.texts[(number * 32 + row) % len(self.texts)]
            for word in re.findall("[a-z]+", text) if not chosen.fix else ():
                rows[row, sum(map(ord, word)) % 300] += 1  # culprit
        return rows, self.labels[:32]


rng = np.random.default_rng(1)
letters = np.array(list("abcdefghij "))
texts = ["".join(rng.choice(letters, 700)) for _ in range(200)]
model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(Pages(texts, rng.random((32, 1)).astype(np.float32)), epochs=1, verbose=0, callbacks=[clock()])
