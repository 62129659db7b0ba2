"""Announces packed files in processes that die before a given change of the disk.

It runs on its own, as `python -m tests.lake.dying PICKLE`, so that what forks has neither the threads nor the
modules of the test run. A line on stdin names a lake and a step; the answer is the exit status: 9 for a
process that died at that step, 0 for one that had finished before.
"""

import os
import pickle
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stepscope.lake import disk, reader, snapshot, snapshot_writer, writer

Made = list[tuple[snapshot.Packed, Path]]
DIED = 9


def announce(lake: Path, made: Made, step: int) -> None:
    """Ends this process before its `step`th change of the disk, unless it has fewer."""
    left = step

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*args: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if not left:
                os._exit(DIED)
            return function(*args, **named)

        return instead

    there = reader.contents(lake).only_runs(["fleet"])
    with writer.staged(lake) as stage:
        own = [(file, Path(shutil.copy(part, stage / part.name))) for file, part in made]
        for name in ("write_synced", "put_if_absent", "sync_folder", "sync_folders"):
            setattr(disk, name, counted(getattr(disk, name)))
        os.replace = counted(os.replace)
        Path.unlink = counted(Path.unlink)  # type: ignore[method-assign]
        assert snapshot_writer.write(lake, stage, "fleet", there.manifests, own)
        left = -1


def main() -> None:
    """Answers each line of stdin."""
    made = pickle.loads(Path(sys.argv[1]).read_bytes())
    for line in sys.stdin:
        step, _, lake = line.rstrip("\n").partition(" ")
        child = os.fork()
        if not child:
            status = 7
            try:
                announce(Path(lake), made, int(step))
                status = 0
            except BaseException:  # noqa: BLE001 - the process must end here
                traceback.print_exc()
            os._exit(status)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
