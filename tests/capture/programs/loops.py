"""Loops of 120 steps: variables, values, updates, evaluation, epochs, twice."""

import sys

STEPS = 120


def session():
    import tensorflow.compat.v1 as tf

    tf.disable_eager_execution()
    return tf, tf.Session()


def variables():
    """Each step runs the session for each variable, and then trains."""
    tf, running = session()
    kept = [tf.get_variable(f"v{i}", [4]) for i in range(12)]
    train = tf.group(*(one.assign_add(tf.ones([4])) for one in kept))
    running.run(tf.global_variables_initializer())
    for _ in range(STEPS):
        for one in kept:
            running.run(one)
        running.run(train)


def values():
    """Each step runs the same fetch for each of its values, and then trains."""
    tf, running = session()
    fed = tf.placeholder(tf.float32, [])
    scaled = fed * 2.0
    weight = tf.get_variable("w", [64, 64])
    total = tf.placeholder(tf.float32, [])
    train = weight.assign(tf.matmul(weight, weight) * 0.01 + total)
    running.run(tf.global_variables_initializer())
    for _ in range(STEPS):
        found = [running.run(scaled, {fed: float(value)}) for value in range(10)]
        running.run(train.op, {total: sum(found) * 0.0})


def updates():
    """Each step computes gradients in one call and updates each parameter in another."""
    import jax
    import jax.numpy as jnp

    gradients = jax.jit(jax.grad(lambda p, x: sum(jnp.sum(jnp.tanh(x @ w) ** 2) for w in p)))
    update = jax.jit(lambda w, g: w - 0.001 * g)
    x = jnp.ones((64, 48))
    parameters = [jnp.ones((48, 48)) * 0.01 for _ in range(30)]

    def apply(found):
        return [update(w, g) for w, g in zip(parameters, found)]  # noqa: B905

    for _ in range(STEPS):
        parameters = apply(gradients(parameters, x))


def evaluation():
    """Every tenth step evaluates, which takes as long as all the others together."""
    import jax
    import jax.numpy as jnp

    train = jax.jit(lambda w, x: w - 0.0001 * (w @ x))
    test = jax.jit(lambda w, x: jax.lax.fori_loop(0, 60, lambda _, v: jnp.tanh(v @ x), w).sum())
    w, x = jnp.ones((256, 256)), jnp.ones((256, 256)) * 0.01
    for i in range(STEPS):
        w = train(w, x)
        w.block_until_ready()
        if i % 10 == 9:
            test(w, x).block_until_ready()


def epochs():
    """Two loops around the step, which is not short."""
    import tensorflow as tf

    w = tf.Variable(tf.random.normal([300, 300]) * 0.01)

    @tf.function
    def train(x):
        for _ in range(8):
            x = tf.tanh(x @ w)
        w.assign_sub(0.001 * w)
        return tf.reduce_sum(x)

    x = tf.ones([300, 300])
    for _ in range(6):
        for _ in range(STEPS // 6):
            train(x)
        train.get_concrete_function(x)


def twice():
    """A few steps to warm up, in a loop of their own, then the others."""
    import jax
    import jax.numpy as jnp

    train = jax.jit(lambda w, x: jnp.tanh(w @ x))
    w = x = jnp.ones((128, 128)) * 0.01
    for _ in range(4):
        train(w, x).block_until_ready()
    for _ in range(STEPS - 4):
        train(w, x).block_until_ready()


def tape():
    """Ops one by one, without tf.function, jit or a dataset: only the gradient comes once in each step."""
    import tensorflow as tf

    weights = [tf.Variable(tf.random.normal([16, 16]) * 0.1) for _ in range(8)]
    for _ in range(STEPS):
        x = tf.ones([4, 16])
        with tf.GradientTape() as kept:
            for w in weights:
                x = tf.nn.relu(x @ w) + x
            loss = tf.reduce_mean(x)
        for w, gradient in zip(weights, kept.gradient(loss, weights), strict=True):
            w.assign_sub(0.01 * gradient)


def examples():
    """Gradients of one example after the other, which the step adds up."""
    import tensorflow as tf

    w = tf.Variable(tf.random.normal([16, 16]) * 0.1)
    x = tf.ones([8, 16])

    def gradient_of(row):
        with tf.GradientTape() as kept:
            loss = tf.reduce_mean(tf.tanh(row @ w) ** 2)
        return kept.gradient(loss, w)

    for _ in range(STEPS):
        total = tf.zeros_like(w)
        for number in range(20):
            total += gradient_of(x[number % 8 : number % 8 + 1])
        w.assign_sub(0.01 * total)


def tape_epochs():
    """Short steps with a tape, in epochs."""
    import tensorflow as tf

    w = tf.Variable(tf.random.normal([16, 16]) * 0.1)
    x = tf.ones([8, 16])
    for _ in range(3):
        for _ in range(STEPS * 4 // 3):
            with tf.GradientTape() as kept:
                loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
            w.assign_sub(0.01 * kept.gradient(loss, w))


def slots():
    """Slots of an array are set one by one, op by op; the step is a compiled function behind that."""
    import jax
    import jax.numpy as jnp

    update = jax.jit(lambda w, x: w - 0.001 * jnp.tanh(x @ w))
    w, found = jnp.ones((32, 32)) * 0.01, jnp.zeros((60, 32))

    def filled(found, values):
        for row in range(60):
            found = found.at[row].set(values[row % 32] * 0.5)
        return found

    for _ in range(STEPS):
        found = filled(found, w)
        w = update(w, found[:32])
        w.block_until_ready()


def nothing():
    """JAX without jit: ops one by one, in a loop over layers within that of the steps."""
    import jax.numpy as jnp
    import numpy as np

    weights = [jnp.asarray(np.full((16, 16), 0.01 * i, np.float32)) for i in range(8)]
    x = jnp.ones((4, 16)) * 0.5
    for _ in range(STEPS):
        kept = x
        for i, w in enumerate(weights):
            kept = jnp.sin(kept @ w) + kept
            weights[i] = w - 0.001 * kept.T @ kept
        float(kept.sum())


{
    "nothing": nothing,
    "tape": tape,
    "examples": examples,
    "slots": slots,
    "tape_epochs": tape_epochs,
    "variables": variables,
    "values": values,
    "updates": updates,
    "evaluation": evaluation,
    "epochs": epochs,
    "twice": twice,
}[sys.argv[1]]()
