"""A step that waits for another process's answer."""

import argparse
import socket
import statistics
import threading
import time

import jax
import jax.numpy as jnp

options = argparse.ArgumentParser()
options.add_argument("--fix", action="store_true")
options.add_argument("--steps", type=int, default=60)
chosen = options.parse_args()


def serve(end):
    while end.recv(1):
        time.sleep(0.015)
        end.send(b"y")


@jax.jit
def train(w, x):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * g, loss


def main():
    took, w, x = [], jnp.eye(128), jnp.ones((64, 128))
    near, far = socket.socketpair()
    threading.Thread(target=serve, args=(far,), daemon=True).start()
    for step in range(chosen.steps):
        begin = time.perf_counter()
        if not chosen.fix or step % 20 == 0:
            near.send(b"x")
            near.recv(1)  # culprit
        w, loss = train(w, x)
        loss.block_until_ready()
        took.append((time.perf_counter() - begin) * 1e3)
    return took


took = main()

print(f"STEP_MS {statistics.median(took[10:]):.2f}")
