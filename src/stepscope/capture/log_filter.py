"""Keeps the profilers' own log lines out of the program's stderr, and no other lines."""

import contextlib
import os
import re
import tempfile
from pathlib import Path
from typing import Iterator, Optional

_OURS = re.compile(
    rb"(profiler_session|session_manager|save_profile|profile_saver|xplane_to_step_stats|cupti_\w+|rocm_\w+)"
    rb"\.cc:\d+\]"
    # PyTorch's Kineto, as STAGE:2023-05-02 12:00:00 71:71 ActivityProfilerController.cpp:311] ...
    rb"|^[A-Z]+:\d{4}-\d\d-\d\d [\d:]+ \d+:\d+ \w+\.(cpp|h):\d+\]"
)


@contextlib.contextmanager
def quiet(state: Optional[str]) -> Iterator[None]:
    """Redirects file descriptor 2 to a file; at its end, all lines but the profilers' go to stderr.
    TensorFlow's C++ writes there, where neither Python nor a setting can stop it. state: the launcher's
    folder; if the process dies in between, the launcher prints what is left there."""
    path = Path(state) / f"stderr-{os.getpid()}" if state is not None else None
    saved = -1
    try:
        saved = os.dup(2)
        kept = path.open("w+b") if path is not None else tempfile.TemporaryFile()  # noqa: SIM115
    except OSError:  # the program closed stderr, the launcher is gone, or the disk is full
        if saved >= 0:
            os.close(saved)
        yield
        return
    with kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
            with contextlib.suppress(OSError):
                kept.seek(0)
                write(kept.read())
            if path is not None:
                with contextlib.suppress(OSError):
                    path.unlink()


def write(text: bytes) -> None:
    """Writes all lines but the profilers' to stderr. Lines that stderr refuses are lost; the program goes
    on."""
    with contextlib.suppress(OSError):
        for line in text.splitlines(keepends=True):
            while line and not _OURS.search(line):
                line = line[os.write(2, line) :]
