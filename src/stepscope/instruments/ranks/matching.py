"""Matches of the parts that ranks have in one collective.

* A recorded sequence number tells, together with the process group: they count the same on all ranks.
* Without numbers the order tells: the third collective of a group in step 12 is that on all ranks, as long as
  they are of the same kind, type and number of elements. What follows the first that differs is left
  unmatched, and where the numbers of elements are unknown, a step is matched only if all ranks have the same
  number in it.
  So is a step that a recording has only a part of, and what lies in no step.
* Horovod's coordinator says when each rank was ready: that is one collective by itself.

Nothing depends on the order of sources, nor on clocks.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.ranks.parts import CollectivePart

_BETWEEN_TWO = frozenset({"send", "recv", "send_recv"})
"""Messages between two ranks: numbers and order count other messages on other ranks. They are not matched."""


class MatchedPart(NamedTuple):
    """A part, by its place among the parts, with what tells which others are of the same collective."""

    number: int
    by: str
    sequence: int
    match: int | None
    """Equal for all of one collective, and different from those of others."""


def match(parts: Sequence[CollectivePart]) -> list[MatchedPart]:
    """What each part is matched by, in the order of the parts."""
    found: dict[int, MatchedPart] = {}
    groups: list[tuple[str, list[tuple[int, int]]]] = []  # by what, and the places and sequence numbers
    by_number, by_order, negotiated, alone = _split(parts)
    groups += [("none", [(number, place)]) for number, place in alone]
    groups += [("negotiation", [(number, 0) for number in numbers]) for numbers in negotiated.values()]
    for key, numbers in by_number.items():
        groups += [
            ("sequence", [(number, key[-1]) for number in members]) for members in _agreeing(parts, numbers)
        ]
    for numbers in by_order.values():
        groups += [("order", members) for members in _ordered(parts, numbers)]
    for by, members in groups:
        match_number = min(number for number, _ in members)
        known = by if len(members) > 1 else "none"
        for number, sequence in members:
            found[number] = MatchedPart(number, known, sequence, match_number if len(members) > 1 else None)
    return [found[number] for number in range(len(parts))]


_ByKey = dict[tuple[Any, ...], list[int]]


def _split(
    parts: Sequence[CollectivePart],
) -> tuple[_ByKey, _ByKey, dict[int, list[int]], list[tuple[int, int]]]:
    """Places of parts by what may tell of them: numbers, order, negotiations, or nothing; those with a
    number."""
    by_number: _ByKey = defaultdict(list)
    by_order: _ByKey = defaultdict(list)
    alone: list[tuple[int, int]] = []
    negotiated: dict[int, list[int]] = defaultdict(list)
    again: Counter[tuple[object, ...]] = Counter()
    for number, part in enumerate(parts):
        facts = part.facts
        if part.negotiated is not None:
            negotiated[part.negotiated].append(number)
        elif facts.kind in _BETWEEN_TWO:
            lane = (part.source_id, facts.group, facts.kind, part.step)
            alone.append((number, again[lane] if facts.sequence is None else facts.sequence))
            again[lane] += 1
        elif facts.sequence is not None:
            # Several kernels may have one number.
            number_key = (part.run_id, facts.group, facts.sequence, part.participant)
            by_number[part.run_id, facts.group, again[number_key], facts.sequence].append(number)
            again[number_key] += 1
        else:
            # Of unknown groups, each kind is counted for itself: groups run on streams of their own.
            apart = facts.kind if facts.group is None else None
            by_order[part.run_id, facts.group, apart, part.step].append(number)
    return by_number, by_order, negotiated, alone


def _signature(part: CollectivePart) -> tuple[object, ...]:
    """What is equal on all ranks. Parts of different sizes are not, nor is what a root gives or gets."""
    facts = part.facts
    sized = part.ends_together
    return facts.kind, facts.dtype, facts.elements_in if sized else None


def _agreeing(parts: Sequence[CollectivePart], numbers: Sequence[int]) -> Iterator[list[int]]:
    """Parts of one number that are alike: those that most are, and each other one for itself."""
    alike = Counter(_signature(parts[number]) for number in numbers)
    best, most = alike.most_common(1)[0]
    agreed = sum(1 for many in alike.values() if many == most) == 1
    agreeing = [number for number in numbers if agreed and _signature(parts[number]) == best]
    if agreeing:
        yield agreeing
    yield from ([number] for number in numbers if not agreed or _signature(parts[number]) != best)


def _ordered(parts: Sequence[CollectivePart], numbers: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Collectives of a group and step by their order, as places and sequence numbers."""
    ranks: dict[str, list[int]] = defaultdict(list)
    for number in numbers:  # in the order of time, for each source
        ranks[parts[number].participant].append(number)
    going = _countable(parts, numbers, ranks)
    for who, part_numbers in ranks.items():
        if who not in going:
            yield from ([(number, place)] for place, number in enumerate(part_numbers))
    yield from _rounds(parts, ranks, going)


def _countable(
    parts: Sequence[CollectivePart], numbers: Sequence[int], ranks: Mapping[str, list[int]]
) -> set[str]:
    """The ranks whose collectives are assigned by their order."""
    of_sources = {
        who: {parts[number].source_id for number in part_numbers} for who, part_numbers in ranks.items()
    }
    # Two recordings of a rank that have the same step are of different rounds, and cannot be assigned.
    going = {who for who, sources in of_sources.items() if len(sources) == 1}
    first = parts[numbers[0]]
    whole = first.step is not None and all(parts[number].whole_step for number in numbers)
    sizes = all(parts[number].facts.elements_in is not None for number in numbers)
    other_than_next = first.facts.kind == "permute" and first.facts.group is None
    uneven = len({len(ranks[who]) for who in going}) > 1
    return set() if other_than_next or (uneven and not (whole and sizes)) else going


def _rounds(
    parts: Sequence[CollectivePart], ranks: Mapping[str, list[int]], going: set[str]
) -> Iterator[list[tuple[int, int]]]:
    """The first collective of each rank, then the second, and so on. Ranks whose collective is another than
    that of most stop there: what they have left stands for itself."""
    place = 0
    while going:
        in_round = {who: ranks[who][place] for who in going if len(ranks[who]) > place}
        alike = Counter(_signature(parts[number]) for number in in_round.values())
        best, most = alike.most_common(1)[0] if alike else (None, 0)
        agreed = 2 * most > len(in_round)
        going = {who for who, number in in_round.items() if agreed and _signature(parts[number]) == best}
        if going:
            yield [(in_round[who], place) for who in sorted(going)]
        for who in in_round.keys() - going:
            yield from ([(number, place + at)] for at, number in enumerate(ranks[who][place:]))
        place += 1
