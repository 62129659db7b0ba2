"""A real S3 server on loopback, and a proxy before it that answers as badly as a test wants."""

import http.client
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

_PATIENCE_SECONDS = 120


class Request(NamedTuple):
    """What was asked."""

    method: str
    path: str
    range: str | None


Fault = Callable[[Request, int], str | None]
"""What to do with the nth request: "503", "403", "cut" (nobody hears it), "lost" (it is done, the answer is
lost), "half" (half of the answer arrives), "unconditional" (If-None-Match is ignored); None answers it."""


@contextmanager
def server() -> Iterator[int]:
    """The port of a moto server of its own process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + _PATIENCE_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert process.poll() is None, "moto ended"
                assert time.monotonic() < end, "moto does not answer"
                time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait()


def make_bucket(port: int, name: str) -> None:
    """Makes a bucket."""
    signed = {"Authorization": "AWS4-HMAC-SHA256 Credential=a/20200101/us-east-1/s3/aws4_request"}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{name}", method="PUT", headers=signed)
    with urllib.request.urlopen(request) as answer:
        answer.read()


class Proxy:
    """What comes between: it notes every request, and spoils those that `fault` names."""

    def __init__(self, port: int) -> None:
        self.fault: Fault = lambda _, __: None
        self.asked: list[Request] = []
        self._behind = port
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except (ConnectionError, http.client.HTTPException, ValueError):
                    self.close_connection = True

            def log_message(self, *_: object) -> None:
                """Nothing."""

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):
                    return lambda: proxy.answer(self)
                raise AttributeError(name)

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        self.port = self._server.server_address[1]

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        """Answers one request."""
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        request = Request(handler.command, handler.path, handler.headers.get("Range"))
        with self._lock:
            self.asked.append(request)
            number = len(self.asked)
        what = self.fault(request, number)
        if what == "cut":
            self._hang_up(handler)
            return
        if what in ("403", "503"):
            handler.send_response(int(what))
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        left_out = ("host", "connection") + (("if-none-match",) if what == "unconditional" else ())
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in left_out}
        behind = http.client.HTTPConnection("127.0.0.1", self._behind, timeout=60)
        try:
            behind.request(handler.command, handler.path, body, headers)
            answer = behind.getresponse()
            data = answer.read()
        finally:
            behind.close()
        if what == "lost":
            self._hang_up(handler)
            return
        handler.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection", "server", "date"):
                handler.send_header(name, value)
        length = answer.getheader("Content-Length") if handler.command == "HEAD" else None
        handler.send_header("Content-Length", length or str(len(data)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(data[: len(data) // 2] if what == "half" else data)
        if what == "half":
            self._hang_up(handler)

    def _hang_up(self, handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)
        handler.close_connection = True

    def close(self) -> None:
        """Stops it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
