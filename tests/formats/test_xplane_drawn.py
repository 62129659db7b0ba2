"""XPlane: spaces made for the purpose, by hand and by Hypothesis."""

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope import _core
from tests.formats import xplane_reference as reference
from tests.formats.test_xplane import check, decode
from tests.tiers import cases

I64 = st.integers(-(2**63), 2**63 - 1)
U64 = st.integers(0, 2**64 - 1)


def space(plane: str = "/host:CPU") -> tuple[Any, Any]:
    """An XSpace with one plane."""
    made = reference.messages().XSpace()
    return made, made.planes.add(name=plane)


def kind(plane: Any, key: int, name: str, display: str = "") -> Any:
    plane.event_metadata[key].id = key
    plane.event_metadata[key].name = name
    plane.event_metadata[key].display_name = display
    return plane.event_metadata[key]


def stat(plane: Any, on: Any, name: str, **value: Any) -> Any:
    """Adds a stat; its name gets an id."""
    ids = {metadata.name: key for key, metadata in plane.stat_metadata.items()}
    key = ids.get(name, len(ids) + 1)
    plane.stat_metadata[key].name = name
    return on.stats.add(metadata_id=key, **value)


VALUES = st.one_of(
    st.builds(lambda v: {"int64_value": v}, I64),
    st.builds(lambda v: {"uint64_value": v}, U64),
    st.builds(lambda v: {"double_value": v}, st.floats()),
    st.builds(lambda v: {"str_value": v}, st.text(st.characters(exclude_categories=["Cs"]), max_size=40)),
    st.builds(lambda v: {"bytes_value": v}, st.binary(max_size=400)),
    st.builds(lambda v: {"ref_value": v}, st.integers(0, 12)),
    st.just({}),
)
EVENTS = st.lists(
    st.tuples(
        st.integers(0, 9),
        st.one_of(st.integers(0, 50), st.integers(0, 2**50), st.none()),
        st.integers(-5, 2**45),
        st.lists(st.tuples(st.integers(0, 9), VALUES), max_size=5),
    ),
    max_size=30,
)
NAMES = st.lists(
    st.sampled_from(
        [
            "id",
            "_pt",
            "_p",
            "_ct",
            "_c",
            "step_num",
            "correlation_id",
            "hlo_op",
            "hlo_category",
            "tf_op",
            'qu"ote',
            "name",
        ]
    ),
    min_size=6,
    max_size=10,
)


@settings(max_examples=cases(40, 150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    lines=st.lists(st.tuples(st.booleans(), st.integers(0, 10**6), EVENTS), max_size=4),
    names=NAMES,
    device=st.booleans(),
    threads=st.sampled_from([1, 2]),
)
def test_any_space_equals_protobuf(lines: Any, names: list[str], device: bool, threads: int) -> None:
    made, plane = space("/device:GPU:0" if device else "/host:CPU")
    for key, name in enumerate(["train", "a:B", "dot.1", "", "FunctionRun", "a:B"]):
        kind(plane, key, name)
    for key, name in enumerate(names):
        plane.stat_metadata[key].name = name
    for index, (ordered, timestamp, events) in enumerate(lines):
        line = plane.lines.add(id=index, name=f"line {index}", timestamp_ns=timestamp)
        if ordered:
            events = sorted(events, key=lambda event: event[1] or 0)
        for key, offset, duration, stats in events:
            event = line.events.add(metadata_id=key, duration_ps=duration)
            if offset is None:
                event.num_occurrences = 7
            else:
                event.offset_ps = offset
            for name, value in stats:
                event.stats.add(metadata_id=name, **value)
    data = made.SerializeToString()
    store = decode(data, threads=threads)
    check(data, store)
    rows = store.rows("slice")
    for _, track in itertools.groupby(rows, key=lambda row: row["track_id"]):
        keys = [(row["ts_ps"], -row["dur_ps"]) for row in track]
        assert keys == sorted(keys)
    runs = [track for track, _ in itertools.groupby(row["track_id"] for row in rows)]
    assert len(runs) == len(set(runs)), "the slices of a track lie apart"
    assert all(row["self_ps"] >= 0 for row in rows)


@pytest.mark.repeats("only its length is new")
def test_one_line_of_many_pieces() -> None:
    """Cut into pieces, with runs of equal starts across the cuts, long and short first."""
    rng = random.Random(1)
    made, plane = space()
    kind(plane, 1, "work")
    line = plane.lines.add(id=1, name="python")
    offset = 0
    for _ in range(30_000):
        offset += rng.choice((0, 0, 0, 1000))
        event = line.events.add(metadata_id=1, offset_ps=offset, duration_ps=rng.randrange(900))
        stat(plane, event, "note", str_value="x" * rng.randrange(250)) if rng.random() < 0.2 else None
    data = made.SerializeToString()
    assert len(data) > 1 << 20
    store = decode(data)
    check(data, store)
    keys = [(row["ts_ps"], -row["dur_ps"]) for row in store.rows("slice")]
    assert keys == sorted(keys)


def test_times_at_the_edge_of_64_bits() -> None:
    made, plane = space()
    kind(plane, 1, "work")
    line = plane.lines.add(id=1, name="a", timestamp_ns=-5)
    for offset, duration in ((2**63 - 1, 2**63 - 1), (-(2**63), 0), (5000, 1), (0, -1), (2**63 - 1, 0)):
        line.events.add(metadata_id=1, offset_ps=offset, duration_ps=duration)
    far = plane.lines.add(id=2, name="far", timestamp_ns=2**62 // 100)
    far.events.add(metadata_id=1)
    store = decode(made.SerializeToString())
    assert sorted((row["ts_ps"], row["dur_ps"]) for row in store.rows("slice")) == [
        (-5000, 0), (0, 1), (2**63 - 1 - 5000, 0),
    ]  # fmt: skip
    notes = {note["slug"]: note["events"] for note in store.facts["notes"]}
    assert notes == {"time-out-of-range": 3, "negative-duration": 1}
    assert (store.facts["events_seen"], store.facts["events_lost"]) == (6, 3)


def test_unix_time_is_taken_off() -> None:
    made, plane = space("/device:GPU:0")
    kind(plane, 1, "kernel")
    for index, timestamp in enumerate((1_700_000_000_000_000_500, 1_700_000_000_000_000_000)):
        line = plane.lines.add(id=index, name=f"Stream #{index}(Compute)", timestamp_ns=timestamp)
        line.events.add(metadata_id=1, offset_ps=7, duration_ps=3)
    data = made.SerializeToString()
    store = decode(data)
    check(data, store)
    assert store.facts["origin_unix_ns"] == 1_700_000_000_000_000_000
    assert sorted(row["ts_ps"] for row in store.rows("slice")) == [7, 500_007]


def test_relative_time_has_no_origin() -> None:
    made, plane = space()
    kind(plane, 1, "work")
    plane.lines.add(id=1, name="a", timestamp_ns=77).events.add(metadata_id=1)
    store = decode(made.SerializeToString())
    assert store.facts["origin_unix_ns"] is None
    assert store.rows("slice")[0]["ts_ps"] == 77_000


def test_planes_and_lines_of_accelerators() -> None:
    made = reference.messages().XSpace()
    rows = {
        "/device:GPU:0": ["Stream #13(Compute)", "XLA Ops", "TensorFlow Name Scope"],
        "/device:TPU:0": ["XLA Ops", "XLA Modules", "Steps"],
        "/host:CUPTI": ["Driver API"],
        "/host:CPU": ["python"],
    }
    for name, lines in rows.items():
        plane = made.planes.add(name=name)
        kind(plane, 1, "%fusion.1 = f32[] fusion(...)", "fusion.1")
        for index, line in enumerate(lines):
            event = plane.lines.add(id=index, name=line, display_id=index).events.add(metadata_id=1)
            stat(plane, event, "correlation_id", uint64_value=12)
            stat(plane, event, "tf_op", str_value="model/dense/MatMul:MatMul")
        stat(plane, plane, "peak_teraflops_per_second", double_value=1.5)
    store = decode(made.SerializeToString())
    kinds = {(row["process"], row["name"]): (row["kind"], row["records"]) for row in store.rows("track")}
    assert kinds == {
        ("/device:GPU:0", "Stream #13(Compute)"): ("device_stream", "execution"),
        ("/device:GPU:0", "XLA Ops"): ("derived", "annotation"),
        ("/device:GPU:0", "TensorFlow Name Scope"): ("derived", "annotation"),
        ("/device:TPU:0", "XLA Ops"): ("device_stream", "execution"),
        ("/device:TPU:0", "XLA Modules"): ("derived", "annotation"),
        ("/device:TPU:0", "Steps"): ("derived", "annotation"),
        ("/host:CUPTI", "Driver API"): ("thread", "dispatch"),
        ("/host:CPU", "python"): ("thread", "execution"),
    }
    devices = [(row["name"], row["kind"], json.loads(row["args_json"])) for row in store.rows("device")]
    told = {"peak_teraflops_per_second": 1.5}
    assert devices == [
        ("/device:GPU:0", "gpu", told), ("/device:TPU:0", "tpu", told),
        ("/host:CUPTI", "cpu", told), ("/host:CPU", "cpu", told),
    ]  # fmt: skip
    tracks = {row["id"]: row for row in store.rows("track")}
    for row in store.rows("slice"):
        assert row["correlation_id"] == 12
        on_device = tracks[row["track_id"]]["process"].startswith("/device")
        assert (row["op_name"], row["op_type"]) == (
            ("model/dense/MatMul", "MatMul") if on_device else (None, None)
        )


def test_hlo_categories_of_the_metadata() -> None:
    made, plane = space("/device:TPU:0")
    metadata = kind(plane, 1, "%fusion.1 = f32[] fusion(...)", "fusion.1")
    stat(plane, metadata, "hlo_category", str_value="convolution fusion")
    stat(plane, metadata, "flops", uint64_value=2**63)
    plane.lines.add(id=1, name="XLA Ops").events.add(metadata_id=1)
    store = decode(made.SerializeToString())
    (row,) = store.rows("slice")
    assert (row["op_name"], row["op_type"], row["category"]) == (
        "fusion.1",
        "convolution fusion",
        "convolution fusion",
    )
    assert row["args_json"] is None
    (told,) = store.rows("instant")
    assert (told["name"], told["kind"]) == ("%fusion.1 = f32[] fusion(...)", "context")
    assert json.loads(told["args_json"]) == {
        "hlo_category": "convolution fusion", "flops": 2**63, "$display_name": "fusion.1",
    }  # fmt: skip


def test_names_that_are_missing() -> None:
    made, plane = space()
    event = plane.lines.add(id=1, name="a").events.add(metadata_id=-3)
    event.stats.add(metadata_id=5, int64_value=1)
    event.stats.add(metadata_id=6, ref_value=9)
    data = made.SerializeToString()
    store = decode(data)
    check(data, store)
    (row,) = store.rows("slice")
    assert row["name"] == "unnamed event -3"
    assert json.loads(row["args_json"]) == {"unnamed stat 5": 1, "unnamed stat 6": None}
    assert [(note["slug"], note["events"]) for note in store.facts["notes"]] == [("unnamed-metadata", 1)]


def test_complaints_of_the_recorder_are_kept() -> None:
    made, plane = space()
    kind(plane, 1, "work")
    plane.lines.add(id=1, name="a").events.add(metadata_id=1)
    made.errors.extend(["no permission", "CUPTI failed"])
    made.warnings.append("17 events dropped: buffer full")
    made.hostnames.append("worker-3")
    facts = decode(made.SerializeToString()).facts
    notes = {note["slug"]: note for note in facts["notes"]}
    assert notes["recorder-error"]["detail"] == "no permission"
    assert facts["meta"]["recorder-error-2"] == "CUPTI failed"
    assert notes["recorder-warning"]["effect"] == "recorder"
    assert (notes["recorder-dropped-events"]["events"], facts["events_capped"]) == (17, 17)
    assert facts["meta"]["host"] == "worker-3"


def test_a_huge_value_gives_way_to_its_size() -> None:
    made, plane = space()
    kind(plane, 1, "work")
    line = plane.lines.add(id=1, name="a")
    line.events.add(metadata_id=1, offset_ps=1)
    huge = line.events.add(metadata_id=1, offset_ps=2, duration_ps=9)
    stat(plane, huge, "text", str_value="x" * (20 << 20))
    stat(plane, huge, "id", int64_value=4)
    line.events.add(metadata_id=1, offset_ps=30)
    store = decode(made.SerializeToString())
    rows = store.rows("slice")
    assert [row["ts_ps"] for row in rows] == [1, 2, 30]
    assert json.loads(rows[1]["args_json"]) == {"text": "(20971520 bytes, not kept)", "id": 4}
    assert [note["slug"] for note in store.facts["notes"]] == ["value-shortened"]


def test_a_name_told_a_million_times_is_a_bomb() -> None:
    made, plane = space()
    kind(plane, 1, "work")
    plane.stat_metadata[1].name = "x" * 1_000_000
    line = plane.lines.add(id=1, name="a")
    for _ in range(40):
        event = line.events.add(metadata_id=1)
        for _ in range(20):
            event.stats.add(metadata_id=2, ref_value=1)
    plane.stat_metadata[2].name = "y"
    for name in range(20):
        plane.stat_metadata[3 + name].name = f"n{name}"
    for event in line.events:
        for index, one in enumerate(event.stats):
            one.metadata_id = 3 + index
    with pytest.raises(_core.CoreError) as caught:
        decode(made.SerializeToString())
    assert caught.value.kind == "limit"


@pytest.mark.repeats("only their number is new")
def test_a_hundred_thousand_lines() -> None:
    made, plane = space()
    kind(plane, 1, "work")
    for index in range(100_000):
        plane.lines.add(id=index).events.add(metadata_id=1, offset_ps=index)
    store = decode(made.SerializeToString())
    assert store.tables()["track"] == store.tables()["slice"] == 100_000


def test_an_empty_space_is_no_recording_and_an_empty_plane_is() -> None:
    with pytest.raises(_core.CoreError) as caught:
        decode(b"")
    assert caught.value.kind == "not_this_format"
    made, _ = space()
    assert decode(made.SerializeToString()).facts["events_seen"] == 0


@pytest.mark.parametrize(
    ("name", "producer"), [("PjitFunction(step)", "jax"), ("MatMul:MatMul", "tf_profiler")]
)
def test_a_program_of_jax_is_known_by_its_calls(name: str, producer: str) -> None:
    """What a profiler server or a C++ tool collects does not have the version of JAX."""
    made, plane = space()
    kind(plane, 1, name)
    line = plane.lines.add(id=1, name="python", timestamp_ns=1)
    line.events.add(metadata_id=1, offset_ps=0, duration_ps=1000)
    assert decode(made.SerializeToString()).facts["producer"] == producer
