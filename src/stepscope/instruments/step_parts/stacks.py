"""Samples of the driving thread's stack, in the time of another source of the same host."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from stepscope.instruments.step_parts import labels
from stepscope.instruments.step_parts.driver import joined
from stepscope.instruments.step_parts.labels import Label, Meaning
from stepscope.instruments.step_parts.sweep import Interval, Segment
from stepscope.lake.schema import schema


class Answer(Protocol):
    """What a query gives."""

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows."""


Query = Callable[[str], Answer]


class Look(NamedTuple):
    """A sample, and what its stack stands for."""

    from_ps: int
    to_ps: int
    stack_id: int
    label: Label | None


def of_host(query: Query, source_id: int, run_id: str, host_id: str, window: Interval) -> list[Look]:
    """The samples of a host's driving thread within a window, in the time of the source and in order; none
    overlaps the next. Nothing where clocks cannot be compared."""
    if "stack_sample" not in schema().names:
        return []
    found: list[Look] = []
    for other, shift in shifts(query, source_id, run_id, host_id):
        begin, end = window[0] - shift, window[1] - shift
        samples = query(
            f"SELECT ts_ps, weight_ps, cpu_ps, stack_id FROM stack_sample WHERE source_id = {other} AND "
            f"is_main "
            f"AND weight_ps > 0 AND ts_ps < {end} AND ts_ps + weight_ps > {begin}"
        ).rows()
        if not samples:
            continue
        meanings = _meanings(query, other)
        for ts_ps, weight_ps, cpu_ps, stack_id in samples:
            ran = None if cpu_ps is None else cpu_ps / weight_ps
            at = ts_ps + shift
            for label, share in labels.shares(meanings.get(stack_id, labels.NOTHING).label, ran):
                until = ts_ps + shift + weight_ps if share == 1.0 else at + round(share * weight_ps)
                found.append(Look(at, until, stack_id, label))
                at = until
    return disjoint(found)


def disjoint(looks: Sequence[Look]) -> list[Look]:
    """Samples in order, each up to the next at most."""
    ordered = sorted(looks, key=lambda one: (one.from_ps, one.to_ps, one.label or "", one.stack_id))
    kept = []
    for number, one in enumerate(ordered):
        end = one.to_ps if number + 1 == len(ordered) else min(one.to_ps, ordered[number + 1].from_ps)
        if end > one.from_ps:
            kept.append(one._replace(to_ps=end))
    return kept


def segments(looks: Sequence[Look]) -> list[Segment]:
    """What samples say of the driving thread; where they say nothing there is no stretch."""
    return joined(Segment(one.from_ps, one.to_ps, one.label) for one in looks if one.label is not None)


def shifts(query: Query, source_id: int, run_id: str, host_id: str) -> list[tuple[int, int]]:
    """The sources of a host that have samples, and what to add to their times for those of a source."""
    rows = query(
        "SELECT c.source_id, c.run_id, c.host_id, c.origin_unix_ns FROM capture AS c WHERE c.source_id = "
        f"{source_id} OR c.source_id IN (SELECT DISTINCT s.source_id FROM stack_sample AS s) ORDER BY "
        f"c.source_id"
    ).rows()
    origins = {row[0]: row[3] for row in rows}
    own = origins.get(source_id)
    found = []
    for other, run, host, origin in rows:
        if other == source_id:
            found.append((other, 0))
        elif (run, host) == (run_id, host_id) and own is not None and origin is not None:
            found.append((other, (origin - own) * 1000))
    return found


def _meanings(query: Query, source_id: int) -> dict[int, Meaning]:
    """What the stacks of a source stand for. A stack has a greater id than the one it continues."""
    found: dict[int, Meaning] = {}
    for stack_id, parent_id, file, function, code in query(
        "SELECT s.id, s.parent_id, f.file, f.function, f.code FROM stack AS s INNER JOIN frame AS f ON "
        "f.id = s.frame_id "
        f"WHERE s.source_id = {source_id} ORDER BY s.id"
    ).rows():
        around = labels.NOTHING if parent_id is None else found.get(parent_id, labels.NOTHING)
        found[stack_id] = labels.within(around, labels.of_frame(file or "", function, code))
    return found
