"""Profiles, read back with a reader of profile.proto that shares nothing with the writer."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import _core
from stepscope.cli import main
from stepscope.exporters.stack_tree import StackTimes
from stepscope.session.trace import OpenTrace
from stepscope.session.trace import open as open_trace
from tests import corpus

pytest.importorskip("google.protobuf", reason="protobuf's own parser is the reference")

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from tests.tiers import cases


def _profile_class() -> Any:
    """Profile as far as it is written, declared here from the published profile.proto."""
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package="perftools", syntax="proto3")
    kinds = {"n": 3, "u": 4, "s": 9}
    tables = {
        "ValueType": [("type", 1, "n", 0), ("unit", 2, "n", 0)],
        "Label": [("key", 1, "n", 0), ("str", 2, "n", 0), ("num", 3, "n", 0)],
        "Sample": [("location_id", 1, "u", 1), ("value", 2, "n", 1), ("label", 3, "Label", 1)],
        "Line": [("function_id", 1, "u", 0), ("line", 2, "n", 0)],
        "Location": [("id", 1, "u", 0), ("address", 3, "u", 0), ("line", 4, "Line", 1)],
        "Function": [("id", 1, "u", 0), ("name", 2, "n", 0), ("system_name", 3, "n", 0)],
        "Profile": [
            ("sample_type", 1, "ValueType", 1),
            ("sample", 2, "Sample", 1),
            ("location", 4, "Location", 1),
            ("function", 5, "Function", 1),
            ("string_table", 6, "s", 1),
            ("time_nanos", 9, "n", 0),
            ("duration_nanos", 10, "n", 0),
            ("default_sample_type", 14, "n", 0),
        ],
    }
    for name, fields in tables.items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeated in fields:
            made = message.field.add(name=field, number=number, label=3 if repeated else 1)
            if kind in kinds:
                made.type = kinds[kind]
            else:
                made.type, made.type_name = 11, f".perftools.{kind}"
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("perftools.Profile"))


PROFILE = _profile_class()


def stacks_of(data: bytes) -> Counter[tuple[tuple[str, ...], str]]:
    """Self nanoseconds by stack (outermost first) and track; checks that all references hold."""
    read = PROFILE.FromString(data)
    text = list(read.string_table)
    assert text[0] == ""
    assert [(text[kind.type], text[kind.unit]) for kind in read.sample_type] == [
        ("slices", "count"),
        ("self", "nanoseconds"),
    ]
    assert text[read.default_sample_type] == "self"
    functions = {one.id: text[one.name] for one in read.function}
    locations = {one.id: functions[one.line[0].function_id] for one in read.location}
    assert 0 not in locations
    found: Counter[tuple[tuple[str, ...], str]] = Counter()
    for sample in read.sample:
        labels = {text[label.key]: text[label.str] for label in sample.label}
        stack = tuple(locations[number] for number in reversed(sample.location_id))
        found[stack, labels.get("track", "")] += sample.value[1]
    return found


def twin(trace: OpenTrace) -> Counter[tuple[tuple[str, ...], str]]:
    """The same by following parent_id."""
    rows = trace.query(
        "SELECT s.id, s.parent_id, s.name, s.self_ps, t.name FROM slice s JOIN track t ON t.id = s.track_id"
    ).rows()
    by_id = {row[0]: row for row in rows}
    sums: Counter[tuple[tuple[str, ...], str]] = Counter()
    per_track: Counter[Any] = Counter()
    tracks = dict(trace.query("SELECT id, track_id FROM slice").rows())
    for row in rows:
        stack, at = [], row
        while at is not None:
            stack.append(at[2])
            at = by_id.get(at[1])
        per_track[tuple(reversed(stack)), row[4], tracks[row[0]]] += row[3]
    for (stack_, track, _), self_ps in per_track.items():
        sums[stack_, track] += self_ps // 1000
    return sums


@pytest.mark.parametrize(
    "name",
    [
        "chrome/kineto.json.gz",
        "chrome/phases.json",
        "tf_data/map_py_function.xplane.pb",
        "run_metadata/xla_cluster.pb",
    ],
)
def test_stacks_are_those_of_the_parents(name: str, tmp_path: Path) -> None:
    recording = corpus.SAMPLES / name
    out = tmp_path / "p.pb.gz"
    assert main(["export", "--no-cache", str(recording), "-o", str(out)]) == 0
    with open_trace(recording, cache=False) as trace:
        wanted = twin(trace)
        total = trace.query("SELECT sum(self_ps) FROM slice").rows()[0][0]
    found = stacks_of(gzip.decompress(out.read_bytes()))
    assert found == wanted
    assert abs(sum(found.values()) * 1000 - total) <= 1000 * len(found)


def test_plain_and_stdout(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    recording = str(corpus.SAMPLES / "chrome" / "phases.json")
    out = tmp_path / "p.pprof"
    assert main(["export", recording, "-o", str(out)]) == 0
    capsysbinary.readouterr()
    assert main(["export", recording, "-o", "-", "--to", "pb"]) == 0
    assert capsysbinary.readouterr().out == out.read_bytes()


def test_only_slices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = str(corpus.SAMPLES / "chrome" / "phases.json")
    assert main(["export", recording, "-o", str(tmp_path / "p.pb"), "--table", "track"]) == 2
    assert "made of slices" in capsys.readouterr().err


@st.composite
def nested(draw: st.DrawFn) -> list[tuple[int, int, str, int]]:
    rows = []
    for track in range(draw(st.integers(0, 3))):
        depth = -1
        for _ in range(draw(st.integers(0, 8))):
            depth = draw(st.integers(0, depth + 1))
            rows.append((track, depth, draw(st.sampled_from("abc")), draw(st.integers(0, 9))))
    return rows


@settings(max_examples=cases(30, 200))
@given(nested(), st.integers(1, 5))
def test_batches_do_not_matter(rows: list[tuple[int, int, str, int]], size: int) -> None:
    whole, pieces = StackTimes(), StackTimes()
    whole.add(rows)
    for at in range(0, len(rows), size):
        pieces.add(rows[at : at + size])
    assert (whole.nodes, whole.values) == (pieces.nodes, pieces.values)
    assert sum(value[1] for value in whole.values.values()) == sum(row[3] for row in rows)
    assert sum(value[0] for value in whole.values.values()) == len(rows)


@pytest.mark.parametrize(
    ("names", "stacks", "samples"),
    [
        (["a"], [(0, 0)], []),
        (["a"], [(-1, 0), (2, 0), (-1, 0)], []),
        (["a"], [(-1, 0)], [(1, [1], [])]),
        (["a"], [(-1, 1)], []),
        (["a"], [(-1, -1)], []),
    ],
)
def test_numbers_that_are_not_there_are_refused(names: Any, stacks: Any, samples: Any) -> None:
    with pytest.raises((ValueError, OverflowError)):
        _core.pprof([("self", "count")], names, stacks, samples, default="self")


def test_an_empty_trace(tmp_path: Path) -> None:
    recording = tmp_path / "t.json"
    recording.write_text(json.dumps({"traceEvents": [{"ph": "i", "name": "x", "ts": 1, "pid": 1, "tid": 1}]}))
    out = tmp_path / "p.pb"
    assert main(["export", "--no-cache", str(recording), "-o", str(out)]) == 0
    assert not stacks_of(out.read_bytes())
