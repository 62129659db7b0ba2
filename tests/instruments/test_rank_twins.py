"""What the library says of ranks once more, by brute force in Python, over small random jobs."""

from collections import defaultdict
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope import library
from tests.draw import Row, Tables
from tests.tiers import cases

LABELS = ("input", "communication", "compute")


@st.composite
def jobs(draw: st.DrawFn) -> Tables:
    """Up to three ranks with collectives, and steps with parts."""
    groups = st.sampled_from(["a", "b"])
    tables = Tables()
    ranks = draw(st.integers(1, 3))
    for rank in range(ranks):
        tables.source(rank)
        tables.rows["capture"][-1]["rank"] = rank
        for number in range(draw(st.integers(0, 4))):
            dur = draw(st.integers(1, 40))
            facts = {"name": "train", "kind": "train", "recovered_from": "marker", "dur_ps": dur}
            averaged = draw(st.booleans())
            step = tables.add("step_stored", source_id=rank, step=number, averaged=averaged, **facts)
            for label in LABELS:
                spans = {"dur_ps": draw(st.integers(0, dur // 3)), "hidden_ps": draw(st.integers(0, 3))}
                tables.add("step_part", source_id=rank, step_id=step["id"], label=label, **spans)
    kinds = st.sampled_from(["all_reduce", "all_to_all_v"])
    apart = draw(st.sampled_from([10, 2]))  # or several under way at once
    for match in range(draw(st.integers(0, 14))):
        kind = draw(kinds)
        mates = draw(st.sets(st.integers(0, ranks - 1), min_size=1))
        durs = {rank: draw(st.integers(0, 6)) for rank in mates}
        if draw(st.booleans()) and 0 in mates:
            durs[0] = 0  # one that is often last
        waits = len(mates) > 1 and kind == "all_reduce"
        for rank in mates:
            tables.add(
                "collective", source_id=rank, participant=f"rank-{rank}", rank=rank, kind=kind,
                group_name=draw(groups) if kind == "all_to_all_v" else None,
                matched_by="drawn", sequence=match, ts_ps=apart * match, dur_ps=durs[rank], seen=len(mates),
                step=match % 4, match_id=match if len(mates) > 1 else None,
                wait_ps=durs[rank] - min(durs.values()) if waits else None,
                transfer_ps=min(durs.values()) if waits else None,
                elements_out=draw(st.none() | st.integers(0, 9)),
            )  # fmt: skip
    return tables


def asked(connection: duckdb.DuckDBPyConnection, name: str) -> list[Row]:
    result = connection.execute(library.sql(name))
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def arrivals(rows: list[Row]) -> list[Row]:
    """Of each collective whose waits are known: who is last, and what that costs beyond the ones before."""
    found = []
    for match in sorted({row["match_id"] for row in rows if row["wait_ps"] is not None}):
        own = sorted(
            (r for r in rows if r["match_id"] == match), key=lambda r: (r["wait_ps"], r["participant"])
        )
        for place, row in enumerate(own):
            cost = own[1]["wait_ps"] if place == 0 else 0
            found.append({**row, "is_last": cost > 0, "caused_ps": cost})
    spared: dict[str, set[int]] = defaultdict(set)
    for row in sorted(found, key=lambda row: (row["ts_ps"] - row["caused_ps"], row["id"])):
        moments = set(range(row["ts_ps"] - row["caused_ps"], row["ts_ps"])) - spared[row["participant"]]
        spared[row["participant"]] |= moments
        row["caused_ps"] = len(moments)
    return found


def means(tables: Tables) -> dict[str, dict[str, Any]]:
    """Of each rank with averaged steps: their number, sums, and the mean of each label."""
    found: dict[str, dict[str, Any]] = {}
    for rank in {row["source_id"] for row in tables.rows["source"]}:
        steps = [row for row in tables.rows["step_stored"] if row["source_id"] == rank and row["averaged"]]
        ids = {row["id"] for row in steps}
        parts = [row for row in tables.rows["step_part"] if row["step_id"] in ids]
        if steps:
            sums = {label: sum(p["dur_ps"] for p in parts if p["label"] == label) for label in LABELS}
            found[f"rank-{rank}"] = {
                "steps": len(steps),
                "all": sum(row["dur_ps"] for row in steps),
                "sums": sums,
                "input": sums["input"] // len(steps),
            }
    return found


@pytest.mark.repeats("drawn jobs, beside those that were recorded")
@settings(max_examples=cases(15, 50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(jobs())
def test_twins_agree(tables: Tables):
    connection = tables.shared()
    collective = tables.rows["collective"]
    told = arrivals(collective)
    key = ("match_id", "participant", "wait_ps", "is_last", "caused_ps")
    found = sorted(tuple(row[name] for name in key) for row in asked(connection, "arrival"))
    assert found == sorted(tuple(row[name] for name in key) for row in told)

    own = means(tables)
    late = []
    for who, mine in own.items():
        others = [other["input"] for name, other in own.items() if name != who]
        if not others or mine["steps"] < 3:
            continue
        beside, step = sum(others) // len(others), mine["all"] // mine["steps"]
        more = mine["input"] - beside
        if more > 0 and more >= 0.05 * step and mine["input"] >= 1.5 * beside:
            late.append((who, more * mine["steps"], mine["input"], beside))
    rows = asked(connection, "late_input")
    names = ("participant", "impact_ps", "input_ps", "others_ps")
    assert sorted(tuple(row[name] for name in names) for row in rows) == sorted(late)

    unhidden = {
        who: mine["sums"]["communication"]
        for who, mine in own.items()
        if mine["sums"]["communication"] >= 0.1 * mine["all"] and mine["sums"]["communication"]
    }
    told_unhidden = {
        row["participant"]: row["impact_ps"] for row in asked(connection, "unhidden_collectives")
    }
    assert told_unhidden == unhidden

    _uneven(connection, collective)
    _stragglers(connection, collective, told)


def _uneven(connection: duckdb.DuckDBPyConnection, collective: list[Row]) -> None:
    expected = []
    for group in "ab":
        sizes: dict[str, list[int]] = {}
        for row in collective:
            if row["group_name"] == group and row["elements_out"] is not None:
                sizes.setdefault(row["participant"], []).append(row["elements_out"])
        got = {who: sum(own) // len(own) for who, own in sizes.items()}
        if len(got) > 1 and min(map(len, sizes.values())) >= 4 and max(got.values()):
            most = min(who for who in got if got[who] == max(got.values()))
            if got[most] * len(got) >= 1.25 * sum(got.values()):
                expected.append((group, most, got[most]))
    found = [
        (row["group_name"], row["participant"], row["elements"])
        for row in asked(connection, "uneven_experts")
    ]
    assert sorted(found) == expected


def _stragglers(connection: duckdb.DuckDBPyConnection, collective: list[Row], told: list[Row]) -> None:
    cost = {row["match_id"]: row["caused_ps"] for row in told if row["is_last"]}
    expected = {}
    for who in {row["participant"] for row in told}:
        mine = [row for row in told if row["participant"] == who]
        ends = [
            (row["ts_ps"], row["ts_ps"] + row["dur_ps"]) for row in collective if row["participant"] == who
        ]
        span = max(end for _, end in ends) - min(begin for begin, _ in ends)
        caused = sum(row["caused_ps"] for row in mine)
        chance = sum(cost.get(row["match_id"], 0) / row["seen"] for row in mine)
        variance = sum(
            cost.get(row["match_id"], 0) ** 2 * (row["seen"] - 1) / row["seen"] ** 2 for row in mine
        )
        waits = sum(row["wait_ps"] for row in mine)
        others = sum(
            sum(r["wait_ps"] for r in told if r["match_id"] == row["match_id"] and r is not row)
            // (row["seen"] - 1)
            for row in mine
        )
        matters = caused**2 >= 3 * sum(row["caused_ps"] ** 2 for row in mine)
        sure = caused - chance > 3 * variance**0.5
        if len(mine) >= 8 and caused and sure and matters and others - waits >= 0.005 * span:
            expected[who] = (caused, sum(row["is_last"] for row in mine), pytest.approx(caused / span))
    found = asked(connection, "straggler")
    assert {r["participant"]: (r["impact_ps"], r["times_last"], r["share"]) for r in found} == expected
