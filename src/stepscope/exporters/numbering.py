"""Ids of several sources in one sequence. Within a source, ids count up by one; every source begins anew."""

from collections.abc import Iterable, Mapping, Sequence


def follow_on(ranges: Iterable[Sequence[int]], begin: int = 1) -> tuple[dict[int, int], int]:
    """What to add to the ids of each source so that they follow one another from `begin`, and the number
    after the last. ranges: sources with their first and last id."""
    shifts = {}
    for source_id, first, last in ranges:
        shifts[source_id] = begin - first
        begin += last - first + 1
    return shifts, begin


def shift_sql(shifts: Mapping[int, int], source_id: str) -> str:
    """SQL of the number to add to an id. source_id: SQL of the source it belongs to."""
    if len(shifts) < 2:
        return str(next(iter(shifts.values()), 0))
    return f"{list(shifts.values())}[list_position({list(shifts)}, {source_id})]"
