"""A rank's part in a collective, as a recording has it: one row of the table collective before it is
matched."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.ranks.kinds import END_TOGETHER, CollectiveFacts, facts_of
from stepscope.library.statements import Query, statement


class Rank(NamedTuple):
    """Which process a source is of, and when its clock began."""

    path: str
    rank: int | None
    origin_unix_ns: int | None


class CollectivePart(NamedTuple):
    """A rank's part in a collective. Times in ps, from the origin of its source."""

    run_id: str
    host_id: str
    source_id: int
    slice_id: int
    track_id: int
    device: str
    participant: str
    rank: int | None
    step: int | None
    whole_step: bool
    """The recording neither begins nor ends within the step."""
    facts: CollectiveFacts
    begin_ps: int
    end_ps: int
    negotiated: int | None = None
    """Number of Horovod's negotiation that it is of: its begin is when the rank said that it is ready."""

    @property
    def ends_together(self) -> bool:
        """Whether all ranks of such a collective end at the same time."""
        return self.facts.kind in END_TOGETHER or self.negotiated is not None


def read(query: Query) -> tuple[list[CollectivePart], dict[int, Rank]]:
    """All parts, in the order of their sources and of time, and the ranks of the sources."""
    rows = query(statement("collective_slices")).rows()
    if not rows:
        return [], {}
    ranks = {
        source_id: Rank(path, rank, origin)
        for source_id, path, clock, origin, rank in query(statement("source_clocks")).rows()
        if clock is not None
    }
    devices: dict[int, set[str]] = defaultdict(set)
    for row in rows:
        devices[row[3]].add(row[7])
        ranks.setdefault(row[3], Rank("", None, None))
    asked = any(row[5] == "horovod" for row in rows)
    negotiations = _negotiations(query(statement("negotiations")).rows()) if asked else {}
    return list(_parts(rows, ranks, devices, negotiations)), ranks


class _Negotiation(NamedTuple):
    begin_ps: int
    end_ps: int
    ready: dict[int, int]
    """When each rank said that it is ready."""


_Negotiations = dict[tuple[int, int], list[_Negotiation]]
"""Those of each row of a source, in the order of time."""


def _negotiations(rows: Sequence[tuple[Any, ...]]) -> _Negotiations:
    found: _Negotiations = defaultdict(list)
    for source_id, track_id, begin_ps, end_ps, name, ready_ps in rows:
        rounds = found[source_id, track_id]
        if not rounds or rounds[-1].begin_ps != begin_ps:
            rounds.append(_Negotiation(begin_ps, end_ps, {}))
        if name.isascii() and name.isdigit() and len(name) < 10:
            rounds[-1].ready.setdefault(int(name), ready_ps)
    return found


def _parts(
    rows: Sequence[tuple[Any, ...]],
    ranks: dict[int, Rank],
    devices: dict[int, set[str]],
    negotiations: _Negotiations,
) -> Iterator[CollectivePart]:
    for row in rows:
        slice_id, run_id, host_id, source_id, track_id, producer, place, device, process, step, cut, *rest = (
            row
        )
        name, op_name, op_type, ts_ps, dur_ps, args_json = rest
        rank = ranks[source_id].rank
        who = host_id if rank is None else f"rank-{rank}"
        if len(devices[source_id]) > 1 and place == "device":
            who = f"{who}/{device}"
        # Tensors of Horovod and ops of a program are called alike on all ranks; kernels may be of any group.
        group = {"horovod": process, "kineto": None}.get(producer, op_name)
        part = CollectivePart(
            run_id,
            host_id,
            source_id,
            slice_id,
            track_id,
            device,
            who,
            rank,
            step,
            not cut,
            facts_of((op_type, name, op_name), group, args_json),
            ts_ps,
            ts_ps + dur_ps,
        )
        ready_of = _ready(part, negotiations.get((source_id, track_id), ()))
        for number, ready_ps in ready_of.items():
            yield part._replace(
                participant=f"rank-{number}", rank=number, begin_ps=ready_ps, negotiated=slice_id
            )
        if not ready_of:
            yield part


def _ready(part: CollectivePart, negotiations: Sequence[_Negotiation]) -> dict[int, int]:
    """When each rank was ready for what Horovod then ran: by the last negotiation that ended before it. Empty
    where its timeline does not say so of two ranks."""
    at = bisect_right(negotiations, part.begin_ps, key=lambda negotiation: negotiation.end_ps)
    ready = negotiations[at - 1].ready if at else {}
    return ready if len(ready) > 1 else {}
