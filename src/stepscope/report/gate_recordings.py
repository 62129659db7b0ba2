"""The recordings of a side of a gate, read from their paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from stepscope.errors import NothingFound, UnreadableSource
from stepscope.instruments.compare.recordings import RecordedRun, UnreadableRecording, sort_by_time
from stepscope.instruments.compare.recordings import read as read_runs
from stepscope.report.compared_sides import need_time

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

_FAILED_TOLD = 5


def read(
    paths: Sequence[str],
    opened: Callable[[str], AbstractContextManager[OpenTrace]],
    tell: Callable[[str], object] = lambda _: None,
) -> list[RecordedRun]:
    """The recordings under some paths by time. opened: opens one of them. tell: hears which are not read.

    UnreadableSource when a file of them cannot be read, because a recording that failed must not pass;
    NothingFound when no path holds a run."""
    found: list[RecordedRun] = []
    failed: list[UnreadableRecording] = []
    for path in paths:
        try:
            with opened(path) as trace:
                need_time(trace)
                runs, bad = read_runs(trace.query, path)
            found += runs
            failed += bad
        except (NothingFound, UnreadableSource) as error:
            failed.append(UnreadableRecording(path, error.seen))
    if failed:
        raise _unreadable(failed, len(paths), len(found), tell)
    if not found:
        raise no_run(", ".join(paths) or "no path")
    return sort_by_time(found)


def no_run(seen: str, path: str | None = None) -> NothingFound:
    """The error for what has nothing to be compared."""
    todo = "give recordings of a program's steps"
    return NothingFound("There is no run to compare", seen=seen, todo=todo, path=path)


def _unreadable(
    failed: Sequence[UnreadableRecording], paths: int, found: int, tell: Callable[[str], object]
) -> UnreadableSource:
    for path, why in failed[:_FAILED_TOLD]:
        tell(f"not read: {path}: {why}")
    first = failed[0]
    return UnreadableSource(
        "Some recordings cannot be read, so nothing is compared",
        seen=f"{len(failed)} that cannot be read beside {found} that can; first {first.path}"
        if found
        else f"{len(failed)} of {paths} paths, first {first.path}: {first.why}",
        todo="record those again, or leave them out",
        path=first.path,
    )
