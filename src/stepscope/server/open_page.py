"""The state that routes share: open recordings, the console, and access."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from stepscope.server import threads
from stepscope.server.access import Access
from stepscope.server.activity import Doing
from stepscope.server.console import StatementProcesses
from stepscope.server.news import News
from stepscope.server.recording import ServedRecording
from stepscope.server.replies import Refused
from stepscope.server.running_jobs import RunningJobs
from stepscope.server.sibling_files import SiblingFiles

_CELL_THREADS = 2
"""Windows computed at the same time; the core runs without the interpreter's lock."""


_LINGER_SECONDS = 60.0
"""How long replaced recordings stay open, for answers that are under way."""


Endpoint = Callable[["OpenPage", Request], Awaitable[Response]]


class OpenPage:
    """The state that routes share: the recording, the console, and access."""

    def __init__(
        self,
        open_recording: Callable[[], ServedRecording],
        console: StatementProcesses,
        access: Access,
        news: News | None = None,
        beside: SiblingFiles | None = None,
        jobs: RunningJobs | None = None,
    ) -> None:
        """open_recording: opens the recordings, at the start and for every reload. beside: further files that
        open_recording can include. jobs: running programs; they know what can be opened."""
        self.beside, self.jobs = beside, jobs
        self._open = open_recording
        self.recording, self.console, self.access = open_recording(), console, access
        self.news = News() if news is None else news
        self.opened = 1
        """How often the recordings were opened: track numbers differ each time."""
        self._left: set[ServedRecording] = set()
        self.under_way: dict[str, list[Doing]] = {}
        """Work for each pending request, by path and query."""
        self.cells = asyncio.Semaphore(_CELL_THREADS)
        self.adding = ThreadPoolExecutor(1, "stepscope-adding", initializer=threads.give_way)
        """Adds ranges up; timelines that move go first."""

    async def reopen(self) -> None:
        """Opens the recordings again. Pending requests about the old ones are still answered."""
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
        """Refused for a page that shows recordings from before a reload."""
        given = request.headers.get("x-stepscope-opened")
        if given is not None and given != str(self.opened):
            raise Refused(
                409,
                "The recordings were opened again.",
                seen="a page from before that",
                todo="reload the page",
            )
