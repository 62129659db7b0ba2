"""Binds a port of the loopback address, serves until it is stopped, and says where."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from stepscope.errors import UsageError
from stepscope.server import app, assets
from stepscope.server.access import Access
from stepscope.server.console import Settings, StatementProcesses
from stepscope.server.headers import HEADERS
from stepscope.server.news import News
from stepscope.server.open_page import OpenPage
from stepscope.server.recording import ServedRecording
from stepscope.server.replies import Refused, error
from stepscope.server.running_jobs import RunningJobs
from stepscope.server.sibling_files import SiblingFiles

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

ADDRESS = "127.0.0.1"
PORT = 7391
"""Tried first when no port is given, so that the page finds its bookmarks again."""
_MOST_HEAD = 128 << 10
"""Bytes of a request without its body; a window may list thousands of tracks."""


class Protocol(H11Protocol):
    """HTTP/1.1, with our headers and format on its own answer to malformed bytes."""

    def send_400_response(self, msg: str) -> None:
        """Answers malformed bytes, and closes the connection."""
        odd = Refused(400, "This is not an HTTP request.", seen="other bytes", todo="use a browser")
        answer = error(odd)
        headers = [*answer.raw_headers, *HEADERS, (b"connection", b"close"), (b"cache-control", b"no-store")]
        with contextlib.suppress(h11.LocalProtocolError):  # an answer was under way
            self.transport.write(self.conn.send(h11.Response(status_code=400, headers=headers)) or b"")
            self.transport.write(self.conn.send(h11.Data(data=bytes(answer.body))) or b"")
            self.transport.write(self.conn.send(h11.EndOfMessage()) or b"")
        self.transport.close()


def bind(port: int | None) -> socket.socket:
    """A socket that listens on the loopback address. port: None takes PORT, or any that is free.

    UsageError when the port is taken or may not be used.
    """
    try:
        return _listening(PORT if port is None else port)
    except OSError as refused:
        if port is None:
            return _listening(0)
        if refused.errno == errno.EADDRINUSE:
            raise UsageError(
                f"Port {port} is taken.",
                seen="another program listens there, perhaps another stepscope serve",
                todo="choose another --port, or leave it out to get a free one",
                slug="port-taken",
            ) from refused
        raise UsageError(
            f"Port {port} cannot be used.",
            seen=refused.strerror or str(refused),
            todo="choose a --port from 1024 to 65535, or leave it out",
            slug="port-taken",
        ) from refused


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((ADDRESS, port))
        made.listen(512)
    except BaseException:
        made.close()
        raise
    return made


def serve(
    open_trace: Callable[[], OpenTrace],
    settings: Settings,
    listening: socket.socket,
    announce: Callable[[str], None],
    *,
    lakes: Sequence[Path] = (),
    beside: SiblingFiles | None = None,
    jobs: RunningJobs | None = None,
) -> None:
    """Serves until Ctrl-C, which it raises again as KeyboardInterrupt. announce: receives the URL, with the
    token, when connections are accepted. lakes: where new sources may appear. beside:
    further files that can be opened. jobs: running programs."""
    access = Access(listening.getsockname()[1])

    async def run() -> None:
        page = OpenPage(
            lambda: ServedRecording(open_trace),
            StatementProcesses(settings),
            access,
            News(lakes),
            beside,
            jobs,
        )
        config = uvicorn.Config(
            app.build(page, assets.manifest()),
            http=Protocol,
            ws="none",
            lifespan="on",
            log_config=None,  # no log could hold a token: there is none
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=_MOST_HEAD,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=1,
        )
        announce(f"http://{ADDRESS}:{access.port}/#t={access.token}")
        await uvicorn.Server(config).serve(sockets=[listening])

    asyncio.run(run())


def can_show(environment: Mapping[str, str]) -> bool:
    """Whether a browser can open on the user's display."""
    if environment.get("SSH_CONNECTION") or environment.get("SSH_TTY"):
        return False
    return sys.platform == "darwin" or bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


@contextlib.contextmanager
def handed_over(url: str) -> Iterator[Path]:
    """A file that only this user can read, and that redirects a browser to the URL: other users see command
    lines on this machine, which must not contain the token."""
    with tempfile.TemporaryDirectory(prefix="stepscope-open-") as folder:
        path = Path(folder, "open.html")
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(
                f'<!doctype html><meta http-equiv="refresh" content="0;url={url}"><title>stepscope</title>'
            )
        yield path


def show(path: Path) -> bool:
    """Opens a file in the user's browser. False when there is none."""
    try:
        return webbrowser.open(path.as_uri())
    except webbrowser.Error:
        return False
