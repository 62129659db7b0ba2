"""Programs that loop before they train, or after it: `python sets_up.py CASE`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

STEPS = 90
TIMES = 4
"""How many times as long as its setting up a program trains at least, however busy the machine is: only what
goes on for longer than the loop that was recorded is taken for the steps."""


def training(steps: int, begun_s: float) -> Iterator[None]:
    """Steps of a program that began to set up at `begun_s`."""
    now_s = time.monotonic()
    until_s = now_s + TIMES * (now_s - begun_s)
    while steps > 0 or time.monotonic() < until_s:
        steps -= 1
        time.sleep(0.03)
        yield


def arrays(steps: int) -> None:
    """Makes its parameters op by op, each for as long as a step may take; its training is compiled."""
    import jax
    import jax.numpy as jnp

    def made(number: int) -> jax.Array:
        time.sleep(0.01)
        return jnp.sin(jnp.full((64, 64), float(number))) * 0.05

    begun_s = time.monotonic()
    parameters = [made(number) for number in range(120)]

    @jax.jit
    def train(parameters: list[jax.Array], x: jax.Array) -> list[jax.Array]:
        return [each - 0.01 * x for each in parameters]

    x = jnp.ones((64, 64))
    for _ in training(steps, begun_s):
        parameters = train(parameters, x)


def evaluation(steps: int) -> None:
    """Trains op by op, and evaluates with a compiled function, which takes less time."""
    import jax
    import jax.numpy as jnp

    weight, x = jnp.ones((64, 64)), jnp.ones((64, 64)) * 0.01
    for _ in range(steps):
        time.sleep(0.03)
        gradient = jnp.sin(x @ weight)
        weight = weight - 0.01 * gradient
        weight = jnp.tanh(weight) + x

    @jax.jit
    def loss(weight: jax.Array) -> jax.Array:
        return (weight * weight).sum()

    for _ in range(40):
        time.sleep(0.005)
        loss(weight)


def statistics(steps: int) -> None:
    """Goes over its dataset for means, and trains with a tf.function."""
    import tensorflow as tf

    data = tf.data.Dataset.range(120).map(lambda i: tf.fill([64, 64], tf.cast(i, tf.float32)))
    whole, begun_s = 0.0, time.monotonic()
    for each in data:
        time.sleep(0.01)
        whole += float(each[0, 0])
    weight = tf.Variable(tf.ones([64, 64]))

    @tf.function
    def train(x: tf.Tensor) -> tf.Tensor:
        weight.assign_sub(0.001 * tf.matmul(x, weight) / whole)
        return tf.reduce_sum(weight)

    for _, x in zip(training(steps, begun_s), data.repeat()):  # noqa: B905 - the data has no end
        train(x)


def evaluated(steps: int) -> None:
    """Evaluates a model of Keras before it trains it, and predicts after each batch of training."""
    import numpy as np
    import tensorflow as tf

    class Watch(tf.keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: object = None) -> None:
            self.model.predict(x[:160], verbose=0)

    x, y = np.ones((32 * steps, 8), np.float32), np.ones((32 * steps, 1), np.float32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(16), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.evaluate(x, y, verbose=0)
    model.fit(x, y, verbose=0, callbacks=[Watch()])


globals()[sys.argv[1]](STEPS)
print(f"STEPS {STEPS}")
