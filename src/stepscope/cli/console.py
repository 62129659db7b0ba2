"""Where output goes: stdout is data, stderr is talk. Width, height and colour are decided here once."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import NamedTuple, TextIO, cast

from stepscope.hidden import Visible

_PIPED_WIDTH = 100


class Console(NamedTuple):
    """stdout and stderr with what a presenter must know of them."""

    out: TextIO
    err: TextIO
    color: bool
    err_color: bool
    is_terminal: bool
    err_is_terminal: bool
    width: int
    height: int | None
    """Lines of the screen; None when stdout is no terminal."""

    @classmethod
    def of(cls, color: str = "auto") -> Console:
        """The console of this process. color: auto, always or never."""
        out, err = sys.stdout, sys.stderr
        for stream in (out, err):
            if isinstance(stream, io.TextIOWrapper):
                # Data is UTF-8 with line ends as written; a path may hold bytes that are not.
                encoding = stream.encoding if stream.isatty() else "utf-8"
                stream.reconfigure(encoding=encoding, errors="backslashreplace", newline="")
        is_terminal = out.isatty()
        width, height = screen()
        styled = wants_color(color, is_terminal, os.environ)
        return cls(
            # Presenters escape what they show; this also covers what they may forget.
            cast("TextIO", Visible(out, styles=styled)) if is_terminal else out,
            err,
            styled,
            wants_color(color, err.isatty(), os.environ),
            is_terminal,
            err.isatty(),
            width,
            height,
        )

    @property
    def data(self) -> TextIO:
        """stdout for data of which nothing is ours to colour: exact, but with escapes on a terminal."""
        return cast("TextIO", Visible(self.out, styles=False)) if self.is_terminal else self.out

    def paint(self, code: str, text: str) -> str:
        """`text` for stderr in an ANSI style, where colour is wanted."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.err_color else text

    def say(self, text: str) -> None:
        """A line of talk, on stderr."""
        self.err.write(text + "\n")


def screen() -> tuple[int, int | None]:
    """Columns for stdout, and lines where it is a terminal. COLUMNS and LINES go before what that says."""
    columns, lines = _told("COLUMNS"), _told("LINES")
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError):  # no terminal, or not even a file
        return columns or _PIPED_WIDTH, None
    return columns or size.columns or 80, lines or size.lines or 24


def _told(variable: str) -> int:
    text = os.environ.get(variable, "")
    return int(text) if text.isdecimal() else 0


def wants_color(choice: str, is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """--color decides; with auto NO_COLOR goes before FORCE_COLOR, and both before what the stream is."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"
