"""Loops in which every step compiles, each for another reason, such as floats, static or lambdas."""

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


def graph():
    import tensorflow as tf

    v1 = tf.compat.v1
    v1.disable_eager_execution()
    rate = v1.get_variable("rate", [], initializer=v1.zeros_initializer())
    x = v1.get_variable("x", [64, 64])
    for _ in range(200):
        x = tf.tanh(x @ x)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for i in range(STEPS):
            session.run(rate.assign(0.01 / (i + 1)))
            session.run(x.op)


def xla():
    import tensorflow as tf

    w = tf.Variable(tf.ones([16, 16]))

    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 16])])
    def total(x):
        return tf.reduce_sum(tf.tanh(x @ w))

    for i in range(STEPS):
        x = tf.ones([10 + i, 16])
        total(x)


def lambdas():
    import jax
    import jax.numpy as jnp

    x = jnp.ones([16, 16])
    for i in range(STEPS):
        rate = 0.01 / (i + 1)
        jax.jit(lambda x: x - rate * jnp.tanh(x @ x))(x).block_until_ready()  # noqa: B023  the mistake


def partials():
    import functools

    import jax
    import jax.numpy as jnp

    def update(rate, x):
        return x - rate * jnp.tanh(x @ x)

    x = jnp.ones([16, 16])
    for i in range(STEPS):
        jax.jit(functools.partial(update, 0.01 / (i + 1)))(x).block_until_ready()


def keys():
    import jax
    import jax.numpy as jnp

    @jax.jit
    def update(metrics):
        return sum(metrics.values())

    for i in range(STEPS):
        update({"loss": jnp.ones([]), f"loss at {i}": jnp.ones([])}).block_until_ready()


STEPS = 40
CASES = (floats, anew, static, shapes, graph, xla, lambdas, partials, keys)
{case.__name__: case for case in CASES}[sys.argv[1]]()
