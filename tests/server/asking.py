"""The application in an event loop of its own, and requests as a browser or an attacker sends them."""

import asyncio
import hashlib
import json
import struct
import threading
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote

from stepscope.server import app, assets
from stepscope.server.access import Access
from stepscope.server.assets import Asset
from stepscope.server.console import Settings, StatementProcesses
from stepscope.server.news import News
from stepscope.server.open_page import OpenPage
from stepscope.server.recording import ServedRecording
from stepscope.server.sibling_files import SiblingFiles
from stepscope.session import trace
from tests.corpus import SAMPLES

T = TypeVar("T")
PORT = 7391
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"
RECORDINGS = (
    str(SAMPLES / "tf_data" / "map_py_function.xplane.pb"),
    str(SAMPLES / "profiler_hook"),
    str(SAMPLES / "chrome" / "kineto_cuda.json"),
    str(SAMPLES / "chrome" / "phases.json"),
)


class Answer(NamedTuple):
    """An answer; header names are in lower case."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str:
        """The value of a header that is there once."""
        found = [value for key, value in self.headers if key == name]
        assert len(found) == 1, (name, found)
        return found[0]

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def slug(self) -> str:
        """The slug of an error with three parts."""
        told = self.json["error"]
        assert all(told[part].strip() for part in ("slug", "what", "seen", "to_do"))
        return str(told["slug"])


PATIENCE_SECONDS = 200.0
"""What a statement may take where no test is about it: a busy machine takes long to start a process."""


class Served:
    """A page over recordings. To be closed."""

    def __init__(self, *paths: str, lake: str | None = None, beside: bool = False, **limits: Any) -> None:
        """beside: offers what lies beside the paths, too."""
        given = list(paths)

        def check(path: str) -> None:
            trace.open(path, lake=lake).close()

        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self.access = Access(PORT)
        self.assets: dict[str, Asset] = assets.manifest()
        settings = Settings(paths, lake=lake, **{"seconds": PATIENCE_SECONDS, **limits})

        async def make() -> OpenPage:
            return OpenPage(
                lambda: ServedRecording(lambda: trace.open(*given, lake=lake)),
                StatementProcesses(settings),
                self.access,
                News([Path(lake)] if lake else ()),
                SiblingFiles(given, check) if beside else None,
            )

        self.page = self.run(make())
        self.app = app.build(self.page, self.assets)
        self.cookie = f"{self.access.cookie}={self.access.exchange(self.access.token)}"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the loop of the application."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(240)

    def close(self) -> None:
        """Ends the processes, the traces and the loop."""
        self.run(self.page.console.close())
        self.page.close()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def raw(
        self,
        method: str,
        target: str,
        headers: Sequence[tuple[str, str]],
        body: bytes = b"",
        leave_after: float | None = None,
        leave: threading.Event | None = None,
    ) -> Answer:
        """A request with exactly these headers. leave_after: seconds after which the client hangs up. leave:
        set when it does."""
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode("latin-1"),
            "root_path": "",
            "query_string": query.encode("latin-1", "replace"),
            "headers": [(key.lower().encode("latin-1"), value.encode("latin-1")) for key, value in headers],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", PORT),
        }
        return self.run(self._send(scope, body, leave_after, leave))

    async def _send(
        self, scope: dict[str, Any], body: bytes, leave_after: float | None, leave: threading.Event | None
    ) -> Answer:
        sent: list[dict[str, Any]] = []
        incoming = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            if incoming:
                return incoming.pop()
            if leave is not None:
                await asyncio.to_thread(leave.wait)
            else:
                await asyncio.sleep(1e6 if leave_after is None else leave_after)
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)  # type: ignore[arg-type]
        if not sent:
            return Answer(0, [], b"")
        begin = sent[0]
        assert begin["type"] == "http.response.start"
        headers = [
            (key.decode("latin-1").lower(), value.decode("latin-1")) for key, value in begin["headers"]
        ]
        return Answer(begin["status"], headers, b"".join(one.get("body", b"") for one in sent[1:]))

    def get(self, target: str, **more: Any) -> Answer:
        """What the page asks with GET."""
        return self.raw("GET", target, [("Host", HOST), ("Cookie", self.cookie)], **more)

    def post(self, target: str, value: Any, **more: Any) -> Answer:
        """What the page asks with POST."""
        headers = [
            ("Host", HOST),
            ("Origin", ORIGIN),
            ("X-Stepscope", "1"),
            ("Content-Type", "application/json"),
            ("Cookie", self.cookie),
        ]
        return self.raw("POST", target, headers, json.dumps(value).encode(), **more)

    def sql(self, sql: str, **more: Any) -> Answer:
        """SQL as the page sends it."""
        return self.post("/api/sql", {"sql": sql}, **more)


_TYPES = {"u8": "B", "u16": "H", "u32": "I", "i64": "q", "f64": "d"}


def cells(answer: Answer) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and rows of a framed answer, read as the page reads it."""
    assert answer.status == 200, answer.body
    data = answer.body
    (size,) = struct.unpack_from("<I", data)
    header = json.loads(data[4 : 4 + size])
    at = _up(4 + size)
    columns: dict[str, tuple[Any, ...]] = {}
    for one in header["columns"]:
        form = f"<{one['length']}{_TYPES[one['type']]}"
        columns[one["name"]] = struct.unpack_from(form, data, at)
        at = _up(at + struct.calcsize(form))
    assert at == len(data)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return header, rows


def _up(size: int) -> int:
    return -(-size // 8) * 8


def fingerprint(*folders: str | Path) -> str:
    """A hash of names and contents of all files, so that no change goes unseen."""
    found = hashlib.sha256()
    for path in _files(folders):
        found.update(str(path).encode("utf-8", "surrogateescape") + b"\0")
        found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def _files(folders: Sequence[str | Path]) -> Iterator[Path]:
    for folder in map(Path, folders):
        yield from sorted(one for one in folder.rglob("*") if one.is_file()) if folder.is_dir() else [folder]
