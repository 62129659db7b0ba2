"""Chrome traces: what is in the file, read with Python's json."""

import json
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import exporters
from stepscope.errors import OutputError
from tests.draw import Tables
from tests.exporters.read import chrome, names, phase, ps
from tests.fakes import drawn_trace
from tests.tiers import cases

UNIX_NS = 1_584_128_411_446_459_000


def add_source(tables: Tables, number: int, origin_unix_ns: int | None, tracks: int = 2) -> list[int]:
    """A source with its capture and some thread tracks; their ids."""
    tables.add("source", source_id=number, path=f"runs/timeline-{number}.json", format="chrome_trace")
    clock = "relative" if origin_unix_ns is None else "unix"
    tables.add("capture", source_id=number, clock=clock, origin_unix_ns=origin_unix_ns)
    return [
        tables.add(
            "track",
            id=number * 1000 + i,
            source_id=number,
            kind="thread",
            records="execution",
            process="/device:CPU:0",
            name=f"thread {i}",
            origin=f"pid 0 tid {i}",
        )["id"]
        for i in range(tracks)
    ]


def two_steps(origins: tuple[int | None, int | None]) -> Tables:
    """Two sources whose processes, threads, arrows, objects and async sequences all have the same ids."""
    tables = Tables()
    for number, origin in enumerate(origins):
        first, second = add_source(tables, number, origin)
        tables.slices(
            number,
            [
                {"track_id": first, "name": f"MatMul {number}", "ts_ps": 1_000_001, "dur_ps": 2_500_000},
                {"track_id": second, "name": f"Add {number}", "ts_ps": 4_000_000, "dur_ps": 0},
            ],
        )
        arrow = {"source_id": number, "flow_id": number * 10**12 + 7, "name": "edge", "category": "DataFlow"}
        tables.add("flow", **arrow, phase="start", track_id=first, ts_ps=3_500_001)
        tables.add("flow", **arrow, phase="step", track_id=second, ts_ps=4_000_000)
        tensor = {"source_id": number, "track_id": first, "name": "Tensor", "object_id": "0x1"}
        tables.add("instant", **tensor, kind="object_new", ts_ps=0)
        tables.add(
            "instant",
            **tensor,
            kind="object_snapshot",
            ts_ps=1,
            args_json='{"snapshot":{"next":{"id_ref":"0x1"}}}',
        )
        tables.add("instant", **tensor, kind="object_delete", ts_ps=2)
    return tables


def test_ids_of_one_source_are_never_those_of_another(tmp_path: Path) -> None:
    _, events = chrome(two_steps((UNIX_NS, UNIX_NS + 1_000_000_000)), tmp_path)
    process = names(events, "process_name")
    assert sorted(process.values()) == ["timeline-0: /device:CPU:0", "timeline-1: /device:CPU:0"]
    of = {pid: name[:10] for pid, name in process.items()}
    threads = [event["tid"] for event in phase(events, "M") if event["name"] == "thread_name"]
    assert len(threads) == len(set(threads)) == 4
    assert not set(threads) & set(process), "Perfetto takes such a thread for the main thread"
    assert 0 not in threads
    for phases in ("st", "NOD"):
        ids: dict[Any, set[str]] = {}
        for event in phase(events, *phases):
            ids.setdefault(event["id"], set()).add(of[event["pid"]])
        assert len(ids) == 2
        assert all(len(sources) == 1 for sources in ids.values())
    for snapshot in phase(events, "O"):
        assert snapshot["args"]["snapshot"]["next"]["id_ref"] == snapshot["id"]


def test_known_clocks_are_aligned_exactly(tmp_path: Path) -> None:
    head, events = chrome(two_steps((UNIX_NS, UNIX_NS + 1_000_123)), tmp_path)
    assert head["baseTimeNanoseconds"] == UNIX_NS
    assert head["stepscope"]["notes"] == []
    start = {event["name"]: ps(event["ts"]) for event in phase(events, "X")}
    assert start == {
        "MatMul 0": 1_000_001,
        "Add 0": 4_000_000,
        "MatMul 1": 1_001_123_001,
        "Add 1": 1_004_123_000,
    }
    assert {event["name"]: ps(event["dur"]) for event in phase(events, "X")}["MatMul 1"] == 2_500_000


def test_clocks_that_are_not_known_follow_and_that_is_said(tmp_path: Path) -> None:
    trace = drawn_trace(two_steps((None, UNIX_NS)))
    written = exporters.write(trace, tmp_path / "out.json")
    assert len(written.notes) == 1
    assert "1 of 2 recordings do not contain the time of day" in written.notes[0]
    assert "timeline-0" in written.notes[0]
    head, events = chrome(two_steps((None, UNIX_NS)), tmp_path)
    assert head["stepscope"]["notes"] == list(written.notes)
    clocks = {source["label"]: source["clock"] for source in head["stepscope"]["sources"]}
    assert clocks == {"timeline-0": "relative", "timeline-1": "unix"}
    start = {event["name"]: ps(event["ts"]) for event in phase(events, "X")}
    assert start["MatMul 1"] == 1_000_001
    assert start["MatMul 0"] == 4_000_000 + 1_000_001


def test_captures_of_another_year_keep_their_distance(tmp_path: Path) -> None:
    year_ns = 366 * 86_400 * 10**9
    trace = drawn_trace(two_steps((UNIX_NS, UNIX_NS + year_ns)))
    assert "366 days apart" in exporters.write(trace, tmp_path / "out.json").notes[0]
    _, events = chrome(two_steps((UNIX_NS, UNIX_NS + year_ns)), tmp_path)
    start = {event["name"]: ps(event["ts"]) for event in phase(events, "X")}
    assert start["MatMul 1"] - start["MatMul 0"] == year_ns * 1000


def test_a_single_source_keeps_names_and_ids(tmp_path: Path) -> None:
    tables = Tables()
    first, _ = add_source(tables, 0, None)
    tables.slices(0, [{"track_id": first, "name": "a", "ts_ps": -1_500_000, "dur_ps": 1}])
    tables.add("instant", track_id=first, name="T", kind="object_new", object_id="0x1", ts_ps=0)
    head, events = chrome(tables, tmp_path)
    assert "baseTimeNanoseconds" not in head
    assert set(names(events, "process_name").values()) == {"/device:CPU:0"}
    assert set(names(events, "thread_name").values()) == {"thread 0", "thread 1"}
    assert phase(events, "N")[0]["id"] == "0x1"
    # By whole microseconds, which the head can tell; Perfetto leaves out what lies before 0.
    assert head["stepscope"]["sources"][0]["shifted_ps"] == 2_000_000
    assert phase(events, "X")[0]["ts"] == 0.5
    assert phase(events, "N")[0]["ts"] == 2


FIELDS: list[tuple[str | None, dict[str, Any], dict[str, Any] | None]] = [
    ('{"name":"a","op":"B"}', {}, {"name": "a", "op": "B"}),
    ('{"n":1,"$tts":5.250,"$cname":"good"}', {"tts": Decimal("5.25"), "cname": "good"}, {"n": 1}),
    ('{"$tdur":12345678901234567890}', {"tdur": 12345678901234567890}, None),
    ('{"x":{"$y":1}}', {}, {"x": {"$y": 1}}),
    ('{"x":{"$y":1},"$sf":"}\\",{"}', {"sf": '}",{'}, {"x": {"$y": 1}}),
    ('{"x":["a","$b"],"$stack":["p","$q"]}', {"stack": ["p", "$q"]}, {"x": ["a", "$b"]}),
    ('{"x":1,"$id2":{"local":"0x7"}}', {"id2": {"local": "0x7"}}, {"x": 1}),
    # Too deep to be recognised: it stays a named value, whole.
    ('{"x":1,"$deep":{"a":{"b":[1]}}}', {}, {"x": 1, "$deep": {"a": {"b": [1]}}}),
    # The arrow is a row of flow; as a field it would be one more.
    ('{"$bind_id":"0x1","$flow_out":true}', {}, {"$bind_id": "0x1", "$flow_out": True}),
    (None, {}, None),
]
"""What a slice has of its own in the table, as fields of its event, and as named values."""


def test_fields_and_named_values(tmp_path: Path) -> None:
    tables = Tables()
    first, _ = add_source(tables, 0, None)
    one = {"track_id": first, "name": "a", "dur_ps": 1}
    tables.slices(0, [{**one, "ts_ps": 10**6 * at, "args_json": row[0]} for at, row in enumerate(FIELDS)])
    _, events = chrome(tables, tmp_path)
    usual = {"ph", "pid", "tid", "ts", "dur", "name", "args"}
    for event, (text, fields, args) in zip(phase(events, "X"), FIELDS, strict=True):
        assert {key: value for key, value in event.items() if key not in usual} == fields, text
        assert event.get("args") == args, text


def test_ops_are_told_where_the_arguments_do_not(tmp_path: Path) -> None:
    tables = Tables()
    for number, form in enumerate(("xplane", "chrome_trace")):
        first, _ = add_source(tables, number, UNIX_NS)
        tables.rows["source"][number]["format"] = form
        slice_ = {"track_id": first, "name": form, "ts_ps": 0, "dur_ps": 1}
        tables.slices(number, [{**slice_, "op_name": "w/mul", "op_type": "Mul"}])
    _, events = chrome(tables, tmp_path)
    told = {event["name"]: (event.get("op_name"), event.get("op_type")) for event in phase(events, "X")}
    assert told == {"xplane": ("w/mul", "Mul"), "chrome_trace": (None, None)}


def test_series_of_a_counter_are_one_event(tmp_path: Path) -> None:
    tables = Tables()
    first, _ = add_source(tables, 0, None)
    values = [1.5, 2.0**40, 0.1, None, float("inf"), 1e300, -3.0]
    for moment in (0, 5):
        for number, value in enumerate(values):
            at = {"track_id": first, "name": "mem", "ts_ps": moment, "series": f"s{number}"}
            tables.add("counter", **at, value=value)
    tables.add("counter", track_id=first, name="mem", ts_ps=5, series="s0", value=9.0)
    _, events = chrome(tables, tmp_path)
    args = [event["args"] for event in phase(events, "C")]
    assert [len(one) for one in args] == [7, 7, 1]
    assert [None if v is None else float(v) for v in args[0].values()] == values
    assert args[2] == {"s0": 9}


def test_async_slices_nest(tmp_path: Path) -> None:
    tables = Tables()
    tables.add("source", path="a.json")
    tables.add("capture", clock="relative")
    tables.add("track", kind="async", records="unknown", process="p", name="requests")
    drawn = [
        ("outer", 0, 10),
        ("inner", 0, 10),
        ("mark", 4, 0),
        ("leaf", 4, 6),
        ("next", 10, 5),
        ("end", 15, 0),
    ]
    tables.slices(0, [{"track_id": 0, "name": n, "ts_ps": ts, "dur_ps": dur} for n, ts, dur in drawn])
    _, events = chrome(tables, tmp_path)
    stack: list[str] = []
    closed = {}
    moment = Decimal(0)
    for event in phase(events, "b", "e"):
        assert event["ts"] >= moment, "out of order"
        moment = event["ts"]
        if event["ph"] == "b":
            stack.append(event["name"])
            closed[event["name"]] = (ps(event["ts"]), list(stack))
        else:
            assert stack.pop() == event["name"]
    assert not stack
    assert closed["leaf"] == (4, ["outer", "inner", "leaf"])
    assert closed["next"] == (10, ["next"])


def test_odd_names_stay_themselves(tmp_path: Path) -> None:
    odd = 'quote " slash \\ newline \n tab \t nul \x00 \N{SNOWMAN} \N{MUSICAL SYMBOL G CLEF} \x01 \x7f'
    tables = Tables()
    first, _ = add_source(tables, 0, None)
    tables.rows["track"][0]["process"] = odd
    tables.slices(0, [{"track_id": first, "name": odd, "category": odd, "ts_ps": 0, "dur_ps": 1}])
    _, events = chrome(tables, tmp_path)
    (event,) = phase(events, "X")
    assert (event["name"], event["cat"]) == (odd, odd)
    assert odd in names(events, "process_name").values()


def test_nothing_to_write_is_a_file_without_events(tmp_path: Path) -> None:
    tables = Tables()
    add_source(tables, 0, None)
    head, events = chrome(tables, tmp_path)
    assert events == []
    assert head["stepscope"]["sources"] == []


def test_rows_without_a_track_are_an_error_and_no_file(tmp_path: Path) -> None:
    tables = Tables()
    first, _ = add_source(tables, 0, None)
    tables.slices(0, [{"track_id": t, "name": "a", "ts_ps": 0, "dur_ps": 1} for t in (first, 99)])
    with pytest.raises(OutputError, match=r"lies? on no track"):
        exporters.write(drawn_trace(tables), tmp_path / "out.json")
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_no_chrome_trace(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="events, not a table"):
        exporters.write(drawn_trace(two_steps((None, None))), tmp_path / "out.json", table="slice")


def test_times_before_the_origin_move_it(tmp_path: Path) -> None:
    tables = two_steps((UNIX_NS, UNIX_NS + 1000))
    tables.rows["slice"][0]["ts_ps"] = -1_234_567
    head, events = chrome(tables, tmp_path)
    assert head["baseTimeNanoseconds"] == UNIX_NS - 2000
    start = {event["name"]: ps(event["ts"]) for event in phase(events, "X")}
    assert start["MatMul 0"] == 2_000_000 - 1_234_567
    assert start["MatMul 1"] == 1_000_001 + 1_000_000 + 2_000_000


def test_slices_that_cross_are_told(tmp_path: Path) -> None:
    tables = Tables()
    first, _ = add_source(tables, 0, UNIX_NS)
    drawn = [("outer", 0, 10), ("b", 1, 4), ("crosses b", 3, 4), ("next", 7, 1)]
    tables.slices(0, [{"track_id": first, "name": n, "ts_ps": ts, "dur_ps": dur} for n, ts, dur in drawn])
    (note,) = exporters.write(drawn_trace(tables), tmp_path / "out.json").notes
    assert note.startswith("1 slice begins within another")


@st.composite
def traces(draw: st.DrawFn) -> Tables:
    """Up to three sources with slices, instants, counters and flows anywhere in three years."""
    tables = Tables()
    time = st.integers(-(10**7), 9 * 10**18)
    text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
    origin = st.none() | st.integers(10**18, 10**18 + 10**17)
    for number in range(draw(st.integers(1, 3))):
        tracks = add_source(tables, number, draw(origin), tracks=3)
        track = st.sampled_from(tracks)
        slices = []
        for _ in range(draw(st.integers(0, 5))):
            start = draw(time)
            slices.append(
                {
                    "track_id": draw(track),
                    "name": draw(text),
                    "category": draw(st.none() | text),
                    "ts_ps": start,
                    "dur_ps": draw(st.integers(0, 9 * 10**18 - start)),
                    "args_json": draw(st.none() | st.dictionaries(text, text, min_size=1).map(json.dumps)),
                }
            )
        tables.slices(number, slices)
        for _ in range(draw(st.integers(0, 3))):
            at = {"source_id": number, "track_id": draw(track), "ts_ps": draw(time), "name": draw(text)}
            flow_id = draw(st.integers(0, 3)) + number * 2**36
            tables.add("flow", **at, flow_id=flow_id, phase=draw(st.sampled_from(["start", "step", "end"])))
    return tables


@settings(max_examples=cases(8, 25), deadline=None)
@given(traces())
def test_every_row_is_in_the_file_once_and_exact(tables: Tables) -> None:
    with tempfile.TemporaryDirectory() as folder:
        head, events = chrome(tables, Path(folder))
    threads = names(events, "thread_name")
    shift = {source["path"]: source["shifted_ps"] for source in head["stepscope"]["sources"]}
    labels = {source["path"]: source["label"] for source in head["stepscope"]["sources"]}
    process = names(events, "process_name")
    several = len(shift) > 1
    expected, arrows = [], []
    for table in ("slice", "flow"):
        for row in tables.rows[table]:
            path = f"runs/timeline-{row['source_id']}.json"
            place = f"{labels[path]}: /device:CPU:0" if several else "/device:CPU:0"
            track = f"thread {row['track_id'] % 1000}"
            moment = row["ts_ps"] + shift[path]
            if table == "slice":
                args = None if row["args_json"] is None else json.loads(row["args_json"])
                expected.append((place, track, row["name"], row["category"], moment, row["dur_ps"], args))
            else:
                arrows.append((place, track, row["name"], moment, row["flow_id"], row["phase"]))
    found = [
        (
            process[e["pid"]],
            threads[e["pid"], e["tid"]],
            e["name"],
            e.get("cat"),
            ps(e["ts"]),
            ps(e["dur"]),
            e.get("args"),
        )
        for e in phase(events, "X")
    ]
    assert found == expected
    phases = {"s": "start", "t": "step", "f": "end"}
    flows = phase(events, "s", "t", "f")
    assert [
        (process[e["pid"]], threads[e["pid"], e["tid"]], e["name"], ps(e["ts"]), phases[e["ph"]])
        for e in flows
    ] == [(*arrow[:4], arrow[5]) for arrow in arrows]
    pairs = {(e["id"], arrow[4]) for e, arrow in zip(flows, arrows, strict=True)}
    assert len({new for new, _ in pairs}) == len({old for _, old in pairs}) == len(pairs)
