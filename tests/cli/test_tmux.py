"""The prompt in a real terminal: Tab, Ctrl-C, and words that leave it, typed into tmux."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux here")
SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "chrome" / "viztracer.json"
_PATIENCE_S = 60


class Screen:
    """A prompt in a terminal of 100 columns and 30 lines, in a tmux of its own."""

    def __init__(self, folder: Path) -> None:
        self._server = ["tmux", "-L", f"stepscope-{os.getpid()}-{folder.name}", "-f", os.devnull]
        home = f"env XDG_STATE_HOME={folder} STEPSCOPE_CACHE_DIR={folder / 'cache'} LC_ALL=C.UTF-8"
        command = f"{home} {sys.executable} -m stepscope query {SAMPLE}; echo code $?; sleep 60"
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


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Screen]:
    made = Screen(tmp_path)
    try:
        made.wait_for("stepscope>")
        yield made
    finally:
        made.close()


def test_tab_completes(screen: Screen) -> None:
    screen.type("SELECT count(*) AS n FROM op_sl", "Tab")
    screen.wait_for("FROM op_slice")
    screen.type(";", "Enter")
    screen.wait_for("stepscope> SELECT count(*) AS n FROM op_slice;")


def test_ctrl_c_drops_a_line_and_stops_a_query(screen: Screen) -> None:
    screen.type("SELECT half", "C-c")
    screen.type("SELECT 40 + 2 AS answer;", "Enter")
    screen.wait_for("42")
    screen.type("SELECT count(*) FROM range(100000000000) a, range(1000) b;", "Enter")
    time.sleep(1)
    screen.type("C-c")
    screen.wait_for("stopped")
    screen.type("SELECT 6 * 9 AS again;", "Enter")
    screen.wait_for("54")


@pytest.mark.parametrize("words", [("quit",), ("exit",), ("SELECT name", "FROM slice", "quit")])
def test_words_that_leave(screen: Screen, words: tuple[str, ...]) -> None:
    for word in words:
        screen.type(word, "Enter")
    screen.wait_for("code 0")


def test_tables_fit_the_screen(screen: Screen) -> None:
    screen.type("help", "Enter")
    screen.wait_for(".tables")
    screen.type("C-l", ".tables", "Enter")
    text = screen.wait_for("views:")
    assert "tables:" in text, "the first line is still on the screen"
