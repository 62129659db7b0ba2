"""SQL of the page, in processes that can do nothing but answer.

DuckDB trusts its input: some of its functions allocate without bound or ignore interrupts. So a statement
runs in a child process (child.py), which the system limits (confine.py), and which is interrupted when its
time is over, killed when it does not stop, and then replaced.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stepscope import strict_json
from stepscope.errors import LimitReached, QueryError, StepscopeError, UsageError
from stepscope.server.console import frames

if TYPE_CHECKING:
    from stepscope.session.trace import Cached

_ERRORS: dict[str, type[StepscopeError]] = {
    kind.__name__: kind for kind in (LimitReached, QueryError, UsageError)
}

_CODE = """
import sys
sys.path[:] = sys.argv[1].split("\\n")
from stepscope.server.console.child import main
main()
"""
"""Run with -I: otherwise Python would look for modules in the folder where the server was started."""

_START_SECONDS = 600.0
"""Time to open a recording; without a cache, it is decoded again."""


@dataclass(frozen=True)
class Settings:
    """What a console opens, and its limits."""

    paths: tuple[str, ...]
    cache: Cached = True
    lake: str | None = None
    seconds: float = 20.0
    """Time for one statement."""
    grace_seconds: float = 1.0
    """Time between an interrupt and a kill."""
    memory_bytes: int = 1 << 30
    """Memory that a process may allocate after its start; DuckDB's own limit is half of it."""
    most_rows: int = 10_000
    most_bytes: int = 8 << 20
    most_download_bytes: int = 64 << 20
    threads: int = 2
    processes: int = 2


@dataclass(frozen=True)
class JsonRows:
    """Some rows: JSON arrays in `body`, facts about them in `header`."""

    header: dict[str, Any]
    body: bytes


class StatementProcesses:
    """Runs statements, as many at a time as there are processes; the rest wait. Belongs to one event loop."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._free = asyncio.Semaphore(settings.processes)
        self._idle: list[_Process] = []
        self._every: set[_Process] = set()
        self._stale: set[_Process] = set()

    async def run(self, sql: str, form: str | None = None) -> JsonRows:
        """Runs one SELECT. form: csv or json for all rows as a file, parquet for the input of parquet.py,
        None for the rows of a page. QueryError and UsageError when it is refused; LimitReached when it takes
        too long, or too much memory."""
        async with self._free:
            process = self._idle.pop() if self._idle else await self._start()
            try:
                found = await process.ask({"sql": sql, "form": form})
            finally:
                if process.alive and process not in self._stale:
                    self._idle.append(process)
                else:
                    await self._end(process)
        return found

    async def renew(self) -> None:
        """Opens the recording again for later statements; running ones finish on the old one."""
        self._stale |= self._every
        while self._idle:
            await self._end(self._idle.pop())

    async def _end(self, process: _Process) -> None:
        self._every.discard(process)
        self._stale.discard(process)
        if process.alive:
            await process.end()

    async def close(self) -> None:
        """Ends all processes."""
        for process in list(self._every):
            await process.end()
        self._every.clear()
        self._idle.clear()
        self._stale.clear()

    async def _start(self) -> _Process:
        process = _Process(self.settings)
        self._every.add(process)
        try:
            await process.start()
        except BaseException:
            self._every.discard(process)
            await process.end()
            raise
        return process


class _Process:
    """A child process and the pipes to it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._process: asyncio.subprocess.Process | None = None
        self.alive = False

    async def start(self) -> None:
        """Starts it and waits until it has opened the recording."""
        given = self._settings
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-c", _CODE, "\n".join(path for path in sys.path if path)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        self.alive = True
        self._send(
            {
                "paths": list(given.paths),
                "cache": given.cache,
                "lake": given.lake,
                "memory_bytes": given.memory_bytes,
                "threads": given.threads,
                "most_rows": given.most_rows,
                "most_bytes": given.most_bytes,
                "most_download_bytes": given.most_download_bytes,
                "cpu_seconds": (given.seconds + given.grace_seconds) * given.threads + 5,
            }
        )
        header, _ = await asyncio.wait_for(self._reply(), _START_SECONDS)
        if "error" in header:
            raise _error(header["error"])

    async def ask(self, message: dict[str, Any]) -> JsonRows:
        """Runs a statement. When cancelled or out of time, it is stopped, or the process killed."""
        given = self._settings
        self._send(message)
        reply = asyncio.ensure_future(self._reply())
        try:
            header, body = await asyncio.wait_for(asyncio.shield(reply), given.seconds)
        except asyncio.TimeoutError:
            stopped = await self._stop(reply)
            raise LimitReached(
                "The query took too long and was stopped.",
                seen=f"more than {given.seconds:g} s"
                + ("" if stopped else "; it did not stop when told to, so its process was ended"),
                todo="ask for less; `stepscope query` has no limit of time",
                slug="query-stopped",
            ) from None
        except asyncio.CancelledError:
            await self._stop(reply)
            raise
        if "error" in header:
            raise _error(header["error"])
        return JsonRows(header, body)

    async def end(self) -> None:
        """Ends the process."""
        self.alive = False
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def _stop(self, reply: asyncio.Future[tuple[dict[str, Any], bytes]]) -> bool:
        """Tells the statement to stop; kills the process if it does not. True when it stopped."""
        self._send({"stop": True})
        done, _ = await asyncio.wait([reply], timeout=self._settings.grace_seconds)
        if not done:
            reply.cancel()
            await self.end()
            return False
        return reply.exception() is None

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        text = frames.pack(message)
        with contextlib.suppress(ConnectionError):  # it ended: the reply reports that
            self._process.stdin.write(text)

    async def _reply(self) -> tuple[dict[str, Any], bytes]:
        """The next message of the process. LimitReached when it has ended instead."""
        assert self._process is not None
        assert self._process.stdout is not None
        most = max(self._settings.most_bytes, self._settings.most_download_bytes * 4) + (1 << 20)
        try:
            sizes = await self._process.stdout.readexactly(frames.SIZES.size)
            header_size, body_size = frames.SIZES.unpack(sizes)
            if header_size > frames.MOST_HEADER or body_size > most:
                raise strict_json.OddJson("a message larger than any")
            header = strict_json.parse(await self._process.stdout.readexactly(header_size))
            if not isinstance(header, dict):
                raise strict_json.OddJson("no object")
            return header, await self._process.stdout.readexactly(body_size)
        except (asyncio.IncompleteReadError, ConnectionError, strict_json.OddJson) as error:
            await self.end()
            raise LimitReached(
                "The query ended the process that ran it.",
                seen=_ending(self._process.returncode, error),
                todo="ask for less: it needed more memory or time than the console may use",
                slug="query-stopped",
            ) from None


def _ending(code: int | None, error: Exception) -> str:
    if isinstance(error, strict_json.OddJson):
        return str(error)
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
    return f"exit code {code}"


def _error(members: Any) -> StepscopeError:
    """The error that a child reports, as far as it is one."""
    words = {key: str(members.get(key, "")) for key in ("kind", "slug", "what", "seen", "to_do")}
    kind = _ERRORS.get(words["kind"], StepscopeError)
    return kind(words["what"], seen=words["seen"], todo=words["to_do"], slug=words["slug"] or None)
