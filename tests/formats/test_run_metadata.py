"""RunMetadata against TensorFlow's own reading of it."""

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import _core
from stepscope.formats import HEAD_BYTES, event_file, graph, run_metadata
from tests import corpus
from tests.asked import ask
from tests.each import each
from tests.formats import reference_step_stats as reference
from tests.tiers import cases, some

SAMPLES = corpus.SAMPLES / "run_metadata"
INT64 = (-(2**63), -1, 0, 1, 2**31, 2**62, 2**63 - 1)


def recordings() -> list[Path]:
    names = ("tf1/*/run_meta*", "tf1/*/run_meta")
    return sorted({path for name in names for path in corpus.files(name) if path.suffix in ("", ".pb")})


def binaries() -> list[Path]:
    return [*sorted(SAMPLES.glob("*.pb")), *recordings()]


def message_of(data: bytes, name: str) -> Any:
    """A RunMetadata, from a bare StepStats if that is what it is."""
    if "step_stats" in name:
        return reference.RunMetadata(step_stats=reference.StepStats.FromString(data))
    return reference.run_metadata(data)


def read(message: Any) -> reference.Reading:
    into = reference.Reading()
    reference.add_run_metadata(into, message)
    return into


@pytest.mark.parametrize("path", binaries(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_row_is_as_tensorflow_reads_it(path: Path) -> None:
    data = path.read_bytes()
    message = message_of(data, path.name)
    expected = read(message)
    assert expected.nodes_seen > 0
    store = reference.decode(data, "run_metadata")
    assert reference.reading(store) == expected
    assert store.facts["events_stored"] == expected.nodes_seen
    assert not reference.flagged(store)
    assert [m.sniff(data[:HEAD_BYTES], "x") for m in (run_metadata, graph, event_file)] == [
        True,
        False,
        False,
    ]

    for text in (reference.to_text(message), gzip.compress(reference.to_text(message), 1)):
        codec = "gzip" if text[:2] == b"\x1f\x8b" else "plain"
        twin = _core.decode("run_metadata", _core.Input.bytes(text, codec))
        assert reference.rows_of(twin) == reference.rows_of(store)
        assert twin.facts["notes"] == store.facts["notes"]


@pytest.mark.repeats("reads recordings that do not ship")
def test_text_as_tensorflow_wrote_it() -> None:
    path = corpus.path("tf1/resnet14_ref/run_meta_0005.pbtxt")
    data = path.read_bytes()
    assert run_metadata.sniff(data[:HEAD_BYTES], path.name)
    binary = path.with_suffix(".pb").read_bytes()
    rows = [reference.rows_of(reference.decode(one, "run_metadata")) for one in (data, binary)]
    assert rows[0] == rows[1]


@pytest.mark.repeats("reads recordings that do not ship")
def test_figures_of_tfprof_come_out_to_the_unit() -> None:
    """micros = sum max(1, op_end_rel_micros) without _SOURCE, with both ends truncated to microseconds."""
    store = reference.decode(corpus.path("tf1/resnet14_ref/run_meta_0005.pb").read_bytes(), "run_metadata")
    origin = store.facts["origin_unix_ns"]
    runs = [row for row in store.rows("op_run") if row["op_name"] != "_SOURCE"]
    assert len(runs) == 916

    def micros(ps: int) -> int:
        return (origin * 1000 + ps) // 1_000_000

    assert sum(max(1, micros(row["op_end_ps"]) - micros(row["start_ps"])) for row in runs) == 39_309
    held = sum(row["persistent_bytes"] or 0 for row in runs)
    asked = sum((row["requested_bytes"] or 0) + (row["temp_bytes"] or 0) for row in runs)
    assert asked + held == 68_480_348
    assert sum(row["live_bytes"] or 0 for row in runs) + held == 68_159_484
    assert sum(row["output_bytes"] or 0 for row in runs) == 154_450_648


def test_lanes_are_lanes() -> None:
    store = reference.decode((SAMPLES / "two_servers.pb").read_bytes(), "run_metadata")
    assert {row["kind"] for row in store.rows("track")} == {"lane"}
    assert len(store.rows("device")) == 3
    assert {note["slug"]: note["events"] for note in store.facts["notes"]} == {"merged-devices": 3}
    last: dict[int, int] = {}
    for row in store.rows("slice"):
        assert row["ts_ps"] >= last.get(row["track_id"], row["ts_ps"])
        last[row["track_id"]] = row["ts_ps"] + row["dur_ps"]
        assert (row["depth"], row["parent_id"], row["self_ps"]) == (0, None, row["dur_ps"])


def test_arrows_cross_from_server_to_worker() -> None:
    store = reference.decode((SAMPLES / "two_servers.pb").read_bytes(), "run_metadata")
    slices = {row["id"]: row for row in store.rows("slice")}
    stations: dict[int, list[dict[str, Any]]] = {}
    for row in store.rows("flow"):
        stations.setdefault(row["flow_id"], []).append(row)
    through = 0
    for arrow in stations.values():
        assert [row["phase"] for row in arrow] in (["start", "end"], ["start", "step", "end"])
        for row in arrow:
            one = slices[row["slice_id"]]
            assert row["track_id"] == one["track_id"]
            assert one["ts_ps"] <= row["ts_ps"] <= one["ts_ps"] + one["dur_ps"]
        assert [row["ts_ps"] for row in arrow] == sorted(row["ts_ps"] for row in arrow)
        begin, end = slices[arrow[0]["slice_id"]], slices[arrow[-1]["slice_id"]]
        assert arrow[-1]["name"] in [name.lstrip("^") for name in json.loads(end["args_json"])["inputs"]]
        if len(arrow) == 3:
            through += 1
            passed = slices[arrow[1]["slice_id"]]
            assert passed["name"] == "RecvTensor"
            assert json.loads(passed["args_json"])["edge"].endswith(begin["name"])
        else:
            assert arrow[-1]["name"].split(":")[0] == begin["name"]
    # Seven tensors are received, one of them by two ops.
    assert through == 8


def arrows_of(message: Any) -> Counter[tuple[str, str, str]]:
    """Producer, consumer and input of each arrow, as names."""
    store = reference.decode(message.SerializeToString(), "run_metadata")
    slices = {row["id"]: f"{row['name']}@{row['ts_ps'] // 1_000_000}" for row in store.rows("slice")}
    flows = store.rows("flow") if "flow" in store.tables() else []
    begin = {row["flow_id"]: slices[row["slice_id"]] for row in flows if row["phase"] == "start"}
    ends = [row for row in flows if row["phase"] == "end"]
    return Counter((begin[row["flow_id"]], slices[row["slice_id"]], row["category"]) for row in ends)


def build(rows: list[tuple[str, int, int, str]], device: str = "/device:CPU:0", **more: Any) -> Any:
    """A RunMetadata of rows (name, start in us, duration in us, label)."""
    message = reference.RunMetadata()
    entry = message.step_stats.dev_stats.add(device=device)
    for name, start, dur, label in rows:
        entry.node_stats.add(
            node_name=name, all_start_micros=10**15 + start, all_end_rel_micros=dur, op_end_rel_micros=dur,
            timeline_label=label, **more,
        )  # fmt: skip
    return message


def test_a_loop_runs_its_nodes_again() -> None:
    rows = [("enter", 0, 1, "enter = Enter(x)")]
    for turn in range(3):
        at = 10 * turn
        rows += [
            ("merge", at + 2, 1, "merge = Merge(enter, next)"),
            ("body", at + 4, 1, "body = Mul(merge, merge, ^enter)"),
            ("next", at + 6, 1, "next = NextIteration(body)"),
        ]
    message = build(rows)
    assert arrows_of(message) == Counter(
        {
            ("enter@0", "merge@2", "DataFlow"): 1,
            ("next@6", "merge@12", "DataFlow"): 1,
            ("next@16", "merge@22", "DataFlow"): 1,
            **{(f"merge@{10 * i + 2}", f"body@{10 * i + 4}", "DataFlow"): 2 for i in range(3)},
            **{("enter@0", f"body@{10 * i + 4}", "Control"): 1 for i in range(3)},
            **{(f"body@{10 * i + 4}", f"next@{10 * i + 6}", "DataFlow"): 1 for i in range(3)},
        }
    )


def test_streams_launches_and_copies_of_a_gpu() -> None:
    message = build([("conv", 0, 5, "conv = Conv2D(x)")], "/job:w/device:GPU:0")
    for stream in ("all", "7"):
        entry = message.step_stats.dev_stats.add(device=f"/job:w/device:GPU:0/stream:{stream}")
        for start, name, label in (
            (3, "conv:Conv2D", "kernel"),
            (9, "x", "a@@copy:Cast#id=1#"),
            (20, "y:MEMCPYHtoD", "MEMCPYHtoD"),
        ):
            entry.node_stats.add(
                node_name=name, all_start_micros=10**15 + start, all_end_rel_micros=4, timeline_label=label
            )
    store = reference.decode(message.SerializeToString(), "run_metadata")
    tracks = {row["id"]: row for row in store.rows("track")}
    assert [(row["kind"], row["records"], row["name"]) for row in tracks.values()] == [
        ("lane", "dispatch", "lane 0"),
        ("device_stream", "execution", "stream:7"),
        ("derived", "execution", "stream:all"),
    ]
    assert [row["kind"] for row in store.rows("device")] == ["gpu"]
    kernels = [(row["op_name"], row["op_type"]) for row in store.rows("slice") if row["track_id"] == 1]
    assert kernels == [("conv", "Conv2D"), ("copy", "Cast"), ("y", "MEMCPYHtoD")]


def test_threads_are_threads_when_they_have_names() -> None:
    message = build([("a", 0, 5, "a = A()"), ("b", 1, 2, "b = B()")], thread_id=7)
    store = reference.decode(message.SerializeToString(), "run_metadata")
    assert [note["slug"] for note in store.facts["notes"]] == ["fake-thread-ids"]
    assert [row["kind"] for row in store.rows("track")] == ["lane", "lane"]
    assert {row["thread_id"] for row in store.rows("op_run")} == {None}
    message.step_stats.dev_stats[0].thread_names[7] = "worker"
    store = reference.decode(message.SerializeToString(), "run_metadata")
    assert store.facts["notes"] == []
    assert [(row["kind"], row["name"]) for row in store.rows("track")] == [("thread", "worker")]
    assert [(row["name"], row["depth"], row["self_ps"]) for row in store.rows("slice")] == [
        ("a", 0, 3_000_000),
        ("b", 1, 2_000_000),
    ]
    assert {row["thread_id"] for row in store.rows("op_run")} == {7}


def test_a_compiling_op_is_marked() -> None:
    store = reference.decode((SAMPLES / "xla_cluster.pb").read_bytes(), "run_metadata")
    assert [row["name"] for row in store.rows("marker")] == ["_XlaCompile"]


@each(
    "how",
    [
        {"as_one_line": True},
        {"pointy_brackets": True},
        {"use_short_repeated_primitives": True, "as_one_line": True},
        {"use_index_order": True},
        {"as_utf8": True},
    ],
)
def test_text_in_every_style(how: dict[str, Any]) -> None:
    message = reference.run_metadata((SAMPLES / "xla_cluster.pb").read_bytes())
    expected = reference.rows_of(reference.decode(message.SerializeToString(), "run_metadata"))
    text = reference.to_text(message, **how)
    assert run_metadata.sniff(text, "x")
    assert reference.rows_of(reference.decode(text, "run_metadata")) == expected


# What ours may say of a message that protobuf takes: it places executions in time, protobuf does not.
IN_TIME = {
    "no-start-time",
    "time-out-of-range",
    "negative-duration",
    "allocation-out-of-range",
    "moment-out-of-range",
}


def agree(data: bytes) -> bool:
    """Holds a mutant against protobuf: both read the same, or ours says that something is wrong."""
    bare = reference.parse(data, reference.StepStats)
    readings = [
        reference.parse(data, reference.RunMetadata),
        None if bare is None else reference.RunMetadata(step_stats=bare),
    ]
    accepted = [message for message in readings if message is not None]
    store = reference.outcome(data, "run_metadata")
    if store is None:
        assert not any(message.step_stats.dev_stats for message in accepted)
        return bool(accepted)
    bad = {note["slug"] for note in store.facts["notes"] if note["effect"] in ("lost", "missing", "repaired")}
    if not bad - IN_TIME:
        assert accepted
        if bad:
            assert store.facts["events_seen"] in [read(message).nodes_seen for message in accepted]
        elif store.facts["origin_unix_ns"] is not None or not store.tables()["slice"]:
            assert reference.reading(store) in [read(message) for message in accepted]
    return bool(accepted)


def test_executions_that_are_in_a_file_twice_count_once() -> None:
    data = (SAMPLES / "xla_cluster.pb").read_bytes()
    once, twice = (reference.decode(text, "run_metadata") for text in (data, 2 * data))
    assert [note["slug"] for note in twice.facts["notes"] if note["slug"].startswith("repeated")] == [
        "repeated-executions"
    ]
    assert twice.facts["events_seen"] == once.facts["events_seen"]
    assert reference.rows_of(twice)["slice"] == reference.rows_of(once)["slice"]


@pytest.mark.parametrize("name", ["input_only.pb", "input_only_step_stats.pb", "xla_cluster.pb"])
def test_cut_at_every_byte(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    accepted = sum(agree(data[:end]) for end in range(0, len(data), 1 + len(data) // cases(400, 2000)))
    assert accepted < len(data) / 10


def test_what_stood_before_a_cut_is_kept() -> None:
    data = (SAMPLES / "two_servers.pb").read_bytes()
    whole = reference.reading(reference.decode(data, "run_metadata"))
    seen = []
    for end in range(0, len(data), 97):
        store = reference.outcome(data[:end], "run_metadata")
        if store is not None:
            kept = reference.reading(store)
            assert not kept.slices - whole.slices
            assert not kept.edges - whole.edges
            seen.append(sum(kept.slices.values()))
    assert seen == sorted(seen)
    assert seen[-1] == 40


@pytest.mark.parametrize("name", ["input_only.pb", "xla_cluster.pb", "two_servers.pb"])
def test_flipped_bits(name: str) -> None:
    data = (SAMPLES / name).read_bytes()
    chance = random.Random(5)
    for _ in range(cases(150, 700)):
        mutant = bytearray(data)
        for _ in range(chance.choice((1, 1, 2, 5))):
            mutant[chance.randrange(len(mutant))] ^= 1 << chance.randrange(8)
        agree(bytes(mutant))


def test_flipped_bits_of_text() -> None:
    data = (SAMPLES / "xla_cluster.pbtxt").read_bytes()
    chance = random.Random(6)
    for _ in range(cases(100, 400)):
        mutant = bytearray(data)
        mutant[chance.randrange(len(mutant))] ^= 1 << chance.randrange(8)
        store = reference.outcome(bytes(mutant), "run_metadata")
        assert store is None or store.facts["events_seen"] <= 12


numbers = st.one_of(st.sampled_from(INT64), st.integers(-(10**7), 10**7), st.integers(-(2**63), 2**63 - 1))
starts = st.one_of(
    st.just(1795162654259848993), st.integers(1795162654259848993, 1795162657259848993), numbers
)


LABELS = ("", "a = Op(b, b:1, ^a)", "edge_1_a from x to y", "@@a:b#", "[x] b = Merge(a)")


@st.composite
def run_metadatas(draw: st.DrawFn) -> Any:
    """Any RunMetadata, with the extremes of every number."""
    message = reference.RunMetadata()
    for _ in range(draw(st.integers(0, 3))):
        device = message.step_stats.dev_stats.add(
            device=draw(st.sampled_from(("", "/job:a/device:CPU:0", "/device:GPU:0/stream:all")))
        )
        for _ in range(draw(st.integers(0, 4))):
            node = device.node_stats.add(
                node_name=draw(st.sampled_from(("", "a", "b_S1", "RecvTensor", "ü\n\""))),
                timeline_label=draw(st.sampled_from(LABELS)),
                all_start_nanos=draw(starts), all_end_rel_nanos=draw(numbers), scheduled_micros=draw(numbers),
                op_end_rel_micros=draw(numbers), thread_id=draw(st.integers(0, 2**32 - 1)),
            )  # fmt: skip
            if draw(st.booleans()):
                memory = node.memory.add(allocator_name="x", total_bytes=draw(numbers))
                memory.allocation_records.add(alloc_micros=draw(numbers), alloc_bytes=draw(numbers))
                memory.allocation_records.add(alloc_micros=1795162654259848, alloc_bytes=draw(numbers))
            if draw(st.booleans()):
                tensor = node.output.add(slot=draw(st.integers(-(2**31), 2**31 - 1))).tensor_description
                tensor.dtype = draw(st.sampled_from((0, 1, 101, 7777)))
                tensor.shape.dim.add(size=draw(numbers))
                tensor.allocation_description.ptr = draw(st.integers(0, 2**64 - 1))
    return message


def test_a_moment_beyond_64_bits_is_left_out() -> None:
    """Also where the microseconds, as nanoseconds, would be cut to the origin of all times."""
    message = reference.RunMetadata()
    node = message.step_stats.dev_stats.add().node_stats.add()
    node.scheduled_micros, node.all_start_nanos = 2**62, 2**63 - 1
    store = reference.decode(message.SerializeToString(), "run_metadata")
    assert [row["scheduled_ps"] for row in store.rows("op_run")] == [None]
    assert [note["slug"] for note in store.facts["notes"]] == ["moment-out-of-range"]


@settings(max_examples=cases(50, 250), deadline=None)
@given(run_metadatas())
def test_any_message(message: Any) -> None:
    agree(message.SerializeToString())
    data = message.SerializeToString()
    text = reference.to_text(message)
    if message.step_stats.dev_stats:
        ours, twin = (reference.decode(one, "run_metadata") for one in (data, text))
        assert reference.rows_of(ours) == reference.rows_of(twin)


ADDRESSES = (1, 2**63 - 1, 2**63, 2**64 - 1)


@pytest.mark.parametrize("address", some(ADDRESSES, (1, 2**64 - 1), "on the same side of the sign"))
def test_an_address_keeps_its_bits(address: int, tmp_path: Path) -> None:
    """As a signed number, in the store and in a lake: unsigned ones are no type of Spark's or BigQuery's."""
    message = build([("op", 0, 10, "op = Op()")])
    output = message.step_stats.dev_stats[0].node_stats[0].output.add(slot=0)
    output.tensor_description.allocation_description.ptr = address
    (row,) = reference.decode(message.SerializeToString(), "run_metadata").rows("tensor")
    assert row["address"] % 2**64 == address
    assert -(2**63) <= row["address"] < 2**63
    (tmp_path / "run_meta_1.pb").write_bytes(message.SerializeToString())
    stepscope.ingest([tmp_path / "run_meta_1.pb"], tmp_path / "lake")
    for path in ("run_meta_1.pb", "lake"):
        assert ask(tmp_path / path, "SELECT address FROM tensor") == [(row["address"],)]


def test_hostile_files_end_in_an_error_or_a_note() -> None:
    nested = b"\x0a\x80\x80\x80\x80\x08" * 5000
    for data in (
        b"",
        b"\x00",
        b"\xff" * 100,
        nested,
        b"\x0a" * 1000,
        b"step_stats {" * 10_000,
        b"step_stats { dev_stats {",
    ):
        store = reference.outcome(data, "run_metadata")
        assert store is None or reference.flagged(store)
    far = build([("a", 0, 5, "a = A()")])
    for start in (1, 2**62, 2**63 - 1):
        far.step_stats.dev_stats[0].node_stats.add(
            node_name="far", all_start_nanos=start, all_end_rel_nanos=2**63 - 1
        )
    store = reference.outcome(far.SerializeToString(), "run_metadata")
    assert store.facts["events_lost"] >= 3


def test_fewer_needs_give_the_same_slices() -> None:
    data = (SAMPLES / "two_servers.pb").read_bytes()
    whole = reference.decode(data, "run_metadata")
    plain = _core.decode("run_metadata", _core.Input.bytes(data), needs=["nesting"])
    assert set(plain.tables()) <= {"slice", "track", "device", "marker"}
    assert [{**row, "args_json": None} for row in whole.rows("slice")] == plain.rows("slice")
