"""Recordings of single runs that belong together: RunMetadata, timelines, and the files of ProfilerHook.

Each file holds one run of a session, or a few that are far apart. Asked one by one, they give as many answers
as there are files, each from a step or two; together they are the steps of one program.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from stepscope.library.statements import Query, statement

APART_PS = 10**9
"""Time between two recordings that are placed side by side; the real time does not matter."""


class Together(NamedTuple):
    """Sources that are read as one."""

    sources: tuple[int, ...]
    run_id: str
    host_id: str
    path: str
    """Path of the file, or of the folder with the number of files."""


def groups(query: Query, wanted: Iterable[int]) -> list[Together]:
    """The sources wanted, in their order: those with a step per file joined with the others of their run and
    host, each other one by itself. Runs that were traced in full, beside a recording of the same pipeline,
    are left out."""
    recovered, averaged = _recovery(query)
    asked = set(wanted)
    found: dict[Any, list[tuple[int, str, str, str]]] = {}
    for source_id, run_id, host_id, path, *_ in query(statement("sources")).rows():
        if source_id in asked:
            of_files = recovered.get(source_id) == {"file"}
            key = (run_id, host_id) if of_files else source_id
            found.setdefault(key, []).append((source_id, run_id, host_id, path))
    hosts = Counter((sources[0][1], sources[0][2]) for sources in found.values())
    for key in [key for key in found if isinstance(key, tuple) and hosts[key] > 1]:
        if not averaged.intersection(source[0] for source in found[key]):
            del found[key]
    return [
        Together(
            tuple(source[0] for source in sources),
            sources[0][1],
            sources[0][2],
            _path([source[3] for source in sources]),
        )
        for sources in found.values()
    ]


def apart(query: Query, sources: Sequence[int]) -> int | None:
    """The mean time between recorded runs, in picoseconds; None where they follow each other closely, or
    where it is unknown."""
    mean_gap_ps: int | None
    ((mean_gap_ps,),) = query(statement("time_between_runs", sources=sources)).rows()
    return mean_gap_ps


def _recovery(query: Query) -> tuple[dict[int, set[str]], set[int]]:
    """How the steps of each source were recovered, and the sources whose steps averages include."""
    recovered: dict[int, set[str]] = {}
    averaged: set[int] = set()
    for source_id, *_, counts, _, recovered_from in query(statement("timed_steps")).rows():
        recovered.setdefault(source_id, set()).add(recovered_from)
        if counts:
            averaged.add(source_id)
    return recovered, averaged


def _path(paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    around = list(PurePosixPath(paths[0]).parent.parts)
    for path in paths[1:]:
        other = PurePosixPath(path).parent.parts
        same = [part for part, two in zip(around, other, strict=False) if part == two]
        around = around[: len(same)] if around[: len(same)] == list(other[: len(same)]) else []
    return f"{PurePosixPath(*around)} ({len(paths)} files)" if around else f"{len(paths)} files"


def first_of(together: Iterable[Together]) -> Mapping[int, int]:
    """The first source of each group, by source."""
    return {source_id: group.sources[0] for group in together for source_id in group.sources}
