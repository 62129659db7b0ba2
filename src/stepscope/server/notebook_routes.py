"""The page's routes for callers in this process, such as a notebook: no port, no session, no SQL.

The answers are those of the server. A notebook runs SQL on its own trace instead.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, MutableMapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from starlette.routing import Route, Router

from stepscope.server.access import Access
from stepscope.server.app import API, Errors, answered, nothing
from stepscope.server.console import Settings, StatementProcesses
from stepscope.server.open_page import OpenPage
from stepscope.server.recording import ServedRecording

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

ELSEWHERE = ("/api/session", "/api/sql")
"""Prefixes of routes that are refused."""


class Within:
    """Answers about a recording, from a thread of its own, which close() ends."""

    def __init__(self, open_trace: Callable[[], OpenTrace], *, again: bool = True) -> None:
        """open_trace, again: see Recording."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stepscope-within", daemon=True)
        self._thread.start()
        page = self._page = self._run(_page(open_trace, again)).result()
        routes = [
            Route(path, partial(answered, page, endpoint), methods=[method])
            for method, path, endpoint in API
            if not path.startswith(ELSEWHERE)
        ]
        self._app = Errors(Router(routes, redirect_slashes=False, default=nothing))

    def ask(self, method: str, target: str, body: bytes = b"") -> Future[tuple[int, bytes]]:
        """The status and the bytes of an answer. target: the path with its query."""
        return self._run(self._ask(method, target, body))

    def close(self) -> None:
        """Stops running work."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._page.close)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _run(self, work: Any) -> Future[Any]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _ask(self, method: str, target: str, body: bytes) -> tuple[int, bytes]:
        path, _, query = target.partition("?")
        scope: dict[str, Any] = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode("ascii", "replace"),
            "query_string": query.encode("ascii", "replace"),
            "root_path": "",
            "headers": [(b"content-type", b"application/json")],
        }
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        status, parts = 500, list[bytes]()

        async def receive() -> MutableMapping[str, Any]:
            if not waiting:
                await asyncio.Event().wait()  # the caller does not disconnect
            return waiting.pop()

        async def send(message: MutableMapping[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                parts.append(message.get("body", b""))

        await self._app(scope, receive, send)
        return status, b"".join(parts)


async def _page(open_trace: Callable[[], OpenTrace], again: bool) -> OpenPage:
    """Must be created within its event loop."""
    return OpenPage(
        lambda: ServedRecording(open_trace, again=again), StatementProcesses(Settings(())), Access(0)
    )
