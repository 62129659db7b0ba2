"""Every step asks a server on this machine for flags."""

import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import jax
import jax.numpy as jnp
from harness import chosen, steps

TRUTH = {"cause": "wait", "fix": "flags are not asked for"}

x0 = jax.random.normal(jax.random.key(0), (128, 256))
w = jnp.eye(256) * 0.1


@jax.jit
def update(w, x):
    return w - 1e-3 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)


class Flags(BaseHTTPRequestHandler):
    def do_GET(self):
        time.sleep(0.008)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Flags)
threading.Thread(target=server.serve_forever, daemon=True).start()


def flags():
    with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/") as answer:  # culprit
        return answer.read()  # culprit


def train_step(number):
    global w
    w = update(w, x0)
    w.block_until_ready()
    if not chosen.fix:
        flags()


def main():
    for number in steps():
        train_step(number)


main()
