"""A page of somebody else's, in a real Chromium, whose name comes to lead to `stepscope serve`.

The page is loaded from a name and a port, its server goes away, and stepscope listens there instead: for the
browser, scripts of that page and stepscope have one origin now, as after a change of the name's address.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.corpus import SAMPLES
from tests.presenters.browser import Browser

NAME = "evil.test"
RECORDING = SAMPLES / "tf_data" / "map_py_function.xplane.pb"

ASK = """(async () => {
  const asked = %s, told = [];
  for (const [url, request] of asked) {
    try {
      const reply = await fetch(url, request), body = await reply.text();
      told.push([reply.status, reply.type, body]);
    } catch (failure) { told.push([0, "failed", ""]); }
  }
  return told;
})()"""


class _Theirs(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!doctype html><title>theirs</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *what: Any) -> None:
        """Prints nothing."""


class _Server(ThreadingHTTPServer):
    allow_reuse_address = True

    def __init__(self, *given: Any) -> None:
        self.taken: list[socket.socket] = []
        super().__init__(*given)

    def get_request(self) -> tuple[socket.socket, Any]:
        taken, client = super().get_request()
        self.taken.append(taken)
        return taken, client

    def server_close(self) -> None:
        """Ends connections that the browser opened ahead of its next request, too."""
        super().server_close()
        for one in self.taken:
            with contextlib.suppress(OSError):  # the browser may have closed it
                one.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def caught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Browser, int, str]]:
    """A browser on their page, the port that is stepscope's by now, and the token."""
    theirs = _Server(("127.0.0.1", 0), _Theirs)
    port = theirs.server_address[1]
    threading.Thread(target=theirs.serve_forever, daemon=True).start()
    with Browser(NAME, "localhost") as browser:
        browser.open(f"http://{NAME}:{port}/")
        assert browser.value("document.title") == "theirs"
        theirs.shutdown()
        theirs.server_close()
        command = [
            sys.executable,
            "-m",
            "stepscope",
            "serve",
            str(RECORDING),
            "--port",
            str(port),
            "--no-open",
        ]
        environment = {**os.environ, "STEPSCOPE_CACHE_DIR": str(tmp_path_factory.mktemp("cache"))}
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            yield browser, port, server.stdout.readline().strip().partition("#t=")[2]
        finally:
            server.send_signal(signal.SIGINT)
            server.communicate()


def ask(browser: Browser, *asked: tuple[str, dict[str, Any]]) -> list[tuple[int, str, str]]:
    """Status, type and text of what a script of the page gets."""
    told: list[list[Any]] = browser.value(ASK % json.dumps(asked))
    return [(one[0], one[1], one[2]) for one in told]


def login(token: str) -> dict[str, Any]:
    """The request of the real page, with its token."""
    headers = {"X-Stepscope": "1", "Content-Type": "application/json"}
    return {"method": "POST", "headers": headers, "body": json.dumps({"token": token})}


def test_scripts_of_a_rebound_name_get_nothing(caught: tuple[Browser, int, str]) -> None:
    browser, port, token = caught
    assert browser.value("location.host") == f"{NAME}:{port}"  # their origin, and now our server
    sql = {**login(token), "body": json.dumps({"sql": "SELECT 1 AS one"})}
    told = ask(
        browser,
        *((path, {}) for path in ("/", "/api/catalog", "/api/names", "/api/report/summary", "/api/schema")),
        ("/api/session", login(token)),  # even with a token that they cannot know
        ("/api/catalog", {}),
        ("/api/sql", sql),
    )
    assert len(told) == 8
    for status, kind, text in told:
        assert (status, kind) == (403, "basic"), text  # read by the script, as of its own origin
        assert RECORDING.name not in text
        if text.startswith("{"):
            assert json.loads(text)["error"]["slug"] == "request-refused"
    assert browser.value("document.cookie") == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_neither_do_they_from_another_origin(caught: tuple[Browser, int, str], host: str) -> None:
    browser, port, token = caught
    at = f"http://{host}:{port}"
    told = ask(
        browser,
        (f"{at}/api/catalog", {}),
        (f"{at}/api/catalog", {"credentials": "include"}),
        (f"{at}/api/session", login(token)),
        (f"{at}/api/session", {"method": "POST", "mode": "cors", "body": json.dumps({"token": token})}),
        (f"{at}/api/catalog", {"mode": "no-cors"}),
    )
    assert [one[1] for one in told[:4]] == ["failed"] * 4
    assert told[4][2] == ""
    assert told[4][1] in ("opaque", "failed")
    framed = (
        f"new Promise(done => {{ const f = document.createElement('iframe'); f.src = {json.dumps(at + '/')};"
        "f.onload = () => { f.remove(); done(1); }; document.body.append(f); })"
    )
    browser.value(framed)
    assert any("frame-ancestors" in one and at in one for one in browser.complaints())


def test_whoever_has_the_token_gets_in(caught: tuple[Browser, int, str]) -> None:
    """What was refused above was not refused because nothing is served; and a session that a user has in the
    same browser helps their scripts no further."""
    browser, port, token = caught
    browser.open(f"http://127.0.0.1:{port}/#t={token}")
    (catalog,) = ask(browser, ("/api/catalog", {"headers": {"X-Stepscope": "1"}}))
    assert catalog[0] == 200
    assert RECORDING.name in catalog[2]
    browser.open(f"http://{NAME}:{port}/")
    assert "request-refused" in browser.value("document.documentElement.textContent")
    at = f"http://127.0.0.1:{port}/api/catalog"
    told = ask(browser, (at, {"credentials": "include"}), ("/api/catalog", {"credentials": "include"}))
    assert told[0][1] == "failed"
    assert told[1][0] in (0, 403)  # 0: the policy of the refusal forbids the script to ask at all
