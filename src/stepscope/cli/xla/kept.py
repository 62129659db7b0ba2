"""Runs a program whose messages are shown and kept, so that they can be read again beside its dumps."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO

from stepscope.formats.xla.program_log import KEPT

_MOST_BYTES = 1 << 28
_SECONDS_TO_END = 1.0
"""How long the last messages are waited for: what the program has started may hold them open."""


def run(
    command: Sequence[str], environment: Mapping[str, str], out: int | None, folder: Path
) -> tuple[int, bool]:
    """The program's exit code, and whether its messages are kept: a folder that cannot be written costs
    those, not the run. out: where its output goes. OSError when it cannot be started."""
    ours, theirs = _pair()
    try:
        child = subprocess.Popen(command, env=environment, stdout=out, stderr=theirs)
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    with suppress(OSError):
        (folder / KEPT).unlink(missing_ok=True)
    try:
        kept: IO[bytes] | None = (folder / KEPT).open("wb")
    except OSError:
        kept = None
    copier = Thread(target=_copy, args=(ours, kept), daemon=True)
    copier.start()
    while True:
        try:
            code = child.wait()
            break
        except KeyboardInterrupt:
            continue  # the terminal has told the program, too, which decides when it ends
    copier.join(_SECONDS_TO_END)
    return code, kept is not None


def _pair() -> tuple[int, int]:
    """Both ends for messages: a terminal where ours is one, so that colours and progress stay as they are."""
    if not sys.stderr.isatty():
        return os.pipe()
    try:
        import fcntl
        import termios

        ours, theirs = os.openpty()
        settings = termios.tcgetattr(theirs)
        settings[1] &= ~termios.OPOST  # our own terminal does that
        termios.tcsetattr(theirs, termios.TCSANOW, settings)
        size = fcntl.ioctl(sys.stderr.fileno(), termios.TIOCGWINSZ, b"\0" * 8)
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    except (ImportError, OSError):
        return os.pipe()
    return ours, theirs


def _copy(source: int, kept: IO[bytes] | None) -> None:
    """Shows and keeps what comes, until it ends."""
    try:
        shown = sys.stderr.fileno()
    except (OSError, ValueError):  # replaced by something without one
        shown = 2
    room = _MOST_BYTES
    while True:
        try:
            piece = os.read(source, 1 << 16)
        except OSError:  # how a terminal ends
            piece = b""
        if not piece:
            break
        if kept is not None and room > 0:
            try:
                kept.write(piece[:room])
                kept.flush()
            except OSError:  # the disk is full: the program goes on
                room = 0
            room -= len(piece)
            if room <= 0:
                with suppress(OSError):
                    kept.write(b"\nstepscope: what follows was not kept\n")
        rest = memoryview(piece)
        while rest:
            try:
                rest = rest[os.write(shown, rest) :]
            except OSError:  # nobody reads it any more
                break
    os.close(source)
    if kept is not None:
        with suppress(OSError):
            kept.close()
