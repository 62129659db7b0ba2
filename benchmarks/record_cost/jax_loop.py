"""A loop of JAX that waits for each step: `jax_loop.py WIDTH ROWS`."""

import json
import sys
import time

import jax
import jax.numpy as jnp


@jax.jit
def train_step(w, x):
    return w - 0.0001 * jax.grad(lambda w: jnp.mean((jnp.tanh(x @ w) @ w - 1.0) ** 2))(w)


width, rows = map(int, sys.argv[1:])
w = jnp.ones((width, width)) * 0.01
x = jnp.ones((rows, width))
times = []
for _ in range(400):
    begin = time.perf_counter_ns(), time.process_time_ns()
    w = jax.block_until_ready(train_step(w, x))
    times.append((time.perf_counter_ns() - begin[0], time.process_time_ns() - begin[1]))
print(json.dumps(times))
