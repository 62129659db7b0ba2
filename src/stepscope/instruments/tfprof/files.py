"""Which files under a path make a model: its graph, its steps, its op log, its checkpoint or a profile."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from pathlib import Path

from stepscope.errors import StepscopeError
from stepscope.formats import _op_log

CHECKPOINTS = re.compile(r"(.+)\.index")
TRACES = "traces"
"""Not an option: recordings that are no RunMetadata, or a lake."""


def under(paths: Sequence[str], told: list[str]) -> dict[str, list[str]]:
    """Files by the option that takes them. What was passed over is said in `told`.

    Traces are among them (TRACES): they tell what ran where no step does. A folder with several graphs gives
    the first one by name, binary before text; steps come in the order of their numbers.
    """
    from stepscope import formats
    from stepscope.lake.reader import is_lake
    from stepscope.sources import find
    from stepscope.sources.spool import Spool

    files: dict[str, list[str]] = {}
    if any(is_lake(Path(path)) for path in paths):
        return {TRACES: list(paths)}
    with contextlib.closing(Spool()) as spool:
        try:
            sources = find.find(paths, formats.recognise, spool).sources
        except StepscopeError:
            sources = ()
    # A checkpoint tells what nodes hold, not what ran: it is found by its name below.
    others = [one.path for one in sources if one.format not in ("graph", "run_metadata", "checkpoint")]
    if others:
        files[TRACES] = others
    sources = tuple(one for one in sources if one.format in ("graph", "run_metadata"))
    loose = [one for one in sources if one.bytes.unpack or one.bytes.offset]
    if loose:
        told.append(f"{loose[0].path}: files in archives are not looked at here; unpack them first")
    graphs = [one.path for one in sources if one.format == "graph" and one not in loose]
    steps = [one for one in sources if one.format == "run_metadata" and one not in loose]
    if graphs:
        files["graph_path"] = graphs[:1]
        told += [f"{path}: one graph is enough, {graphs[0]} was taken" for path in graphs[1:]]
    if steps:
        in_order = sorted(steps, key=lambda one: (one.step if one.step is not None else 0, one.path))
        files["run_meta_path"] = [one.path for one in in_order]
    for path in sorted(_walk(paths)):
        if _op_log.NAMES.fullmatch(path.name):
            files.setdefault("op_log_path", [str(path)])
        elif found := CHECKPOINTS.fullmatch(path.name):
            files.setdefault("checkpoint_path", [str(path.with_name(found[1]))])
    return files


def _walk(paths: Sequence[str]) -> list[Path]:
    found = []
    for path in map(Path, paths):
        found += [path] if path.is_file() else [one for one in path.rglob("*") if one.is_file()]
    return found
