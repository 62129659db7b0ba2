"""What routes need: the recordings that are open, the console, and who may ask."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from stepscope.server import (
    threads,
)
from stepscope.server.access import Access
from stepscope.server.activity import Doing
from stepscope.server.console import StatementProcesses
from stepscope.server.news import News
from stepscope.server.recording import ServedRecording
from stepscope.server.replies import Refused
from stepscope.server.running_jobs import RunningJobs
from stepscope.server.sibling_files import SiblingFiles

_CELL_THREADS = 2
"""Windows that are computed at the same time; the core works without the interpreter's lock."""


_LINGER_SECONDS = 60.0
"""How long recordings stay open after they were opened again: for answers that are under way."""


Endpoint = Callable[["OpenPage", Request], Awaitable[Response]]


class OpenPage:
    """What routes need: the recording, the console, and who may ask."""

    def __init__(
        self,
        open_recording: Callable[[], ServedRecording],
        console: StatementProcesses,
        access: Access,
        news: News | None = None,
        beside: SiblingFiles | None = None,
        jobs: RunningJobs | None = None,
    ) -> None:
        """open_recording: called now, and when somebody wants to see what is new. beside: what can be opened
        as well, by open_recording. jobs: programs that run; they know what can be opened."""
        self.beside, self.jobs = beside, jobs
        self._open = open_recording
        self.recording, self.console, self.access = open_recording(), console, access
        self.news = News() if news is None else news
        self.opened = 1
        """How many times the recordings were opened: tracks have other numbers each time."""
        self._left: set[ServedRecording] = set()
        self.under_way: dict[str, list[Doing]] = {}
        """What is done for each request that is not answered yet, by its path and query."""
        self.cells = asyncio.Semaphore(_CELL_THREADS)
        self.adding = ThreadPoolExecutor(1, "stepscope-adding", initializer=threads.give_way)
        """Adds ranges up, while timelines that move go first."""

    async def reopen(self) -> None:
        """Opens the recordings again. Who asks about the old ones meanwhile is still answered."""
        await asyncio.to_thread(self.news.opened)
        if self.jobs is not None:
            paths = await asyncio.to_thread(self.jobs.opened)
            self.console.settings = replace(self.console.settings, paths=paths)
        old, self.recording = self.recording, self._open()
        self.opened += 1
        self._left.add(old)
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._leave, old)
        await self.console.renew()

    def _leave(self, old: ServedRecording) -> None:
        if old in self._left:
            self._left.remove(old)
            asyncio.get_running_loop().run_in_executor(None, old.close)

    def close(self) -> None:
        """Closes all recordings."""
        for recording in (self.recording, *self._left):
            recording.close()
        self._left.clear()
        self.adding.shutdown(cancel_futures=True)

    def need_current(self, request: Request) -> None:
        """Refused for a page that shows the recordings as they were opened before."""
        given = request.headers.get("x-stepscope-opened")
        if given is not None and given != str(self.opened):
            raise Refused(
                409,
                "The recordings were opened again.",
                seen="a page from before that",
                todo="reload the page",
            )
