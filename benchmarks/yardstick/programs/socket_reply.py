"""A step that waits for another process's answer."""

import socket
import threading
import time

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "ask every 20th step"}


def serve(end):
    while end.recv(1):
        time.sleep(0.015)
        end.send(b"y")


@jax.jit
def train(w, x):
    loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
    return w - 0.1 * g, loss


def main():
    w, x = jnp.eye(128), jnp.ones((64, 128))
    near, far = socket.socketpair()
    threading.Thread(target=serve, args=(far,), daemon=True).start()
    for step in steps():
        if not chosen.fix or step % 20 == 0:
            near.send(b"x")
            near.recv(1)  # culprit
        w, loss = train(w, x)
        loss.block_until_ready()


main()
