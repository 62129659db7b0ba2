"""A page that waits for a long answer, in Chromium: it says what is done, and stops it on demand."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn

from stepscope.background import go_on
from stepscope.library.statements import statement
from stepscope.server import app, assets
from stepscope.server.access import Access
from stepscope.server.console import Settings, StatementProcesses
from stepscope.server.open_page import OpenPage
from stepscope.server.recording import ServedRecording
from stepscope.server.run import Protocol, bind
from stepscope.session import trace
from stepscope.session.trace import OpenTrace
from tests.corpus import SAMPLES
from tests.presenters.browser import Browser
from tests.server.test_leaving import HANG_SECONDS, Slow
from tests.web.test_accessibility import CONTRAST
from tests.web.test_page import _show, _until
from tests.web.test_timeline import complaints

RECORDING = SAMPLES / "run_metadata" / "two_servers.pb"


@contextmanager
def here(path: Path) -> Iterator[str]:
    """The URL of a page that this process serves, so that a test can hold an answer."""
    listening = bind(None)
    access = Access(listening.getsockname()[1])
    started: list[uvicorn.Server] = []

    async def serve() -> None:
        page = OpenPage(
            lambda: ServedRecording(lambda: trace.open(path)),
            StatementProcesses(Settings((str(path),))),
            access,
        )
        built = app.build(page, assets.manifest())
        config = uvicorn.Config(built, http=Protocol, ws="none", log_config=None, timeout_graceful_shutdown=1)
        started.append(uvicorn.Server(config))
        await started[0].serve(sockets=[listening])

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        yield f"http://127.0.0.1:{access.port}/#t={access.token}"
    finally:
        started[0].should_exit = True
        thread.join()
        listening.close()


def _endless(asked: OpenTrace) -> None:
    asked.query(statement("page_runs")).rows()
    while True:
        go_on()


def test_a_long_answer_shows_what_is_done_and_can_be_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path))
    text = "document.querySelector('main').innerText"
    button = "[...document.querySelectorAll('main button')].find((one) => one.innerText === {})"
    with here(RECORDING) as address, Browser() as tab:
        tab.open(address)
        with pytest.MonkeyPatch.context() as patch:
            slow = Slow(patch, _endless)
            _show(tab, "memory", f"{text}.includes('Asking page runs')")
            _until(tab, "!!document.querySelector('main progress')")
            assert tab.value(CONTRAST) == []
            _show(tab, "ops", "document.querySelectorAll('main td').length > 0")  # others are answered
            assert not slow.ended.is_set()
            _show(tab, "memory", "!!" + button.format("'Stop'"))
            tab.value(button.format("'Stop'") + ".click()")
            assert slow.ended.wait(HANG_SECONDS)
            _until(tab, f"{text}.includes('You stopped this.')")
        tab.value(button.format("'Ask again'") + ".click()")
        _until(tab, "!!document.querySelector('main table')")
        assert complaints(tab) == []
