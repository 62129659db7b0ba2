"""A text that is longer than the screen, from its top on: through a pager, as git and man do it."""

import contextlib
import io
import os
import shlex
import shutil
import signal
import subprocess
import sys
from typing import TextIO, cast

from stepscope.cli.console import Console
from stepscope.escapes import Visible
from stepscope.presenters.cells import cells

_LESS = "FRX"
"""Ends where the text fits, shows colours, and leaves the text on the screen; LESS says otherwise."""


def show(text: str, console: Console) -> None:
    """Writes a text to stdout. Where that is a terminal that the text does not fit, the pager of
    STEPSCOPE_PAGER or PAGER shows it, else less; a pager of that name that is empty or cat is none."""
    command = _command(console, text)
    if command is None:
        console.out.write(text)
        return
    console.out.flush()
    escaped = io.StringIO()
    Visible(cast("TextIO", escaped), styles=console.color).write(text)
    before = signal.getsignal(signal.SIGINT)
    try:
        # Ctrl-C is the pager's: it stops a search there, and nothing here.
        with contextlib.suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        environment = {"LESS": _LESS, "LESSCHARSET": "utf-8", **os.environ}
        data = escaped.getvalue().encode("utf-8", "backslashreplace")
        done = subprocess.run(command, input=data, env=environment, check=False)
        unread = done.returncode in (126, 127)
    except BrokenPipeError:  # the reader has seen enough
        unread = False
    except OSError:
        unread = True
    finally:
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, before)
    if unread:
        console.out.write(text)


def _command(console: Console, text: str) -> list[str] | None:
    """The pager; None where none is wanted."""
    if not console.is_terminal or console.height is None or os.environ.get("TERM") == "dumb":
        return None
    lines = sum(max(1, -(-cells(line) // console.width)) for line in text.splitlines())
    if lines < console.height or not (sys.stdin and sys.stdin.isatty()):
        return None
    named = os.environ.get("STEPSCOPE_PAGER", os.environ.get("PAGER"))
    try:
        words = shlex.split(named) if named is not None else ["less"]
    except ValueError:  # quotes that are not closed
        return None
    if not words or words == ["cat"] or shutil.which(words[0]) is None:
        return None
    return words
