"""Reports on recordings that are nothing but dump folders of XLA: what was compiled, not what ran."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.errors import NothingFound
from stepscope.instruments.xla import dumps
from stepscope.instruments.xla.memory import find as programs_in
from stepscope.sources.dump_folder import KIND
from stepscope.sources.given import is_lake
from stepscope.sources.stores import is_store

if TYPE_CHECKING:
    from stepscope.report import Report
    from stepscope.session.trace import Trace


def only(trace: Trace) -> bool:
    """Whether all that was opened are dump folders of XLA."""
    return {one.kind for one in trace.sources} == {KIND}


def summary(trace: Trace, name: str, all: bool = False) -> Report | None:
    """What XLA compiled; None where anything else was recorded, and where the modules cannot be read: those
    of a lake, and packed ones. name: what was read."""
    from stepscope.report import compiled

    paths = _folders(trace)
    if not paths:
        return None
    try:
        found = dumps.read(paths)
    except (NothingFound, OSError):
        return None
    if not any(row["instructions"] is not None for row in found.rows):
        return None
    return compiled.build(found, name, all=all)


def memory(trace: Trace, name: str) -> Report | None:
    """The memory of compiled programs; None as above."""
    from stepscope.report import compiled_memory

    paths = _folders(trace)
    if not paths:
        return None
    try:
        programs, total = programs_in(paths)
    except (NothingFound, OSError):
        return None
    return compiled_memory.build(programs, total, name) if programs else None


def _folders(trace: Trace) -> list[str]:
    if not only(trace):
        return []
    return [path for path in trace.given if not is_store(path) and not is_lake(Path(path))]
