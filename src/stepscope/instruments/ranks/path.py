"""The critical path over ranks.

A collective cannot go on before its last rank arrives, so what that rank did before it is what all waited
for. From the last collective back: to the rank that arrived last, along that rank to the collective that it
left before, and there again to the rank that arrived last. Each step of this looks at one rank's own clock
only.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

_MOST = 2**63 - 1


class Arrival(NamedTuple):
    """A rank's part in a collective whose ranks end together, by the clock of its source, in ps."""

    number: int
    run_id: str
    participant: str
    source_id: int
    match: int
    begin_ps: int
    end_ps: int


def path(arrivals: Sequence[Arrival]) -> dict[int, int]:
    """By the number of each part on the path: how long its rank had been on its way since the collective
    before it, or 0 for the first of all. The parts are those that arrived last."""
    runs: dict[str, list[Arrival]] = defaultdict(list)
    for arrival in arrivals:
        runs[arrival.run_id].append(arrival)
    found: dict[int, int] = {}
    for rows_of_run in runs.values():
        found |= _segments_of_run(rows_of_run)
    return found


def _segments_of_run(arrivals: Sequence[Arrival]) -> dict[int, int]:
    last: dict[int, Arrival] = {}
    lanes: dict[tuple[str, int], list[Arrival]] = defaultdict(list)
    for arrival in arrivals:
        lanes[arrival.participant, arrival.source_id].append(arrival)
        before = last.get(arrival.match)
        if before is None or _shortness(arrival) < _shortness(before):
            last[arrival.match] = arrival
    for lane in lanes.values():
        lane.sort(key=lambda arrival: (arrival.end_ps, arrival.begin_ps, arrival.number))
    ends = {key: [arrival.end_ps for arrival in lane] for key, lane in lanes.items()}
    longest = min(lanes, key=lambda key: (-len(lanes[key]), key[0], lanes[key][0].begin_ps))
    at: Arrival | None = last[lanes[longest][-1].match]
    found: dict[int, int] = {}
    gone: set[int] = set()
    left = {key: len(lane) for key, lane in lanes.items()}  # the way leads back on each lane
    while at is not None:
        gone.add(at.match)
        key = at.participant, at.source_id
        lane = lanes[key]
        number = min(bisect_right(ends[key], at.begin_ps), left[key]) - 1
        while number >= 0 and lane[number].match in gone:
            number -= 1
        left[key] = max(number, 0)
        before = lane[number] if number >= 0 else None
        found[at.number] = 0 if before is None else min(at.begin_ps - before.end_ps, _MOST)
        at = None if before is None else last[before.match]
    return found


def _shortness(arrival: Arrival) -> tuple[int, str]:
    return arrival.end_ps - arrival.begin_ps, arrival.participant
