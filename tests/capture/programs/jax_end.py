"""A loop of JAX that ends after 21 steps in the way its argument says."""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import jax
import jax.numpy as jnp

AT = 20


@jax.jit
def train_step(w):
    return w * 0.99 + 1.0


def child(w):
    print("child", train_step(w).sum(), flush=True)


def end(how, w):
    if how == "raise":
        raise ValueError("the data is odd")
    if how == "sys.exit":
        sys.exit(7)
    if how == "os._exit":
        os._exit(5)
    if how.startswith("SIG"):
        os.kill(os.getpid(), getattr(signal, how))
        time.sleep(5)
    if how == "own profiler":
        folder = tempfile.mkdtemp()
        jax.profiler.start_trace(folder)
        for _ in range(5):
            w = train_step(w)
        jax.profiler.stop_trace()
        print(sum(len(files) for _, _, files in os.walk(folder)))
    if how == "fork":
        pid = os.fork()
        if pid == 0:
            os._exit(3)
        print(os.waitpid(pid, 0)[1])
    if how == "spawn":
        process = multiprocessing.get_context("spawn").Process(target=child, args=(w,))
        process.start()
        process.join()
        print(process.exitcode)


def main():
    how = sys.argv[1] if len(sys.argv) > 1 else ""
    w = jnp.ones((8, 8))
    for step in range(60):
        w = train_step(w)
        if step == AT:
            print("now", how, flush=True)
            end(how, w)
    print("end", jax.device_get(w).tobytes().hex(), sys.argv, Path(sys.path[0]).name)


if __name__ == "__main__":
    main()
