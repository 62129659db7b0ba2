"""Several ranks, against made-up truth and twins that compare everything with everything."""

import dataclasses
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope.instruments.ranks.clocks import ENOUGH, End, align
from stepscope.instruments.ranks.kinds import END_TOGETHER, CollectiveFacts
from stepscope.instruments.ranks.matching import match
from stepscope.instruments.ranks.parts import CollectivePart, Rank
from stepscope.instruments.ranks.path import Arrival, path
from stepscope.instruments.ranks.table import RankRows, rows_of
from tests.draw import Row
from tests.instruments.jobs import MS, US, Job, job
from tests.tiers import cases

QUICK = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


# Clocks.


@pytest.mark.repeats("drawn jobs, beside those that were recorded")
@QUICK
@given(st.integers(0, 10**6))
def test_starts_are_right_to_two_microseconds(seed: int):
    """8 ranks, 160 collectives, clocks half a second apart that drift by 20 ppm."""
    made = job(seed)
    assert _worst(made) < 2 * US


@pytest.mark.parametrize("drift_ppm", [0.0, 100.0])
def test_other_drifts(drift_ppm: float):
    assert max(_worst(job(seed, drift_ppm=drift_ppm)) for seed in range(5)) < 2 * US


def _worst(made: Job) -> int:
    found = rows_of(made.parts, made.ranks)
    axis = found.clock_offset[0]["axis_source_id"]
    for row in found.clock_offset:
        assert row["aligned_by"] == ("axis" if row["source_id"] == axis else "ends")
        assert row["residual_ps"] <= row["most_residual_ps"]
    return max(
        abs(row["axis_ts_ps"] - made.local(axis, made.begins[row["slice_id"]])) for row in found.collective
    )


def test_ends_that_are_late_for_a_reason_of_their_own():
    """A fifth of the ends of a rank are up to 3 ms late: the line does not care."""
    made, draw = job(3), random.Random(3)
    parts = [
        part._replace(end_ps=part.end_ps + draw.randrange(3 * MS))
        if part.source_id == 5 and draw.random() < 0.2
        else part
        for part in made.parts
    ]
    assert _worst(dataclasses.replace(made, parts=parts)) < 3 * US


def test_clocks_through_others():
    """Ranks 0 and 3 share no collective; 1 and 2 share some with both."""
    made = job(1, ranks=4)
    parts = [
        part
        for part in made.parts
        if part.source_id in ((0, 1), (1, 2), (2, 3))[part.facts.sequence % 3]  # type: ignore[operator]
    ]
    found = rows_of(parts, made.ranks)
    clocks = {row["source_id"]: row for row in found.clock_offset}
    assert {row["aligned_by"] for row in clocks.values()} == {"axis", "ends"}
    axis = found.clock_offset[0]["axis_source_id"]
    for row in found.collective:
        error = abs(row["axis_ts_ps"] - made.local(axis, made.begins[row["slice_id"]]))
        assert error < 4 * US
    assert axis in (1, 2)  # they share the most
    far = clocks[3 if axis == 1 else 0]
    assert far["residual_ps"] > clocks[2 if axis == 1 else 1]["residual_ps"]


def test_few_ends():
    ranks = {0: Rank("a", 0, None), 1: Rank("b", 1, None)}
    one = align([End(0, 0, 100), End(0, 1, 40)], ranks, [0, 1])
    assert one.axis == 0
    assert (one.clocks[1].offset_ps, one.clocks[1].residual_ps, one.clocks[1].pairs) == (60, None, 1)
    ends = [End(at, source, at * 1000 + source * 7 * (at + 1)) for at in range(3) for source in (0, 1)]
    few = align(ends, ranks, [0, 1]).clocks[1]
    assert (few.offset_ps, few.drift, few.residual_ps) == (-14, 0.0, 7)  # of 7, 14 and 21: the middle one
    assert ENOUGH > 3
    assert align([], ranks, [0, 1]).clocks[1].aligned_by == "unknown"
    dated = {0: Rank("a", 0, 1_000), 1: Rank("b", 1, 3_000)}
    by_day = align([], dated, [0, 1]).clocks[1]
    assert (by_day.aligned_by, by_day.offset_ps, by_day.residual_ps) == ("time_of_day", 2_000_000, None)


@QUICK
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(-(2**63), 2**63 - 1)), max_size=40)
)
def test_any_ends_give_clocks(ends: list[tuple[int, int, int]]):
    ranks = {source: Rank(str(source), source, None) for source in range(4)}
    for clock in align([End(*end) for end in ends], ranks, list(range(4))).clocks.values():
        for value in (clock.offset_ps, clock.residual_ps, clock.most_residual_ps, clock.on_axis(2**63 - 1)):
            assert value is None or -(2**63) <= value < 2**63


# Matching.

_parts = st.lists(
    st.tuples(
        st.integers(0, 2),  # source
        st.sampled_from(["all_reduce", "all_gather", "broadcast", "send"]),
        st.sampled_from(["a", None]),  # group
        st.none() | st.integers(0, 2),  # sequence
        st.none() | st.integers(1, 2),  # elements
        st.none() | st.integers(0, 1),  # step
        st.integers(0, 50),
        st.integers(0, 9),
    ),
    max_size=24,
)


def _drawn(drawn: list[tuple[Any, ...]]) -> tuple[list[CollectivePart], dict[int, Rank]]:
    parts = [
        CollectivePart(
            "run", f"h{source}", source, number, source, "GPU", f"rank-{source}", source, step, True,
            CollectiveFacts(kind, group, None, sequence, None, elements, elements),
            begin * US, (begin + dur) * US,
        )
        for number, (source, kind, group, sequence, elements, step, begin, dur) in enumerate(drawn)
    ]  # fmt: skip
    parts.sort(key=lambda part: (part.source_id, part.begin_ps, -part.end_ps, part.slice_id))
    return parts, {source: Rank(f"{source}.json", source, None) for source in range(3)}


def _matches_plainly(parts: list[CollectivePart]) -> set[frozenset[int]]:
    """The rules of the documentation, one collective after the other, as sets of slices."""
    found: set[frozenset[int]] = set()
    lists: dict[tuple[Any, ...], dict[int, list[CollectivePart]]] = {}
    for part in parts:
        told = part.facts
        if told.kind == "send":
            continue
        key: tuple[Any, ...]
        if told.sequence is not None:
            key = ("number", told.group, told.sequence)
        else:
            key = ("order", told.group, told.kind if told.group is None else "", part.step)
        lists.setdefault(key, {}).setdefault(part.source_id, []).append(part)

    def like(part: CollectivePart) -> tuple[Any, ...]:
        told = part.facts
        return told.kind, told.elements_in if told.kind in END_TOGETHER else None

    for key, ranks in lists.items():
        lengths = {len(own) for own in ranks.values()}
        every = [part for own in ranks.values() for part in own]
        sized = all(part.facts.elements_in is not None for part in every)
        if key[0] == "order" and len(lengths) > 1 and not (sized and key[-1] is not None):
            continue
        going = set(ranks)
        for place in range(max(lengths)):
            there = {who: ranks[who][place] for who in going if len(ranks[who]) > place}
            kinds = [like(part) for part in there.values()]
            for one in set(kinds):
                own = {who for who, part in there.items() if like(part) == one}
                most = max(map(kinds.count, kinds))
                if key[0] == "number":
                    alone = sum(kinds.count(other) == most for other in set(kinds)) == 1
                    chosen = kinds.count(one) == most and alone
                else:
                    chosen = 2 * len(own) > len(there)
                if chosen and len(own) > 1:
                    found.add(frozenset(there[who].slice_id for who in own))
                if not chosen and key[0] == "order":
                    going -= own
    return found


@settings(max_examples=cases(40, 150), deadline=None)
@given(_parts)
def test_matching_as_plainly(drawn: list[tuple[Any, ...]]):
    parts, _ = _drawn(drawn)
    found: dict[int, set[int]] = {}
    for one in match(parts):
        assert (one.match is None) == (one.by == "none")
        if one.match is not None:
            found.setdefault(one.match, set()).add(parts[one.number].slice_id)
    assert {frozenset(own) for own in found.values()} == _matches_plainly(parts)


def test_order_stops_at_the_first_mismatch():
    sizes = {0: [5, 6, 7, 8], 1: [5, 6, 9, 8], 2: [5, 6, 7, 8]}
    drawn = [
        (rank, "all_reduce", None, None, size, 0, 10 * at, 5)
        for rank, own in sizes.items()
        for at, size in enumerate(own)
    ]
    parts, _ = _drawn(drawn)
    by = {(parts[one.number].source_id, one.sequence): one.by for one in match(parts)}
    assert [by[1, at] for at in range(4)] == ["order", "order", "none", "none"]
    assert {by[rank, at] for rank in (0, 2) for at in range(4)} == {"order"}
    two, _ = _drawn([one for one in drawn if one[0] < 2])
    assert [one.by for one in match(two)] == ["order", "order", "none", "none"] * 2
    # A step that one recording begins in, and one without sizes: nothing tells which is missing.
    short, _ = _drawn(drawn[1:])
    cut = [part._replace(whole_step=part.source_id > 0) for part in short]
    assert {one.by for one in match(cut)} == {"none"}
    unsized = [part._replace(facts=part.facts._replace(elements_in=None)) for part in short]
    assert {one.by for one in match(unsized)} == {"none"}


def test_two_groups_without_names_are_not_one():
    """Pairs (0, 1) and (2, 3) reduce alike, at different times; all four reduce twice as much together."""
    drawn = []
    for at in range(20):
        for rank in range(4):
            drawn.append((rank, "all_gather", None, None, 8, at, 1000 * at, 100))
            drawn.append((rank, "all_reduce", None, None, 4, at, 1000 * at + 300 + 200 * (rank // 2), 90))
    parts, _ = _drawn(drawn)
    ranks = {source: Rank(f"{source}.json", source, None) for source in range(4)}
    found = rows_of(parts, ranks).collective
    assert {row["matched_by"] for row in found if row["kind"] == "all_gather"} == {"order"}
    assert {row["matched_by"] for row in found if row["kind"] == "all_reduce"} == {"none"}
    assert {row["wait_ps"] for row in found} == {0, None}


# Waits, arrivals, the critical path.


@QUICK
@given(_parts, st.randoms(use_true_random=False))
def test_waits_and_order_of_sources(drawn: list[tuple[Any, ...]], shuffle: random.Random):
    parts, ranks = _drawn(drawn)
    found = rows_of(parts, ranks)
    rows = found.collective
    assert [row["slice_id"] for row in rows] == [part.slice_id for part in parts]
    for row in rows:
        mates = [
            other for other in rows if row["match_id"] is not None and other["match_id"] == row["match_id"]
        ]
        assert row["seen"] == max(len(mates), 1)
        if mates and row["kind"] in END_TOGETHER:
            assert row["transfer_ps"] == min(other["dur_ps"] for other in mates)
            assert row["wait_ps"] + row["transfer_ps"] == row["dur_ps"]
        else:
            assert row["wait_ps"] is row["transfer_ps"] is row["path_ps"] is None
        assert row["path_ps"] is None or row["wait_ps"] == 0
    order = list(range(3))
    shuffle.shuffle(order)
    again = [part._replace(source_id=order[part.source_id]) for part in parts]
    again.sort(key=lambda part: (part.source_id, part.begin_ps, -part.end_ps, part.slice_id))
    moved = {order[source]: rank for source, rank in ranks.items()}
    assert _named(rows_of(again, moved)) == _named(found)


def _named(found: RankRows) -> list[list[Row]]:
    """The rows without the numbers of sources, and what these are part of."""
    slices = {row["id"]: row["slice_id"] for row in found.collective}
    mates: dict[int, int] = {}
    for row in found.collective:
        if row["match_id"] is not None:
            mates[row["match_id"]] = min(mates.get(row["match_id"], 2**62), slices[row["id"]])
    hosts = {row["source_id"]: row["host_id"] for row in found.clock_offset}
    left_out = {"id": 0, "source_id": 0, "track_id": 0}
    rows = [row | left_out | {"match_id": mates.get(row["match_id"])} for row in found.collective]
    clocks = [row | left_out | {"axis_source_id": hosts[row["axis_source_id"]]} for row in found.clock_offset]
    return [sorted(rows, key=lambda row: row["slice_id"]), sorted(clocks, key=lambda row: row["host_id"])]


def test_the_critical_path_is_the_time_between_the_first_and_last_collective():
    for seed in range(4):
        made = job(seed, drift_ppm=0.0, jitter_us=0.0)
        rows = [row for row in rows_of(made.parts, made.ranks).collective if row["path_ps"] is not None]
        last = max(part.end_ps - made.clocks[part.source_id][1] for part in made.parts)
        first = min(part.end_ps - made.clocks[part.source_id][1] for part in made.parts)
        transfers = sum(row["transfer_ps"] for row in rows)
        begin = min(row["transfer_ps"] for row in rows if row["path_ps"] == 0)
        assert sum(row["path_ps"] for row in rows) + transfers - begin == last - first
        assert len(rows) == 160


@QUICK
@given(_parts)
def test_the_path_as_plainly(drawn: list[tuple[Any, ...]]):
    parts, ranks = _drawn(drawn)
    rows = [row for row in rows_of(parts, ranks).collective if row["wait_ps"] is not None]
    mates: dict[int, list[Row]] = {}
    lanes: dict[str, list[Row]] = {}
    for row in rows:
        mates.setdefault(row["match_id"], []).append(row)
        lanes.setdefault(row["participant"], []).append(row)
    expected: dict[int, int] = {}
    if rows:
        longest = min(lanes, key=lambda who: (-len(lanes[who]), who))
        at: Row | None = max(
            lanes[longest], key=lambda row: (row["ts_ps"] + row["dur_ps"], row["ts_ps"], row["id"])
        )
        used: dict[str, float] = {}
        gone = set()
        while at is not None:
            own = mates[at["match_id"]]
            last = min(own, key=lambda row: (row["dur_ps"], row["participant"]))
            gone.add(at["match_id"])
            lane = sorted(
                lanes[last["participant"]],
                key=lambda row: (row["ts_ps"] + row["dur_ps"], row["ts_ps"], row["id"]),
            )
            before = [
                (place, row)
                for place, row in enumerate(lane)
                if row["ts_ps"] + row["dur_ps"] <= last["ts_ps"]
                and row["match_id"] not in gone
                and place < used.get(last["participant"], len(lane))
            ]
            at = before[-1][1] if before else None
            used[last["participant"]] = before[-1][0] if before else 0
            expected[last["id"]] = last["ts_ps"] - at["ts_ps"] - at["dur_ps"] if at is not None else 0
    assert {row["id"]: row["path_ps"] for row in rows if row["path_ps"] is not None} == expected


def test_a_path_of_a_million_meetings_at_one_moment_ends():
    arrivals = [Arrival(at, "r", f"rank-{at % 2}", at % 2, at // 2, 0, 0) for at in range(40_000)]
    assert len(path(arrivals)) <= 20_000
