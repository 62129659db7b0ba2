"""Event files against an independent reading of their records."""

import json
import random
import struct
from collections import Counter
from pathlib import Path

import pytest

from stepscope.formats import HEAD_BYTES, event_file, graph, run_metadata
from stepscope.report import summary
from stepscope.session import trace
from tests import corpus
from tests.formats import reference_step_stats as reference
from tests.later import proto
from tests.tiers import cases

event_pb2 = proto("core.util.event_pb2")
SAMPLE = next((corpus.SAMPLES / "event_file").glob("events.*"))


def files() -> list[Path]:
    return [SAMPLE, *corpus.files("**/*.tfevents.*")]


def crc32c(data: bytes) -> int:
    """By polynomial division, bit by bit, as an independent check."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    frame = struct.pack("<Q", len(data))
    return frame + struct.pack("<I", masked(frame)) + data + struct.pack("<I", masked(data))


def records(data: bytes) -> list[bytes]:
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        found.append(data[at + 12 : at + 12 + length])
        at += 16 + length
    return found


def read(data: bytes) -> tuple[reference.Reading, list[tuple[str, int]]]:
    """What the file holds, and its marks."""
    into, marks = reference.Reading(), []
    given: Counter[str] = Counter()

    def run(tag: str, step: int, data: bytes) -> None:
        message = reference.run_metadata(data)
        reference.add_run_metadata(into, message, f"{tag}/")
        if message.step_stats.dev_stats:
            digits = tag[len(tag.rstrip("0123456789")) :]
            marks.append((tag, int(digits) if digits else step))

    def name(base: str) -> str:
        given[base] += 1
        return base if given[base] == 1 else f"{base}/{given[base] - 1}"

    for one in records(data):
        event = event_pb2.Event.FromString(one)
        what = event.WhichOneof("what")
        if what == "graph_def":
            reference.add_graph(into, reference.GraphDef.FromString(event.graph_def), name("graph"))
        elif what == "meta_graph_def":
            meta = reference.MetaGraphDef.FromString(event.meta_graph_def)
            reference.add_graph(into, meta.graph_def, name("meta/graph"))
        elif what == "tagged_run_metadata":
            run(event.tagged_run_metadata.tag, event.step, event.tagged_run_metadata.run_metadata)
        elif what == "summary":
            for value in event.summary.value:
                if value.metadata.plugin_data.plugin_name in (
                    "graph_run_metadata",
                    "graph_run_metadata_graph",
                ):
                    run(value.tag, event.step, value.tensor.string_val[0])
    return into, marks


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_row_is_as_tensorflow_reads_it(path: Path) -> None:
    data = path.read_bytes()
    expected, marks = read(data)
    store = reference.decode(data, "event_file")
    assert reference.reading(store) == expected
    assert store.facts["events_stored"] == expected.nodes_seen
    assert not reference.flagged(store)
    assert int(store.facts["meta"]["records"]) == len(records(data))
    found = [(row["name"], row["step"]) for row in store.rows("marker")] if "marker" in store.tables() else []
    assert sorted(found) == sorted(marks)
    assert [m.sniff(data[:HEAD_BYTES], "x") for m in (event_file, graph, run_metadata)] == [
        True,
        False,
        False,
    ]


def test_steps_are_told_apart() -> None:
    store = reference.decode(SAMPLE.read_bytes(), "event_file")
    marks = {row["name"]: row for row in store.rows("marker")}
    assert {name: row["step"] for name, row in marks.items()} == {"step_5": 5, "step_10": 10}
    tracks = {row["id"]: row for row in store.rows("track")}
    for row in store.rows("slice"):
        tag = tracks[row["track_id"]]["process"].partition("[")[2].rstrip("]")
        mark = marks[tag]
        assert mark["ts_ps"] <= row["ts_ps"] <= row["ts_ps"] + row["dur_ps"] <= mark["ts_ps"] + mark["dur_ps"]
    # An arrow never leaves its step.
    processes: dict[int, set[str]] = {}
    for row in store.rows("flow"):
        processes.setdefault(row["flow_id"], set()).add(tracks[row["track_id"]]["process"])
    assert all(len(one) == 1 for one in processes.values())
    assert len(processes) == len(store.rows("flow")) / 2


def test_a_file_of_scalars_says_so() -> None:
    events = [event_pb2.Event(wall_time=1.5, file_version="brain.Event:2")]
    events += [event_pb2.Event(wall_time=2.5, step=i) for i in range(3)]
    for event in events[1:]:
        event.summary.value.add(tag="loss", simple_value=0.5)
    data = b"".join(record(event.SerializeToString()) for event in events)
    assert event_file.sniff(data, "x")
    store = reference.decode(data, "event_file")
    (note,) = store.facts["notes"]
    assert note["slug"] == "no-trace-in-events"
    assert "1 file_version, 3 summary scalar" in note["detail"]
    assert store.tables()["slice"] == 0


def test_a_file_of_a_graph_is_no_empty_recording(tmp_path: Path) -> None:
    """As a FileWriter of TensorFlow 1 writes it: there is no trace, and the graph can be looked at."""
    events = [event_pb2.Event(wall_time=1.5, file_version="brain.Event:2")]
    drawn = proto("core.framework.graph_pb2").GraphDef()
    drawn.node.add(name="a", op="Placeholder")
    drawn.node.add(name="b", op="Relu", input=["a"])
    events.append(event_pb2.Event(wall_time=2.5, graph_def=drawn.SerializeToString()))
    path = tmp_path / "events.out.tfevents.1525112815.host"
    path.write_bytes(b"".join(record(event.SerializeToString()) for event in events))
    with trace.open(path, cache=False) as opened:
        told = summary.build(opened)
    said = "2 records with a graph and no run metadata: 1 file_version, 1 graph_def"
    assert told.headline == (f"No trace is in {path.name}: {said}.",)
    assert told.next_commands == (f"stepscope graph {path}",)


def test_a_graph_without_nodes_is_no_missing_graph(tmp_path: Path) -> None:
    """As a FileWriter writes it that was given the graph before anything was in it."""
    empty = proto("core.framework.graph_pb2").GraphDef()
    empty.versions.producer = 134
    events = [event_pb2.Event(wall_time=1.5, file_version="brain.Event:2")]
    events.append(event_pb2.Event(wall_time=2.5, graph_def=empty.SerializeToString()))
    (note,) = reference.decode(b"".join(record(e.SerializeToString()) for e in events), "event_file").facts[
        "notes"
    ]
    said = "2 records with a graph that has no nodes, and no run metadata: 1 file_version, 1 graph_def"
    assert (note["slug"], note["detail"]) == ("no-trace-in-events", said)


@pytest.mark.repeats("reads recordings that do not ship")
def test_a_file_of_a_keras_model_keeps_its_configuration() -> None:
    path = corpus.path("events/keras_tensorboard/train/events.out.tfevents.1795165230.vm.23083.0.v2")
    facts = reference.decode(path.read_bytes(), "event_file").facts
    assert [note["slug"] for note in facts["notes"]] == ["no-trace-in-events"]
    assert json.loads(facts["meta"]["keras_model.keras"])["class_name"] == "Sequential"


def test_summaries_beside_run_metadata_are_counted(tmp_path: Path) -> None:
    """An event (time 1, step 2) with a Summary (5) of one value: its tag (1) and a scalar (2)."""
    value = b"\x0a\x04loss\x15" + struct.pack("<f", 1)
    summary_of_one = b"\x0a" + bytes([len(value)]) + value
    scalar = b"\x10\x07\x2a" + bytes([len(summary_of_one)]) + summary_of_one
    path = tmp_path / "events.out.tfevents.1.vm"
    path.write_bytes(SAMPLE.read_bytes() + 3 * record(scalar))
    with trace.open(path, cache=False) as opened:
        asked = "SELECT events, detail FROM source_note WHERE slug = 'summaries-unread'"
        ((events, detail),) = opened.query(asked).rows()
    assert events == 3
    assert detail == "summaries among the 6 records are not read: 3 scalar values"


def test_the_same_tag_twice_is_two_steps() -> None:
    one = next(data for data in records(SAMPLE.read_bytes()) if b"step_5" in data)
    other = one.replace(b"_SOURCE", b"_SOURCF")
    store = reference.decode(record(one) + record(other), "event_file")
    assert [row["name"] for row in store.rows("marker")] == ["step_5", "step_5#2"]
    assert store.facts["events_stored"] == 58
    again = reference.decode(record(one) * 2, "event_file")
    assert [row["name"] for row in again.rows("marker")] == ["step_5"]
    assert (again.facts["events_stored"], again.facts["events_seen"]) == (29, 29)


def test_cut_at_every_byte() -> None:
    data = SAMPLE.read_bytes()
    ends, at = [0], 0
    for one in records(data):
        at += 16 + len(one)
        ends.append(at)
    for end in sorted(
        {
            *range(0, len(data), 31),
            *(at for near in ends for at in range(max(0, near - 20), min(len(data), near + 20))),
        }
    ):
        store = reference.outcome(data[:end], "event_file")
        whole = sum(1 for boundary in ends[1:] if boundary <= end)
        if store is not None:
            assert store.facts["events_stored"] == {0: 0, 1: 0, 2: 29, 3: 58}[whole]
            assert reference.flagged(store) or end in ends
        else:
            assert whole == 0


def test_flipped_bits_are_found_by_their_checksum() -> None:
    data = SAMPLE.read_bytes()
    whole = reference.reading(reference.decode(data, "event_file"))
    chance = random.Random(8)
    for _ in range(cases(150, 500)):
        mutant = bytearray(data)
        mutant[chance.randrange(len(mutant))] ^= 1 << chance.randrange(8)
        store = reference.outcome(bytes(mutant), "event_file")
        if store is not None:
            assert reference.flagged(store)
            assert not reference.reading(store).slices - whole.slices


def test_damaged_data_loses_its_record_only() -> None:
    data = bytearray(SAMPLE.read_bytes())
    data[len(record(records(bytes(data))[0])) + 500] ^= 4
    store = reference.outcome(bytes(data), "event_file")
    assert store.facts["events_stored"] == 29
    assert {note["slug"]: note["events"] for note in store.facts["notes"] if note["effect"] == "lost"} == {
        "record-checksum": 1
    }


def test_a_length_from_nowhere_takes_no_memory() -> None:
    frame = struct.pack("<Q", 2**63)
    data = SAMPLE.read_bytes() + frame + struct.pack("<I", masked(frame)) + b"x" * 100
    store = reference.outcome(data, "event_file")
    assert store.facts["events_stored"] == 58
    assert reference.flagged(store)
