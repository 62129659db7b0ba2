"""Every step asks a program for the revision of the code, and waits for its answer."""

import subprocess
import sys

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "wait", "also_acceptable": ["python"], "fix": "it is asked once, before the training"}

x = jax.random.normal(jax.random.key(1), (384, 384))
w = jnp.eye(384) * 0.1


@jax.jit
def update(w):
    def loss(w):
        h = x
        for _ in range(4):
            h = jnp.tanh(h @ w)
        return jnp.mean(h * h)

    value, grad = jax.value_and_grad(loss)(w)
    return w - 0.01 * grad, value


def revision():
    command = ["/bin/sh", "-c", "sleep 0.01; echo 1.2"]
    asked = subprocess.run(command, capture_output=True, check=True)  # culprit
    return asked.stdout.decode().strip()


def main():
    global w
    known = revision()
    for _ in steps():
        w, value = update(w)
        note = (float(value), known if chosen.fix else revision())
        if note[0] != note[0]:
            sys.exit("nan")


main()
