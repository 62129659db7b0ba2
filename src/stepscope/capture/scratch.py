"""The launcher's own folder, in which the processes of a program leave notes: made, and removed at the end.

A launcher that is killed leaves it. The next one removes it, once no process is left that may use it.
"""

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import Iterator

from .plan import RecordingPlan
from .processes import identity, is_gone

PREFIX = "stepscope-record-"


@contextlib.contextmanager
def prepared(plan: RecordingPlan) -> Iterator[Path]:
    """The folder for notes with the plan in it; removed at the end. OSError when it cannot be made."""
    with contextlib.suppress(OSError):  # leftovers of others must not stop the command
        sweep(Path(tempfile.gettempdir()))
    state = Path(tempfile.mkdtemp(prefix=PREFIX))
    try:
        uses(state, os.getpid())
        plan.state = str(state)
        plan.out = str(Path(plan.out).absolute())
        plan.save(state / "plan.json")
        yield state
    finally:
        shutil.rmtree(str(state), ignore_errors=True)


def uses(state: Path, pid: int) -> None:
    """Records that a process uses the folder: it stays until that process has ended."""
    (state / f"process-{pid}").write_text(identity(pid), encoding="utf-8")


def sweep(folder: Path) -> None:
    """Removes leftovers of this user's killed launchers. OSError when the folder cannot be listed."""
    for path in folder.glob(PREFIX + "*"):
        with contextlib.suppress(OSError, ValueError):  # gone meanwhile, or damaged: it stays
            if _is_own(path) and is_left(path):
                shutil.rmtree(str(path), ignore_errors=True)


def _is_own(path: Path) -> bool:
    seen = path.lstat()
    return stat.S_ISDIR(seen.st_mode) and (not hasattr(os, "getuid") or seen.st_uid == os.getuid())


def is_left(path: Path) -> bool:
    """True when the launcher has ended, and so has every process that it or its program started in Python.

    A folder without such notes stays: it may be about to get them.
    """
    users = [*path.glob("process-*"), *path.glob("python-*")]
    return bool(users) and all(is_gone(user.read_text(encoding="utf-8")) for user in users)
