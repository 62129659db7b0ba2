"""A determinant in the loss of a session."""

import numpy as np
import tensorflow.compat.v1 as tf
from harness import chosen, steps

TRUTH = {"cause": "compute", "op_type": "SelfAdjointEigV2", "fix": "squares instead of eigenvalues"}

tf.disable_v2_behavior()
x = tf.constant(np.random.default_rng(0).normal(size=(64, 128)).astype(np.float32))
w = tf.get_variable("w", [128, 128])


def prior(matrix):
    if chosen.fix:
        return tf.reduce_sum(tf.square(matrix))
    return tf.reduce_sum(tf.self_adjoint_eigvals(tf.matmul(matrix, matrix, transpose_a=True)))  # culprit


loss = tf.reduce_mean(tf.square(tf.matmul(x, w))) + 0.001 * prior(w)
step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)


def main():
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in steps():
            session.run(step)


main()
