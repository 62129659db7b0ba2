"""The catalog of a page: runs, hosts, sources, tracks and steps, with short numbers for them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stepscope._core import MOST_PX
from stepscope.library.statements import statement
from stepscope.step_labels import LABELS

if TYPE_CHECKING:
    from stepscope.engines import QueryResult
    from stepscope.session.trace import OpenTrace

FORMAT = 1
"""Version of the API; raised when a key changes its meaning or disappears."""

CLASSES = (*LABELS, "other")
"""Labels of time, in the order of their colours."""

_NUMBER = re.compile(r"([0-9]{1,18})")
_LONGEST = 200
"""Characters of a name that count for its order: a name may have a megabyte."""
SHIFT = "_source_shift"
STACK_BARS = "_stack_bar"


@dataclass
class Catalog:
    """Tracks by the page's numbers: ids of a lake exceed the integers of JavaScript."""

    document: dict[str, Any]
    track_ids: list[int] = field(default_factory=list)
    numbers: dict[int, int] = field(default_factory=dict)
    """The page's number of each track id."""
    has_stacks: bool = False
    """Whether stacks were sampled; their tracks come last and have negative ids."""


def read(trace: OpenTrace) -> Catalog:
    """Queries the whole catalog, which decodes sources. Errors of Trace.query()."""
    trace.keep([SHIFT])
    sources = dicts(trace.query(statement("page_sources")))
    tracks = sorted(dicts(trace.query(statement("page_tracks"))), key=_natural_order)
    ids = [row.pop("id") for row in tracks]
    threads = dicts(trace.query(statement("page_stack_tracks")))
    if threads:
        trace.keep([STACK_BARS])
    steps = dicts(trace.query(statement("page_steps")))
    placed = [row for row in sources if row["first_ps"] is not None]
    members = {
        "format": FORMAT,
        "given": list(trace.given),
        "runs": dicts(trace.query(statement("page_runs"))),
        "hosts": dicts(trace.query(statement("page_hosts"))),
        "sources": [page_row(row) for row in sources],
        "notes": [page_row(row) for row in dicts(trace.query(statement("page_notes")))],
        "skipped": [
            {"name": skipped.path, "slug": skipped.slug, "detail": skipped.detail}
            for skipped in trace.skipped
        ],
        "tracks": [_track(number, row) for number, row in enumerate(tracks)]
        + [_thread(number, row) for number, row in enumerate(threads, len(tracks))],
        "steps": [timed_row(row) for row in steps],
        "start_ps": min((row["first_ps"] for row in placed), default=0),
        "end_ps": max((row["last_ps"] for row in placed), default=0),
        "classes": list(CLASSES),
        "most_px": MOST_PX,
    }
    ids += [-1 - number for number in range(len(threads))]
    return Catalog(members, ids, {track: number for number, track in enumerate(ids)}, bool(threads))


def _track(number: int, row: dict[str, Any]) -> dict[str, Any]:
    del row["sort_index"]
    group = row["process"] or row["device"] or row["host_id"]
    return {"track": number, **page_row(row), "group": group}


def _natural_order(track: dict[str, Any]) -> tuple[Any, ...]:
    """Puts thread 2 before thread 10; an order in the recording comes first."""
    place = (track["run_id"], track["host_id"], track["source_id"])
    order = (track["sort_index"] is None, track["sort_index"] or 0)
    return (*place, _counted(track["process"]), *order, _counted(track["name"]), track["id"])


def _counted(name: str | None) -> tuple[bool, list[str | int]]:
    """A name split at its numbers; every other part is a number. None comes last."""
    parts = _NUMBER.split((name or "")[:_LONGEST])
    return name is None, [int(part) if at % 2 else part for at, part in enumerate(parts)]


def _thread(number: int, row: dict[str, Any]) -> dict[str, Any]:
    """A thread with sampled stacks as a track: its bars are functions, not slices."""
    return {
        "track": number,
        "run_id": row["run_id"],
        "host_id": row["host_id"],
        "source_id": str(row["source_id"]),
        "process": None,
        "name": row["thread"] or ("main thread" if row["is_main"] else "thread without a name"),
        "kind": "stacks",
        "records": "samples",
        "place": "none",
        "device": None,
        "device_kind": "cpu",
        "depths": row["depths"],
        "slices": row["samples"],
        "group": "Sampled stacks",
    }


def dicts(result: QueryResult) -> list[dict[str, Any]]:
    """Rows of a result as dictionaries."""
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


def page_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row for a page: ids as text, since they exceed the integers of JavaScript; values that JSON lacks as
    none."""
    return {name: _page_value(name, value) for name, value in row.items()}


def timed_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """The same with the start on the axis of time as ts_ps, which statements cannot call so beside the time
    of the source."""
    return {"ts_ps" if name == "begin_ps" else name: value for name, value in page_row(row).items()}


def _page_value(name: str, value: Any) -> Any:
    if isinstance(value, int) and (name == "id" or name.endswith("_id")):
        return str(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value
