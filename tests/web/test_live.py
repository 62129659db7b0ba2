"""A program that runs, in Chromium: the page shows it as it is now, and its recording when there is one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from stepscope.attach import live
from stepscope.report.live_parts import parts
from tests.capture.test_live import waits
from tests.presenters.browser import Browser
from tests.server.test_process import start, stop
from tests.web.test_accessibility import CONTRAST
from tests.web.test_page import _becomes, _until
from tests.web.test_timeline import complaints

PROGRAM = Path(__file__).with_name("watched_program.py")
TEXT = "document.querySelector('main').innerText"
ASKED = "/api/live"
HIDE = (
    "Object.defineProperty(document, 'hidden', {configurable: true, value: %s});"
    "document.dispatchEvent(new Event('visibilitychange'))"
)


class Program:
    """The program, which takes a step when it is told."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        plan = folder.with_name("plan.json")
        plan.write_text(json.dumps({"out": str(folder)}))
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "STEPSCOPE_RECORD": str(plan)},
        )
        self.steps()

    def steps(self, wanted: int = 0) -> None:
        """Takes so many steps, one after the other."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        for _ in range(wanted):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            self.process.stdout.readline()
        if not wanted:
            self.process.stdout.readline()

    def end(self) -> None:
        self.process.communicate()


@contextmanager
def running(folder: Path) -> Iterator[Program]:
    program = Program(folder)
    try:
        yield program
    finally:
        program.process.kill()
        program.process.communicate()


def test_the_page_shows_a_program_that_runs_and_then_its_recording(tmp_path: Path) -> None:
    with running(tmp_path / "rec") as program, Browser() as tab:
        served = start(str(program.process.pid), "--no-open", STEPSCOPE_CACHE_DIR=str(tmp_path / "cache"))
        try:
            tab.open(f"http://127.0.0.1:{served.port}/#t={served.token}", width=1280, height=900)
            _until(tab, f"{TEXT}.includes('No step has been recorded yet')")
            views = "[...document.querySelectorAll('header nav a')].map(a => a.innerText)"
            assert tab.value(views) == ["Live"], "nothing else can be seen yet"

            program.steps(12)
            _until(tab, f"/^step, process {program.process.pid}: step \\d+/.test({TEXT})")
            waits(lambda: (told := live.read(program.folder)) and parts(told) and told["steps"] >= 5)
            _until(tab, "document.querySelectorAll('.steps .step').length >= 5")
            _until(tab, "document.querySelector('.headline').innerText.includes('take_a_step')")
            for shown in (".bar i", ".legend b", ".memory-line", "table.lines td"):
                _until(tab, f"!!document.querySelector('{shown}')")
            assert tab.value(CONTRAST) == []

            _until(tab, "!!document.querySelector('button.main')")
            tab.value(HIDE % "true")
            rested = _asked_when_it_rests(tab)
            program.steps(1)
            assert _asked_when_it_rests(tab) == rested, "a hidden page asks nothing"
            tab.value(HIDE % "false")
            _until(tab, f"{TEXT}.includes('step 12')")

            program.end()
            _until(tab, f"{TEXT}.includes('the program has ended')")
            tab.value("document.querySelector('button.main').click()")
            _until(tab, "location.hash === '#overview' && !!document.querySelector('.headline, .steps-card')")
            _becomes(tab, f"{views}.includes('Overview') && !{views}.includes('Live')", True)
            assert complaints(tab) == []
        finally:
            stop(served)


def _asked_when_it_rests(tab: Browser) -> int:
    """How often the page has asked, once no answer is under way and its timer had the time to ask."""
    while any(ASKED in url for url in tab.unanswered()):
        tab.value("new Promise(done => setTimeout(() => done(1), 50))")
    tab.value("new Promise(done => setTimeout(() => done(1), 1500))")
    return sum(ASKED in url for url in tab.requests())
