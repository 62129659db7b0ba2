"""A headless Chromium over its debugging pipe, with nothing but the standard library.

It records every request and every message of the console, so that a test can say that there were none.
"""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip

PATIENCE_S = 240
"""Bounds a hang, before pytest-timeout would: what is waited for is an event, however late it comes."""

_HOOKS = """(() => {
  const tell = (...what) => console.error("hooked:", window.name, ...what.map(String));
  for (const name of ["alert", "confirm", "prompt", "print", "open"])
    Object.defineProperty(window, name, { value: (...given) => { tell(name, ...given); return null; } });
  addEventListener("securitypolicyviolation", (e) => tell("policy", e.violatedDirective), true);
})()"""
"""Runs before any script of any document: dialogs and violations are told even where nothing shows."""


def program() -> str:
    """Chromium's path; skips the test, visibly, when there is none."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no chromium to open the report with (Debian: apt-get install chromium)")
    return found


class RefusedError(AssertionError):
    """The browser did not do what it was asked: the page that was asked may just be leaving."""


class Browser:
    """One tab. A context manager."""

    def __init__(self, *names: str, one_process: bool = False) -> None:
        """names: names that lead to this machine. No other name is found. one_process: sandboxed frames share
        the process of their page, where they can be looked into."""
        here = "".join(f"MAP {name} 127.0.0.1, " for name in names)
        self._flags = (*_FLAGS, f"--host-resolver-rules={here}MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
        if one_process:
            self._flags += ("--disable-features=IsolateSandboxedIframes",)
        self._numbers = itertools.count(1)
        self._events: list[dict[str, Any]] = []
        self._buffer = b""
        self._session = ""

    def __enter__(self) -> Browser:
        chromium = program()  # before anything is opened: it may skip the test
        self._folder = tempfile.TemporaryDirectory(prefix="stepscope-browser-", ignore_cleanup_errors=True)
        to_read, self._write = os.pipe()
        self._read, to_write = os.pipe()
        command = f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}'
        self._process = subprocess.Popen(
            [
                "bash",
                "-c",
                command,
                chromium,
                *self._flags,
                f"--user-data-dir={self._folder.name}",
                "about:blank",
            ],
            pass_fds=(to_read, to_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self._call(f"{domain}.enable")
        self._call("Page.addScriptToEvaluateOnNewDocument", source=_HOOKS)
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)
        os.close(self._write)
        self._folder.cleanup()

    def open(self, path: Path | str, *, width: int = 1100, height: int = 900, dark: bool = False) -> None:
        """Opens a file or a URL and waits until it has loaded."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._call("Emulation.setDeviceMetricsOverride", **size)
        self._events.clear()
        loader = self._call("Page.navigate", url=path if isinstance(path, str) else path.as_uri())["loaderId"]
        self._until(lambda: self._has_loaded(loader))
        self.value("new Promise(done => setTimeout(() => done(1), 50))")  # violations are told a moment later

    def _has_loaded(self, loader: str) -> bool:
        """True once this document has; the one before may tell of its own end meanwhile."""
        begun = False
        for event in self._events:
            if event["method"] == "Page.frameNavigated":
                begun = begun or event["params"]["frame"]["loaderId"] == loader
            elif event["method"] == "Page.loadEventFired" and begun:
                return True
        return False

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page. RefusedError while it goes to another."""
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def requests(self) -> list[str]:
        """Addresses that were asked for since open()."""
        return [
            event["params"]["request"]["url"]
            for event in self._events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def unanswered(self) -> list[str]:
        """Addresses that were asked for since open(), and whose answers the page has not read."""
        found: dict[str, str] = {}
        for event in self._events:
            if event["method"] == "Network.requestWillBeSent":
                found[event["params"]["requestId"]] = event["params"]["request"]["url"]
            elif event["method"] in ("Network.loadingFinished", "Network.loadingFailed"):
                found.pop(event["params"]["requestId"], None)
        return [url for url in found.values() if url.startswith("http")]

    def complaints(self) -> list[str]:
        """Errors, warnings, dialogs and violations of the policy since open()."""
        kinds = ("Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Audits.issueAdded")
        dialogs = ("Page.javascriptDialogOpening",)
        return [json.dumps(event["params"]) for event in self._events if event["method"] in kinds + dialogs]

    def picture(self, path: Path) -> None:
        """Saves the whole page as PNG."""
        answer = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(answer["data"]))

    def _call(self, method: str, **params: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        answers: list[dict[str, Any]] = []
        self._until(lambda: bool(answers), number, answers)
        if "error" in answers[0]:
            raise RefusedError(f"{method}: {answers[0]['error']}")
        result: dict[str, Any] = answers[0]["result"]
        return result

    def _until(self, done: Any, number: int = 0, answers: list[dict[str, Any]] | None = None) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not done():
            if time.monotonic() > deadline or not select.select([self._read], [], [], 1)[0]:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise AssertionError("the browser does not answer")
                continue
            piece = os.read(self._read, 1 << 20)
            if not piece:
                raise AssertionError("the browser has gone")
            *messages, self._buffer = (self._buffer + piece).split(b"\0")
            for text in messages:
                message = json.loads(text)
                if answers is not None and message.get("id") == number:
                    answers.append(message)
                elif "method" in message:
                    self._events.append(message)
