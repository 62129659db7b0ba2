"""Streams: stdout is data, stderr is talk. Width, height and colour are decided here once."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple, TextIO, cast

from stepscope.escapes import Visible, escaped_lines

STDOUT = "standard output"
"""What errors call it."""
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
    """Lines of the screen; None when stdout is not a terminal."""

    @classmethod
    def of(cls, color: str = "auto") -> Console:
        """The console of this process. color: auto, always or never."""
        # Python has none where the descriptor was closed before it started (>&-).
        out = _named(sys.stdout) if sys.stdout else cast("TextIO", _Closed(STDOUT))
        err = cast("TextIO", sys.stderr or _Closed("standard error"))
        sys.stdout, sys.stderr = out, err
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

    @property
    def err_width(self) -> int | None:
        """Columns of the terminal that stderr is; None where it is none."""
        if not self.err_is_terminal:
            return None
        try:
            return _size_from("COLUMNS") or os.get_terminal_size(self.err.fileno()).columns or 80
        except (OSError, ValueError):
            return None

    def paint(self, code: str, text: str) -> str:
        """`text` for stderr in an ANSI style, where colour is wanted."""
        return f"\x1b[{code}m{text}\x1b[0m" if self.err_color else text

    def say(self, text: str) -> None:
        """A line of talk, on stderr, broken at blanks where a terminal ends; what is indented, as commands
        are, stays whole. Where stderr takes nothing, nobody listens, and the work goes on."""
        width = self.err_width
        if width is not None and len(text) > width:
            text = "\n".join(part for line in text.split("\n") for part in _broken(line, width))
        with contextlib.suppress(OSError, ValueError):
            self.err.write(escaped_lines(text, styles=self.err_color) + "\n")


def _broken(line: str, width: int) -> list[str]:
    """A line of talk in lines of a terminal."""
    from stepscope.presenters.cells import wrap

    if len(line) <= width or line.startswith(" ") or "\x1b" in line:
        return [line]
    return wrap(line, width, cut=False)


class _Stdout(io.FileIO):
    """The descriptor of stdout, whose errors bear its name: the system does not say which write failed."""

    def write(self, data: Any, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            error.filename = STDOUT
            raise


def _named(out: TextIO) -> TextIO:
    """stdout as Python made it, but for the name in its errors; anything else as it is."""
    if out is not sys.__stdout__ or not isinstance(out, io.TextIOWrapper):
        return out
    raw = _Stdout(out.fileno(), "wb", closefd=False)
    buffered = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffered, encoding=out.encoding, line_buffering=out.isatty())


class _Closed(io.TextIOBase):
    """A stream that was closed before the process started; writing to it is the system's error."""

    def __init__(self, what: str) -> None:
        self._what = what

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, f"{self._what} is closed")

    @property
    def buffer(self) -> BinaryIO:
        raise OSError(errno.EBADF, f"{self._what} is closed")


def screen() -> tuple[int, int | None]:
    """Columns for stdout, and lines where it is a terminal. COLUMNS and LINES go before what that says."""
    columns, lines = _size_from("COLUMNS"), _size_from("LINES")
    try:
        size = os.get_terminal_size(sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):  # no terminal, or not even a file
        return columns or _PIPED_WIDTH, None
    return columns or size.columns or 80, lines or size.lines or 24


def _size_from(variable: str) -> int:
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
