"""Slices, searches, ranges and counters against brute force over the same tables."""

import os
import random
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any
from urllib.parse import quote

import pytest

from stepscope import library
from stepscope.library.statements import statement
from stepscope.server import catalog, details
from stepscope.session import trace
from stepscope.session.trace import OpenTrace
from tests.corpus import SAMPLES
from tests.server.asking import RECORDINGS, Served
from tests.tiers import ALL


@pytest.fixture(scope="module")
def opened(served: Served) -> Iterator[OpenTrace]:
    with trace.open(*RECORDINGS) as found:
        yield found


@pytest.fixture(scope="module")
def rows(opened: OpenTrace) -> list[dict[str, Any]]:
    """All slices, on the page's axis of time."""
    result = opened.query(
        "SELECT s.*, s.ts_ps + f.shift_ps AS begin_ps FROM slice AS s"
        " JOIN _source_shift AS f USING (source_id)"
    )
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


@pytest.fixture(scope="module")
def order(opened: OpenTrace) -> list[int]:
    """Track ids by the page's numbers."""
    return [row[0] for row in opened.query(statement("page_tracks")).rows()]


def test_a_slice_is_all_that_is_known_of_it(
    served: Served, rows: list[dict[str, Any]], order: list[int]
) -> None:
    children: dict[int, list[int]] = defaultdict(list)
    by_id = {row["id"]: row for row in rows}
    for row in rows:
        if row["parent_id"] is not None:
            children[row["parent_id"]].append(row["id"])
    chance = random.Random(1)
    busiest = sorted(children, key=lambda one: -len(children[one]))[:5]
    for row in [*chance.sample(rows, 40), *(one for one in rows if one["id"] in busiest)]:
        told = served.get(f"/api/slice/{row['id']}").json
        own = told["slice"]
        assert own["id"] == str(row["id"])
        assert (own["ts_ps"], own["dur_ps"], own["self_ps"]) == (
            row["begin_ps"], row["dur_ps"], row["self_ps"],
        )  # fmt: skip
        assert own["name"] == row["name"]
        assert told["track"]["track"] == order.index(row["track_id"])
        assert (told["parent"] or {}).get("id") == (row["parent_id"] and str(row["parent_id"]))
        assert told["children_total"] == len(children[row["id"]])
        listed = [int(one["id"]) for one in told["children"]]
        assert len(listed) == min(100, len(children[row["id"]]))
        assert set(listed) <= set(children[row["id"]])
        by_name: dict[str, list[int]] = defaultdict(list)
        for child in children[row["id"]]:
            by_name[by_id[child]["name"]].append(by_id[child]["dur_ps"])
        groups = {one["name"]: (one["slices"], one["dur_ps"]) for one in told["children_by_name"]}
        assert len(groups) == min(40, len(by_name))
        assert all(counted == (len(by_name[name]), sum(by_name[name])) for name, counted in groups.items())
        above, at = [], row["parent_id"]
        while at is not None:
            above.append(str(at))
            at = by_id[at]["parent_id"]
        assert [one["id"] for one in told["around"]] == above
        assert (told["args"] is None) == (row["args_json"] is None)


def test_arrows_lead_from_a_launch_to_what_it_launched(served: Served, opened: OpenTrace) -> None:
    pair = opened.query(
        "SELECT a.id, b.id FROM flow AS f JOIN flow AS g USING (flow_id) JOIN slice AS a ON a.id = f.slice_id"
        " JOIN slice AS b ON b.id = g.slice_id WHERE f.phase = 'start' AND g.phase = 'end' ORDER BY 1, 2"
    ).rows()[0]
    told = served.get(f"/api/slice/{pair[0]}").json
    assert {"other_id": str(pair[1]), "direction": "to"}.items() <= told["flows"][0].items() or any(
        one["other_id"] == str(pair[1]) and one["direction"] == "to" for one in told["flows"]
    )
    back = served.get(f"/api/slice/{pair[1]}").json
    assert any(one["other_id"] == str(pair[0]) and one["direction"] == "from" for one in back["flows"])


def test_a_kernel_tells_the_op_and_the_line_that_launched_it() -> None:
    with trace.open(SAMPLES / "gpu" / "torch_svd.json.gz") as opened:
        known = catalog.read(opened)
        ((kernel, launch),) = opened.query(
            "SELECT k.id, l.id FROM slice AS k JOIN slice AS l USING (source_id, correlation_id)"
            " WHERE k.category = 'kernel' AND l.category = 'cuda_runtime'"
            " ORDER BY k.dur_ps DESC, k.id LIMIT 1"
        ).rows()
        told = details.slice_of(opened, known, kernel)
        names = [one["name"] for one in told["launched_by"]]
        assert told["launched_by"][0]["id"] == str(launch)
        assert names.index("aten::addmm") < names.index("aten::linear") < names.index("th.py(22): forward")
        assert told["line"] == {"file": "th.py", "line": 22, "function": "forward"}
        around = details.slice_of(opened, known, launch)
        assert [one["name"] for one in around["around"]] == names[1:]
        assert around["line"] == told["line"]


@pytest.mark.parametrize("slice_id", ["x", "-1", "1.5", "99999999999999999999", "9223372036854775807", "%31"])
def test_slices_that_are_none(served: Served, slice_id: str) -> None:
    assert served.get(f"/api/slice/{slice_id}").status in (403, 404)


@pytest.mark.parametrize(
    "text", ["mat", "MAT", "Iterator", "::", "'", "%", "_", "\\", "nothing at all", "é", "("]
)
def test_search_finds_what_contains_the_text(served: Served, rows: list[dict[str, Any]], text: str) -> None:
    found = [row for row in rows if text.lower() in row["name"].lower()]
    told = served.get(f"/api/search?q={quote(text)}&limit=20").json
    assert told["total"] == len(found)
    wanted = sorted((row["begin_ps"], row["id"]) for row in found)[:20]
    assert [(one["ts_ps"], int(one["id"])) for one in told["slices"]] == wanted


def counted_in_turn(
    rows: list[dict[str, Any]], first: int, until: int
) -> tuple[dict[tuple[str, str | None], int], int]:
    """For how long slices of each name and op type lie on top of their tracks, and for how long any track is
    at work: looked at between any two edges."""
    on_top: dict[tuple[str, str | None], int] = defaultdict(int)
    spans = []
    by_track: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: (row["begin_ps"], -row["dur_ps"], row["id"])):
        if row["begin_ps"] < until and row["begin_ps"] + row["dur_ps"] > first:
            by_track[row["track_id"]].append(row)
    for own in by_track.values():
        edges = {row["begin_ps"] for row in own} | {row["begin_ps"] + row["dur_ps"] for row in own}
        inside = sorted({min(max(edge, first), until) for edge in edges})
        begun: list[dict[str, Any]] = []
        waiting = iter([*own, None])
        following = next(waiting)
        for begin, end in pairwise(inside):
            while following is not None and following["begin_ps"] <= begin:
                begun.append(following)
                following = next(waiting)
            # The one that began last is on top of those that began before.
            begun = [row for row in begun if row["begin_ps"] + row["dur_ps"] > begin]
            if begun:
                on_top[begun[-1]["name"], begun[-1]["op_type"]] += end - begin
                spans.append((begin, end))
    busy_ps, reach = 0, first
    for begin, end in sorted(spans):
        busy_ps += max(0, end - max(begin, reach))
        reach = max(reach, end)
    return on_top, busy_ps


def test_a_range_adds_up(served: Served, rows: list[dict[str, Any]], order: list[int]) -> None:
    chance = random.Random(3)
    busy = sorted({row["track_id"] for row in rows})
    for _ in range(25):
        tracks = chance.sample(busy, chance.randint(1, 6))
        own = [row for row in rows if row["track_id"] in tracks]
        first = chance.choice(own)["begin_ps"] + chance.choice((-1, 0, 1, 5_000_000))
        until = first + chance.choice((1, 10**6, 10**9, 10**12, 10**15))
        listed = ",".join(str(order.index(track)) for track in tracks)
        told = served.get(f"/api/range?from={first}&to={until}&tracks={listed}").json
        totals: dict[tuple[str, str | None], list[int]] = defaultdict(lambda: [0, 0, 0])
        for row in own:
            begin, end = row["begin_ps"], row["begin_ps"] + row["dur_ps"]
            if begin < until and (end > first or begin >= first):
                total = totals[row["name"], row["op_type"]]
                total[0] += 1
                total[1] += min(end, until) - max(begin, first)
        on_top, busy_ps = counted_in_turn(own, first, until)
        for key, self_ps in on_top.items():
            totals[key][2] = self_ps
        assert told["busy_ps"] == busy_ps
        assert told["work_ps"] == sum(on_top.values())
        assert told["names"] == len(totals)
        assert told["slices"] == sum(count for count, *_ in totals.values())
        assert len(told["rows"]) == min(200, len(totals))
        for one in told["rows"]:
            found = [one["count"], one["total_ps"], one["self_ps"]]
            assert found == totals[one["name"], one["op_type"]]
        assert [one["self_ps"] for one in told["rows"]] == sorted(
            (total[2] for total in totals.values()), reverse=True
        )[:200]
        assert told["busy_ps"] <= until - first
        assert told["busy_ps"] <= told["work_ps"] <= told["busy_ps"] * len(tracks)


def test_a_range_of_everything_has_the_self_times_of_the_table(
    served: Served, rows: list[dict[str, Any]], order: list[int]
) -> None:
    listed = ",".join(str(number) for number in range(len(order)))
    told = served.get(f"/api/range?from={-(2**62)}&to={2**62}&tracks={listed}").json
    sums: dict[tuple[str, str | None], int] = defaultdict(int)
    for row in rows:
        sums[row["name"], row["op_type"]] += row["self_ps"]
    assert {(one["name"], one["op_type"]): one["self_ps"] for one in told["rows"]}.items() <= sums.items()


def test_parts_of_a_range_are_those_of_its_whole_steps(served: Served, opened: OpenTrace) -> None:
    parts = opened.query(
        "SELECT s.id, s.ts_ps + f.shift_ps, s.ts_ps + f.shift_ps + s.dur_ps, p.label, p.dur_ps, p.hidden_ps"
        " FROM step_part AS p JOIN step AS s ON s.id = p.step_id JOIN _source_shift AS f"
        " ON f.source_id = s.source_id"
    ).rows()
    assert len({row[0] for row in parts}) > 5
    edges = sorted({edge for row in parts for edge in row[1:3]})
    chance = random.Random(5)
    ranges = [sorted(chance.sample(edges, 2)) for _ in range(40)] + [[-(2**62), 2**62]]
    found = 0
    for begin, end in ranges:
        first, until = begin + chance.choice((-1, 0, 1)), end + chance.choice((0, 1, 2))
        inside = [row for row in parts if row[1] >= first and row[2] <= until]
        told = served.get(f"/api/range/parts?from={first}&to={until}").json
        assert told["steps"] == len({row[0] for row in inside})
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
        for *_, label, part, behind in inside:
            sums[label] = [a + b for a, b in zip(sums[label], (part, behind, 1), strict=True)]
        assert {one.pop("label"): list(one.values()) for one in told["step_parts"]} == sums
        found += bool(inside)
    assert found > 10


def test_a_range_has_its_longest_ops_and_waits(served: Served, opened: OpenTrace) -> None:
    steps = opened.query(
        "SELECT s.ts_ps + f.shift_ps, s.ts_ps + f.shift_ps + s.dur_ps FROM step AS s"
        " JOIN _source_shift AS f ON f.source_id = s.source_id"
    ).rows()
    ops = opened.query(
        "SELECT o.op, o.self_ps, o.ts_ps + f.shift_ps, o.place FROM op_slice AS o"
        " JOIN _source_shift AS f ON f.source_id = o.source_id WHERE o.works"
    ).rows()
    waits = opened.query(
        "SELECT w.dur_ps, w.ts_ps + f.shift_ps FROM wait_slice AS w"
        " JOIN _source_shift AS f ON f.source_id = w.source_id"
    ).rows()
    for first, until in steps[:6]:
        told = served.get(f"/api/range/longest?from={first}&to={until}").json
        inside = [row for row in ops if first <= row[2] < until]
        longest: dict[str, int] = defaultdict(int)
        for _, self_ps, _, place in inside:
            longest[place] = max(longest[place], self_ps)
        assert {one["dur_ps"] for one in told["ops"]} >= set(longest.values())
        assert len(told["ops"]) == sum(
            min(details.MOST_LONGEST, sum(row[3] == place for row in inside)) for place in longest
        )
        durations = [dur_ps for dur_ps, ts_ps in waits if first <= ts_ps < until]
        assert [one["dur_ps"] for one in told["waits"][:1]] == sorted(durations, reverse=True)[:1]
        for one in told["ops"]:
            assert served.get(f"/api/slice/{one['id']}").json["slice"]["ts_ps"] >= first


def test_a_range_does_not_wait_for_where_its_steps_go(monkeypatch: pytest.MonkeyPatch) -> None:
    other = Served(RECORDINGS[1])
    held = threading.Event()
    read = details.Parts

    def slowly(trace: OpenTrace) -> details.Parts:
        held.wait(240)
        return read(trace)

    monkeypatch.setattr(details, "Parts", slowly)
    try:
        other.get("/api/catalog")
        with ThreadPoolExecutor() as pool:
            parts = pool.submit(other.get, "/api/range/parts?from=0&to=1")
            assert other.get(f"/api/range?from={-(2**62)}&to={2**62}&tracks=0").json["slices"] > 0
            assert not parts.done()
            held.set()
            assert parts.result(240).status == 200
    finally:
        held.set()
        other.close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
def test_reports_and_ranges_give_way_to_timelines(served: Served) -> None:
    def priority(_: object) -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    recording = served.page.recording
    own = served.run(recording.desk.ask(priority))
    assert served.run(recording.long.ask(priority)) == min(own + 5, 19)
    assert served.page.adding.submit(priority, None).result() == min(own + 5, 19)


def test_counters_keep_the_least_and_the_largest(served: Served, opened: OpenTrace, order: list[int]) -> None:
    recorded: dict[tuple[int, str, str], list[tuple[int, float]]] = defaultdict(list)
    for track, name, part, at, value in opened.query(
        "SELECT c.track_id, c.name, c.series, c.ts_ps + f.shift_ps, c.value FROM counter AS c"
        " JOIN _source_shift AS f USING (source_id) WHERE c.value IS NOT NULL ORDER BY 4"
    ).rows():
        recorded[order.index(track), name, part].append((at, value))
    assert recorded
    first = min(at for points in recorded.values() for at, _ in points)
    until = max(at for points in recorded.values() for at, _ in points) + 1
    middle = (first + until) // 2
    for begin, end in ((first, until), (middle, until), (first, middle)):
        for px in (1, 7, 1000):
            told = served.get(f"/api/counters?from={begin}&to={end}&px={px}").json["series"]
            for one in told:
                points = recorded[one["track"], one["name"], one["series"]]
                own = [value for at, value in points if at < end]
                inside = [value for at, value in points if begin <= at < end]
                shown = [value for _, value in one["points"]]
                assert len(shown) <= 2 * (px + 1)
                assert set(shown) <= set(own)
                if inside:
                    assert max(shown) >= max(inside)
                    assert min(shown) <= min(inside)
            assert {(one["track"], one["name"], one["series"]) for one in told} == {
                key for key, points in recorded.items() if any(at < end for at, _ in points)
            }


def test_the_reports_are_those_of_the_command_line(
    served: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of summary and memory, tests/test_one_answer.py asks the same in the first tier."""
    from stepscope.cli import main

    verbs: tuple[tuple[str, list[str]], ...] = (("pipeline", []), ("summary", ["--all"]), ("memory", []))
    for verb, words in verbs if ALL else verbs[:1]:
        told = served.get(f"/api/report/{verb}")
        assert told.status == 200
        main([verb, *RECORDINGS, *words, "--format", "json"])
        assert told.body.decode() == capsys.readouterr().out


FEW = ("op_types", "step_times", "counters_summary", "runs_and_hosts", "idle_gaps")
"""Analyses that differ most: the library's own tests run all."""


def test_the_schema_has_comments_and_every_statement_of_the_library_runs(served: Served) -> None:
    told = served.get("/api/schema").json
    tables = {one["name"]: one for one in told["tables"]}
    assert {"slice", "track", "step", "op_slice"} <= tables.keys()
    assert all(column["comment"] for one in tables.values() for column in one["columns"])
    assert len(told["analyses"]) >= 40
    listed = {one["name"] for one in told["analyses"]}
    assert set(library.names("analysis")) < listed
    for one in told["analyses"]:
        if not ALL and one["name"] not in FEW:
            continue
        answer = served.sql(one["sql"])
        assert answer.status == 200, (one["name"], answer.body)


def test_an_analysis_with_filters_is_that_of_the_library(served: Served, opened: OpenTrace) -> None:
    """All where all tests run; that the page's schema has each of them is tested above."""
    for name in library.names("analysis") if ALL else FEW:
        entry = library.named(name)
        told = served.get(f"/api/analysis/{name}").json
        rows = opened.ask(entry).rows()
        assert told["table"]["total"] == len(rows), name
        names = [column["name"] for column in told["table"]["columns"]]
        assert names == [one.name for one in entry.columns]
        assert all(list(row) == names for row in told["table"]["rows"])
        assert told["sql"] == entry.sql
    for type_ in {row[0] for row in opened.ask(library.named("op_types")).rows()}:
        table = served.get(f"/api/analysis/op_types?op_type={quote(str(type_), safe='')}").json["table"]
        wanted = [row for row in opened.ask(library.named("op_types")).rows() if row[0] == type_]
        assert [tuple(row.values()) for row in table["rows"]] == wanted
    assert served.get("/api/analysis/op_types?nonsense=1").status == 400
    assert served.get("/api/analysis/nonsense").status == 404
    assert served.get("/api/analysis/_evidence_label").status == 404


def test_ops_add_up_to_what_op_types_says(served: Served, opened: OpenTrace) -> None:
    told = served.get("/api/ops").json
    sums: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in told["rows"]:
        for at, key in enumerate(("self_ps", "total_ps", "slices")):
            sums[row["op_type"], row["place"]][at] += row[key]
    wanted = opened.ask(library.named("op_types")).rows()
    assert {(row[0], row[1]): [row[2], row[4], row[5]] for row in wanted} == dict(sums)
    assert told["total"] == len(told["rows"])
    assert told["left_out_self_ps"] == 0
