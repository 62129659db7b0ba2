"""Programs in a child process, by the Python that has the library: it may abort, hang or fill the memory."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stepscope.errors import UsageError


def run_python(
    python: str | None,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    seconds: float,
    folder: Path | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What a Python did with these arguments. python: an interpreter, by default the one that runs this.
    UsageError when it does not start, subprocess.TimeoutExpired when it runs for longer than `seconds`."""
    program = python or sys.executable
    try:
        return subprocess.run(
            [program, *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            cwd=folder,
        )
    except (OSError, ValueError) as error:
        raise UsageError(
            "The Python could not be started",
            seen=str(error),
            todo="give --python an interpreter that exists",
            path=program,
        ) from error
