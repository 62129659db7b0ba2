"""Loops in which every step compiles, each for another reason: floats, anew, static, shapes."""

import sys


def floats():
    import tensorflow as tf

    w = tf.Variable(tf.ones([16, 16]))

    @tf.function
    def train(x, opts):
        w.assign_sub(opts["rate"] * tf.matmul(x, w))
        return tf.reduce_sum(w)

    x = tf.ones([16, 16])
    for i in range(STEPS):
        opts = {"rate": 0.01 / (i + 1), "name": "sgd"}
        train(x, opts)


def anew():
    import tensorflow as tf

    w = tf.Variable(tf.ones([16, 16]))
    x = tf.ones([16, 16])
    for i in range(STEPS):
        rate = 0.01 / (i + 1)

        @tf.function
        def update(x):
            w.assign_sub(rate * tf.matmul(x, w))  # noqa: B023  that is the mistake
            return tf.reduce_sum(w)

        update(x)


def static():
    import functools

    import jax
    import jax.numpy as jnp

    @functools.partial(jax.jit, static_argnums=(1,))
    def power(x, n):
        return jnp.sin(x) * n

    x = jnp.ones(100)
    for i in range(STEPS):
        power(x, i).block_until_ready()


def shapes():
    import jax
    import numpy as np

    @jax.jit
    def total(x):
        return (x @ x.T).sum()

    for i in range(STEPS):
        x = np.ones((10 + i, 8), np.float32)
        total(x).block_until_ready()


STEPS = 40
{"floats": floats, "anew": anew, "static": static, "shapes": shapes}[sys.argv[1]]()
