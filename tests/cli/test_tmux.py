"""The prompt in a real terminal: Tab, Ctrl-C, and words that leave it, typed into tmux."""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.tiers import some

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "chrome" / "viztracer.json"
_PATIENCE_S = 240  # bounds a hang; no answer takes so long


class Screen:
    """A prompt in a terminal of 100 columns and 30 lines, in a tmux of its own."""

    def __init__(self, folder: Path) -> None:
        self._server = ["tmux", "-L", f"stepscope-{os.getpid()}-{folder.name}", "-f", os.devnull]
        home = f"env XDG_STATE_HOME={folder} STEPSCOPE_CACHE_DIR={folder / 'cache'} LC_ALL=C.UTF-8"
        command = f"{home} {sys.executable} -m stepscope query {SAMPLE}; echo code $?; exec cat"
        subprocess.run([*self._server, "new-session", "-d", "-x", "100", "-y", "30", command], check=True)

    def type(self, *keys: str) -> None:
        # A semicolon at the end of a word would end tmux's own command.
        keys = tuple(f"{key[:-1]}\\;" if key.endswith(";") else key for key in keys)
        subprocess.run([*self._server, "send-keys", *keys], check=True)

    def text(self) -> str:
        done = subprocess.run(
            [*self._server, "capture-pane", "-p"], capture_output=True, text=True, check=True
        )
        return done.stdout

    def wait_for(self, wanted: str) -> str:
        end = time.monotonic() + _PATIENCE_S
        while wanted not in (text := self.text()):
            assert time.monotonic() < end, f"{wanted!r} never came:\n{text}"
            time.sleep(0.05)
        return text

    def close(self) -> None:
        subprocess.run([*self._server, "kill-server"], check=False)


@contextlib.contextmanager
def prompt(folder: Path) -> Iterator[Screen]:
    """A prompt that waits for what is typed."""
    made = Screen(folder)
    try:
        made.wait_for("stepscope>")
        yield made
    finally:
        made.close()


@pytest.fixture(scope="module")
def screen(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Screen]:
    """One conversation: each test leaves the prompt ready for the next."""
    with prompt(tmp_path_factory.mktemp("prompt")) as opened:
        yield opened


def test_tab_completes(screen: Screen) -> None:
    screen.type("SELECT 70 + 7 + 0 * count(*) AS n FROM op_sl", "Tab")
    screen.wait_for("FROM op_slice")
    screen.type(";", "Enter")
    screen.wait_for("77")


def test_ctrl_c_drops_a_line_and_stops_a_query(screen: Screen) -> None:
    screen.type("SELECT half", "C-c")
    screen.type("SELECT 40 + 2 AS answer;", "Enter")
    screen.wait_for("42")
    # The first answer tells that the second question is on its way.
    screen.type("SELECT 20 + 3 AS n; SELECT count(*) FROM range(100000000000) a, range(1000) b;", "Enter")
    screen.wait_for("23")
    screen.type("C-c")
    screen.wait_for("stopped")
    screen.type("SELECT 6 * 9 AS again;", "Enter")
    screen.wait_for("54")


def test_tables_fit_the_screen(screen: Screen) -> None:
    screen.type("help", "Enter")
    screen.wait_for(".tables")
    screen.type("C-l", ".tables", "Enter")
    text = screen.wait_for("views:")
    assert "tables:" in text, "the first line is still on the screen"


@pytest.mark.parametrize(
    "last",
    some(
        ["quit", "exit", "SELECT name\nFROM slice\nquit"],
        ("SELECT name\nFROM slice\nquit",),
        "test_prompt has all words that leave",
    ),
)
def test_words_that_leave(tmp_path: Path, last: str) -> None:
    with prompt(tmp_path) as opened:
        for line in last.splitlines():
            opened.type(line, "Enter")
        opened.wait_for("code 0")
