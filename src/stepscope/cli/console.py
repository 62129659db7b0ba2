"""Where output goes: stdout is data, stderr is talk. Width, height and colour are decided here once."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping
from typing import NamedTuple, TextIO

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
        width, height = _size(is_terminal)
        return cls(
            out,
            err,
            wants_color(color, is_terminal, os.environ),
            wants_color(color, err.isatty(), os.environ),
            is_terminal,
            err.isatty(),
            width,
            height,
        )

    def paint(self, code: str, text: str) -> str:
        """`text` for stderr in an ANSI style, where colour is wanted."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.err_color else text

    def say(self, text: str) -> None:
        """A line of talk, on stderr."""
        self.err.write(text + "\n")


def _size(is_terminal: bool) -> tuple[int, int | None]:
    """Columns, and lines of the screen where there is one. COLUMNS goes before both."""
    if not is_terminal and not os.environ.get("COLUMNS"):
        return _PIPED_WIDTH, None
    import shutil

    size = shutil.get_terminal_size((80 if is_terminal else _PIPED_WIDTH, 24))
    return size.columns, size.lines if is_terminal else None


def wants_color(choice: str, is_terminal: bool, environment: Mapping[str, str]) -> bool:
    """--color decides; with auto NO_COLOR goes before FORCE_COLOR, and both before what the stream is."""
    if choice != "auto":
        return choice == "always"
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return is_terminal and environment.get("TERM") != "dumb"
