"""The recordings that agents have open, each a trace in a thread and a console for SQL."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from stepscope.agents.roots import Roots
from stepscope.errors import LimitReached, UsageError
from stepscope.report import Report, build
from stepscope.server.console import Settings, StatementProcesses
from stepscope.server.trace_workers import TraceWorker
from stepscope.session.trace import OpenTrace
from stepscope.session.trace import open as open_paths
from stepscope.sources.source import Source

T = TypeVar("T")

MOST_OPEN = 4
"""Recordings; opening another one closes that which was not asked for longest."""
SECONDS = 300.0
"""For an answer of the library; decoding is part of the first one."""


@dataclass
class OpenRecording:
    """One recording that is open."""

    handle: str
    paths: tuple[str, ...]
    desk: TraceWorker
    console: StatementProcesses
    report: Report | None = None

    async def ask(self, work: Callable[[OpenTrace], T]) -> T:
        """Asks the trace. LimitReached when that takes too long."""
        try:
            return await asyncio.wait_for(self.desk.ask(work), SECONDS)
        except asyncio.TimeoutError:
            raise LimitReached(
                "The answer took too long and was stopped.",
                seen=f"more than {SECONDS:g} s",
                todo="open fewer or smaller recordings; the command line has no limit of time",
                slug="query-stopped",
            ) from None

    async def summary(self) -> Report:
        """The report of the recording, made once."""
        if self.report is None:
            self.report = await self.ask(lambda trace: build(trace, all=False))
        return self.report

    async def close(self) -> None:
        """Ends its processes and its thread."""
        await self.console.close()
        await asyncio.to_thread(self.desk.close)


class Recordings:
    """The recordings that are open, by handle. Belongs to one event loop."""

    def __init__(self, roots: Roots, *, query_seconds: float = 20.0) -> None:
        self.roots = roots
        self._seconds = query_seconds
        self._open: dict[str, OpenRecording] = {}
        self._made = 0

    async def open(self, asked: tuple[str, ...]) -> OpenRecording:
        """Opens paths together; the same paths again have the same handle. UsageError for paths outside."""
        paths = tuple(self.roots.path(path) for path in asked)
        for handle, recording in self._open.items():
            if recording.paths == paths:
                return self.get(handle)

        def opened() -> OpenTrace:
            found = open_paths(*paths)
            try:
                self.roots.check(_files(found))
            except BaseException:
                found.close()
                raise
            return found

        self._made += 1
        settings = Settings(paths, seconds=self._seconds, processes=1)
        recording = OpenRecording(f"r{self._made}", paths, TraceWorker(opened), StatementProcesses(settings))
        try:
            await recording.ask(lambda trace: trace.sources)
        except BaseException:
            await recording.close()
            raise
        self._open[recording.handle] = recording
        while len(self._open) > MOST_OPEN:
            await self._open.pop(next(iter(self._open))).close()
        return recording

    def get(self, handle: str) -> OpenRecording:
        """The recording of a handle. UsageError when there is none."""
        recording = self._open.pop(handle, None)
        if recording is None:
            raise UsageError(
                "There is no open recording of this handle.",
                seen=f"{handle[:40]!r}; open: {', '.join(self._open) or 'none'}",
                todo=f"call open with its paths; {MOST_OPEN} are kept open",
                slug="handle-unknown",
            )
        self._open[handle] = recording  # the last in order: it was asked for last
        return recording

    async def close(self) -> None:
        """Closes all."""
        while self._open:
            await self._open.popitem()[1].close()


def _files(trace: OpenTrace) -> list[str]:
    """The files that a trace reads; those of a lake are in its folder."""
    return [
        source.bytes.path for source in trace.sources if isinstance(source, Source) and source.spooled is None
    ]
