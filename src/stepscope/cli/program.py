"""The program that `record` runs: its command, its output, its end; and the folder to record it into."""

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from stepscope.capture.writable import probe_new
from stepscope.cli.console import Console
from stepscope.errors import OutputError, UsageError


def command_of(words: Sequence[str], console: Console) -> list[str]:
    """The command, with Python before what only Python can run: a script that is no command, -m and -c."""
    script = words[0].endswith(".py") and Path(words[0]).is_file() and shutil.which(words[0]) is None
    if not script and words[0] not in ("-m", "-c"):
        return list(words)
    python = _python()
    console.say(f"stepscope: runs {words[0]} with {python}")
    return [python, *words]


def _python() -> str:
    """The Python that would be typed: that of the active environment, or ours when our command was typed with
    a folder, as .venv/bin/stepscope, because its environment is not active."""
    found = shutil.which("stepscope")
    ours = found is None or not Path(sys.argv[0]).exists() or not Path(found).samefile(sys.argv[0])
    typed = () if ours else map(shutil.which, ("python", "python3"))
    return next(filter(None, typed), sys.executable)


@contextlib.contextmanager
def errors_of_start(command: Sequence[str]) -> Iterator[None]:
    """UsageError where a program cannot be started."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{command[0]} cannot be started",
            seen=getattr(error, "strerror", None) or str(error),
            todo="give the command as you would type it without stepscope",
        ) from error


@contextlib.contextmanager
def stdout_is_stderr(console: Console) -> Iterator[None]:
    """Lets programs that are started within write to stderr what they write to stdout."""
    console.out.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def end_by(number: int) -> None:
    """Ends this process by the signal that ended the program, so that the shell sees what it would have."""
    import resource

    with contextlib.suppress(OSError, ValueError):  # without the limit there is one core file more
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # not for SIGKILL, nor outside of the main thread
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def check_free(folder: Path, option: str) -> None:
    """OutputError where a folder for recordings has something in it. option: where it was named."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise OutputError(
            f"{folder} is there already",
            seen="a folder that is not empty" if folder.is_dir() else "a file",
            todo=f"choose another {option}; recordings are never mixed or replaced",
            path=str(folder),
        )


def check_folder(out: Path) -> None:
    """OutputError where the folder is in use or cannot be written: no program is to run for hours for a
    recording that cannot be kept."""
    check_free(out, "--out")
    try:
        probe_new(out.absolute())
    except OSError as error:
        raise OutputError(
            f"{out} cannot be written",
            seen=error.strerror or str(error),
            todo="choose another --out; the program was not started",
            path=error.filename if isinstance(error.filename, str) else str(out),
        ) from error
