"""What the timeline shows is what SQL says: no slice is lost, none is shown twice."""

import bisect
import random
from collections import defaultdict
from typing import Any

import pytest

from stepscope.library.statements import statement
from stepscope.session import trace
from tests.server.asking import RECORDINGS, Served, cells

Slices = dict[int, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def slices(served: Served) -> Slices:
    """All slices by the page's number of their track, on its axis, made without the view that does it."""
    with trace.open(*RECORDINGS) as opened:
        shifts = {row[0]: row[2] for row in opened.query("SELECT * FROM _source_shift").rows()}
        rows = opened.query(
            "SELECT id, track_id, source_id, ts_ps, dur_ps, depth, name FROM slice ORDER BY track_id, ts_ps"
        )
        order = [row[0] for row in opened.query(statement("page_tracks")).rows()]
        found: Slices = defaultdict(list)
        for id_, track, source, ts_ps, dur_ps, depth, name in rows.rows():
            begin = ts_ps + shifts[source]
            found[order.index(track)].append(
                {"id": id_, "begin": begin, "end": begin + dur_ps, "depth": depth, "name": name}
            )
    return found


def meets(one: dict[str, Any], first: int, until: int) -> bool:
    """Whether a slice is in a window."""
    return first <= one["begin"] < until or (one["begin"] < first < one["end"])


def test_the_catalog_is_what_the_tables_have(served: Served, slices: Slices) -> None:
    told = served.get("/api/catalog").json
    assert told["format"] == 1
    assert len(told["sources"]) == 7
    assert [one["track"] for one in told["tracks"]] == list(range(len(told["tracks"])))
    for one in told["tracks"]:
        own = slices.get(one["track"], [])
        assert one["slices"] == len(own)
        assert one["depths"] == max((each["depth"] + 1 for each in own), default=0)
    every = [each for own in slices.values() for each in own]
    assert told["start_ps"] <= min(one["begin"] for one in every)
    assert told["end_ps"] >= max(one["end"] for one in every)
    assert {one["run_id"] for one in told["tracks"]} <= {one["run_id"] for one in told["runs"]}
    assert sum(one["events_seen"] for one in told["sources"]) >= len(every)
    assert told["steps"]
    assert all(isinstance(one["id"], str) for one in told["steps"])


def test_cells_of_random_windows_hold_each_slice_once(served: Served, slices: Slices) -> None:
    told = served.get("/api/catalog").json
    names = served.get("/api/names").json["names"]
    chance = random.Random(7)
    edges = sorted({edge for own in slices.values() for one in own for edge in (one["begin"], one["end"])})
    tracks = [one["track"] for one in told["tracks"]]
    seen = 0
    for _ in range(250):
        first = chance.choice(edges) + chance.choice((-1, 0, 1, 10**6))
        until = chance.choice(edges[bisect.bisect(edges, first) :] or [first]) + 1
        px = chance.choice((1, 2, 37, 800, 1600, 3840))
        asked = chance.sample(tracks, chance.randint(1, min(12, len(tracks))))
        listed = ",".join(map(str, asked))
        header, rows = cells(served.get(f"/api/timeline?from={first}&to={until}&px={px}&tracks={listed}"))
        wanted = {
            track: [one for one in slices.get(track, ()) if meets(one, first, until)] for track in asked
        }
        count = sum(map(len, wanted.values()))
        seen += count
        assert header["events"] == sum(row["count"] for row in rows) == count
        for number, track in enumerate(asked):
            own = [row for row in rows if row["track"] == number]
            assert sum(row["count"] for row in own) == len(wanted[track])
            by_id = {one["id"]: one for one in wanted[track]}
            for row in own:
                longest = by_id[row["id"]]
                assert names[row["name"]] == longest["name"]
                assert row["depth"] == longest["depth"]
                if row["count"] == 1:
                    assert row["start"] == longest["begin"] - first
                    assert row["width"] == longest["end"] - longest["begin"]
    assert seen > 10_000


@pytest.mark.parametrize(
    "query",
    [
        *("", "from=0", "from=0&to=1&px=1", "from=1&to=1&px=1&tracks=0", "from=2&to=1&px=1&tracks=0"),
        *("from=0&to=1&px=0&tracks=0", "from=0&to=1&px=99999&tracks=0", "from=0&to=1&px=1&tracks=99999"),
        *("from=0&to=1&px=1&tracks=0,0", "from=0&to=1&px=1&tracks=-1", "from=0&to=1&px=1&tracks="),
        *("from=0&to=9223372036854775808&px=1&tracks=0", "from=0&to=1e9&px=1&tracks=0"),
        *("from=0&from=0&to=1&px=1&tracks=0", "from=0&to=1&px=1&tracks=0;1", "from=%00&to=1&px=1&tracks=0"),
        *("from=0&to=1&px=%D9%A1&tracks=0", "from=0&to=1&px=1&tracks=%D9%A1"),
    ],
)
def test_odd_windows_are_refused(served: Served, query: str) -> None:
    answer = served.get(f"/api/timeline?{query}")
    assert (answer.status, answer.slug) == (400, "request-odd")


def test_the_widest_window_holds_everything(served: Served, slices: Slices) -> None:
    low, high = -(2**63), 2**63 - 1
    listed = ",".join(str(track) for track in slices)
    header, rows = cells(served.get(f"/api/timeline?from={low}&to={high}&px=16384&tracks={listed}"))
    assert header["events"] == sum(map(len, slices.values())) == sum(row["count"] for row in rows)


def test_names_have_classes_and_types(served: Served) -> None:
    told = served.get("/api/names").json
    classes = served.get("/api/catalog").json["classes"]
    assert len(told["names"]) == len(told["classes"]) == len(told["op_types"]) == len(set(told["names"]))
    kinds = {name: classes[number] for name, number in zip(told["names"], told["classes"], strict=True)}
    assert kinds["IteratorGetNextOp::DoCompute"] == "input"
    assert {"input", "python", "compute", "copy"} <= set(kinds.values())
    with trace.open(*RECORDINGS) as opened:
        known = {row[0] for row in opened.query("SELECT DISTINCT name FROM slice").rows()}
    assert known == set(told["names"])
