"""Folders that can be written, and those to try where one cannot."""

import contextlib
import os
import tempfile
from io import FileIO
from pathlib import Path
from typing import Iterator, List

KEPT = "stepscope-kept-"
"""Begin of the names of folders for recordings that cannot be where they were asked for."""
_PROBE_BYTES = 64 << 10


def probe(folder: Path) -> None:
    """OSError when a folder cannot be written: it is not there, it is locked, or it has no room. Leaves
    nothing."""
    handle, name = tempfile.mkstemp(prefix=".stepscope-", dir=str(folder))
    try:
        with open(handle, "wb", buffering=0) as file:  # noqa: PTH123
            write_all(file, bytes(_PROBE_BYTES))
    finally:
        os.unlink(name)  # noqa: PTH108


def probe_new(folder: Path) -> None:
    """Probes a folder that may not exist yet; created folders are removed again."""
    made: List[Path] = []
    try:
        for path in [*reversed(folder.parents), folder]:
            if not path.exists():
                path.mkdir()
                made.append(path)
        probe(folder)
    finally:
        for path in reversed(made):
            with contextlib.suppress(OSError):
                path.rmdir()


def places() -> Iterator[str]:
    """Other folders for a recording, the most likely to have room first."""
    with contextlib.suppress(OSError):  # no folder for temporary files at all
        yield tempfile.gettempdir()
    yield from ("/var/tmp", "/dev/shm")
    yield os.path.expanduser("~")  # noqa: PTH111


def write_all(file: FileIO, data: bytes) -> None:
    """Writes to a file without a buffer. A disk that is almost full takes a part, and then raises OSError."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]
