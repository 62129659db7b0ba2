"""Rows of the tables collective and clock_offset, from the tables of a trace."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.ranks import parts as of_trace
from stepscope.instruments.ranks.clocks import Aligned, End, align
from stepscope.instruments.ranks.matching import MatchedPart, match
from stepscope.instruments.ranks.parts import CollectivePart, Rank
from stepscope.instruments.ranks.path import Arrival, path
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import Query

Row = dict[str, Any]
_MOST = 2**63 - 1


class RankRows(NamedTuple):
    """Rows of both tables."""

    collective: list[Row]
    clock_offset: list[Row]


def rows(query: Query) -> RankRows:
    """Rows of both tables, by source and time."""
    found, ranks = of_trace.read(query)
    return rows_of(found, ranks) if found else RankRows([], [])


def rows_of(parts: Sequence[CollectivePart], ranks: Mapping[int, Rank]) -> RankRows:
    """The same from what was read."""
    matched = match(parts)
    clocks = _clocks(parts, matched, ranks, sure=True)
    if wrong := _impossible(parts, matched, clocks):
        matched = [
            matched_part._replace(by="none", match=None) if matched_part.match in wrong else matched_part
            for matched_part in matched
        ]
        clocks = _clocks(parts, matched, ranks)
    together = _together(matched)
    waits = _transfers(parts, together)
    late = {at: ps for members in together.values() for at, ps in _late(parts, members, clocks).items()}
    arrivals = [
        Arrival(
            at,
            parts[at].run_id,
            parts[at].participant,
            parts[at].source_id,
            matched[at].match or 0,
            parts[at].begin_ps,
            parts[at].end_ps,
        )
        for at in sorted(waits)
    ]
    on_path = path(arrivals)
    rows = [
        _row(part, matched[at], together, clocks.get(part.run_id), waits.get(at))
        | {"late_ps": late.get(at), "path_ps": on_path.get(at)}
        for at, part in enumerate(parts)
    ]
    _number(rows)
    names = [row["id"] for row in rows]
    for row in rows:
        row["match_id"] = None if row["match_id"] is None else names[row["match_id"]]
    return RankRows(rows, _clock_rows(parts, clocks))


def _transfers(parts: Sequence[CollectivePart], together: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """The shortest part of each collective whose ranks end together, by each of its parts: no rank waits in
    it."""
    return {
        at: min(parts[at].end_ps - parts[at].begin_ps for at in members)
        for members in together.values()
        if all(parts[at].ends_together for at in members)
        for at in members
    }


def _row(
    part: CollectivePart,
    matched: MatchedPart,
    together: Mapping[int, Sequence[int]],
    clock: Aligned | None,
    transfer_ps: int | None,
) -> Row:
    """The part of a collective that a rank has. together: parts by the collective."""
    facts, mate = part.facts, matched.match
    return {
        "id": 0,
        "run_id": part.run_id,
        "host_id": part.host_id,
        "source_id": part.source_id,
        "slice_id": part.slice_id,
        "track_id": part.track_id,
        "device": part.device,
        "participant": part.participant,
        "rank": part.rank,
        "step": part.step,
        "kind": facts.kind,
        "group_name": facts.group,
        "group_size": facts.group_size,
        "sequence": matched.sequence,
        "dtype": facts.dtype,
        "elements_in": facts.elements_in,
        "elements_out": facts.elements_out,
        "ts_ps": part.begin_ps,
        "dur_ps": part.end_ps - part.begin_ps,
        "matched_by": matched.by,
        "match_id": mate,
        "seen": 1 if mate is None else len(together[mate]),
        "wait_ps": None if transfer_ps is None else part.end_ps - part.begin_ps - transfer_ps,
        "transfer_ps": transfer_ps,
        "axis_ts_ps": None if clock is None else clock.clocks[part.source_id].on_axis(part.begin_ps),
    }


def _together(matched: Sequence[MatchedPart]) -> dict[int, list[int]]:
    """Places of the parts of each collective, by its number."""
    found: dict[int, list[int]] = defaultdict(list)
    for part in matched:
        if part.match is not None:
            found[part.match].append(part.number)
    return found


def _impossible(
    parts: Sequence[CollectivePart], matched: Sequence[MatchedPart], clocks: Mapping[str, Aligned]
) -> set[int]:
    """Collectives, matched by order, that a rank left before another arrived, by more than the error of the
    clocks: without the names of groups, two groups can look like one."""
    found = set()
    for mate, members in _together(matched).items():
        if matched[mate].by != "order" or not all(parts[at].ends_together for at in members):
            continue
        begins, ends, errors = [], [], [0]
        for at in members:
            part = parts[at]
            clock = clocks[part.run_id].clocks[part.source_id]
            begin, end = clock.on_axis(part.begin_ps), clock.on_axis(part.end_ps)
            if clock.residual_ps is not None and begin is not None and end is not None:
                begins.append(begin)
                ends.append(end)
                errors.append(clock.residual_ps)
        if len(begins) > 1 and max(begins) - min(ends) > 2 * max(errors):
            found.add(mate)
    return found


def _number(rows: Sequence[Row]) -> None:
    """Ids within each source; rows are in the order of their sources."""
    count: dict[int, int] = defaultdict(int)
    for row in rows:
        row["id"] = first_id(row["source_id"]) + count[row["source_id"]]
        count[row["source_id"]] += 1


def _clocks(
    parts: Sequence[CollectivePart],
    matched: Sequence[MatchedPart],
    ranks: Mapping[int, Rank],
    *,
    sure: bool = False,
) -> dict[str, Aligned]:
    """The clocks of each run. sure: only by ends of collectives whose groups are known; where there are none,
    by those of one kind and size, of which it is the one whose ends agree best: two groups may look like
    one."""
    sources: dict[str, dict[int, None]] = defaultdict(dict)
    ends: dict[str, dict[object, list[End]]] = defaultdict(lambda: defaultdict(list))
    for part, matched_part in zip(parts, matched, strict=True):
        sources[part.run_id][part.source_id] = None
        if matched_part.match is not None and part.ends_together and part.negotiated is None:
            unnamed = matched_part.by == "order" and part.facts.group is None
            alike = (part.facts.kind, part.facts.elements_in) if unnamed else None
            ends[part.run_id][alike].append(End(matched_part.match, part.source_id, part.end_ps))
    found = {}
    for run, run_sources in sources.items():
        kinds = ends[run]
        if sure and None in kinds:
            kinds = {None: kinds[None]}
        if sure and len(kinds) > 1:
            found[run] = min(
                (align(some, ranks, list(run_sources)) for some in sorted(kinds.values(), key=len)[-_TRIED:]),
                key=_disagreement,
            )
        else:
            every = [end for some in kinds.values() for end in some]
            found[run] = align(every, ranks, list(run_sources))
    return found


_TRIED = 8
"""Kinds and sizes of collectives that clocks are aligned by, to see which agrees best."""


def _disagreement(aligned: Aligned) -> tuple[int, int]:
    """How many clocks are not aligned, and the largest residual of those that are."""
    errors = [clock.residual_ps for clock in aligned.clocks.values()]
    known = [error for error in errors if error is not None]
    return len(errors) - len(known), max(known)


def _late(
    parts: Sequence[CollectivePart], members: Sequence[int], clocks: Mapping[str, Aligned]
) -> dict[int, int]:
    """How long after the first of them each part of a collective arrives; empty where clocks do not tell."""
    begins: dict[int, int] = {}
    for at in members:
        part = parts[at]
        clock = clocks[part.run_id].clocks[part.source_id]
        known = clock.on_axis(part.begin_ps) if clock.residual_ps is not None else None
        if known is None:
            return {}
        begins[at] = known
    first = min(begins.values())
    return {at: begin - first for at, begin in begins.items() if begin - first <= _MOST}


def _clock_rows(parts: Sequence[CollectivePart], clocks: Mapping[str, Aligned]) -> list[Row]:
    hosts = {part.source_id: (part.run_id, part.host_id) for part in parts}
    rows = []
    for aligned in clocks.values():
        if len(aligned.clocks) < 2:
            continue
        for source_id, clock in sorted(aligned.clocks.items()):
            run_id, host_id = hosts[source_id]
            rows.append(
                {
                    "id": first_id(source_id),
                    "run_id": run_id,
                    "host_id": host_id,
                    "source_id": source_id,
                    "axis_source_id": aligned.axis,
                    "aligned_by": clock.aligned_by,
                    "anchor_ps": clock.anchor_ps,
                    "offset_ps": clock.offset_ps,
                    "drift_ppm": None if clock.offset_ps is None else clock.drift * 1e6,
                    "residual_ps": clock.residual_ps,
                    "most_residual_ps": clock.most_residual_ps,
                    "pairs": clock.pairs,
                }
            )
    return rows
