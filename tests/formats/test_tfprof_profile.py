"""Profiles of tfprof: the rows of the RunMetadata that they were made of, and those of TensorFlow's own."""

import gzip
import shutil
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import _core
from stepscope.errors import StepscopeError
from stepscope.formats import HEAD_BYTES, recognise
from stepscope.formats.models.place import ModelPlace
from stepscope.instruments.tfprof import TfprofModel
from tests.corpus import SAMPLES
from tests.later import proto

PROFILES = SAMPLES / "tfprof"
RESNET = SAMPLES / "tf1" / "resnet32"
CPU = "/job:localhost/replica:0/task:0/device:cpu:0"
GPU = SAMPLES / "run_metadata" / "gpu_sparse.pb"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))


def plain(path: Path, folder: Path) -> Path:
    """The file, unpacked into a folder."""
    folder.mkdir(exist_ok=True)
    data = path.read_bytes()
    target = folder / path.name.removesuffix(".gz")
    target.write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
    return target


def write_profile(run: Path, graph: Path | None, target: Path) -> Path:
    """What tfprof saves of a run and its graph. Held against TensorFlow's in test_tfprof_profile.py of the
    instruments."""
    made_of = None if graph is None else ModelPlace.of_file(str(graph))
    model = TfprofModel(graph=made_of, run_metadata=[ModelPlace.of_file(str(run))])
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(model.profile())
    return target


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    return stepscope.open(str(path)).query(sql).rows()


RUNS = """
SELECT r.op_name, r.start_ps - MIN(r.start_ps) OVER (), GREATEST(r.op_end_ps - r.start_ps, 1000000)
FROM op_run AS r
INNER JOIN slice AS s ON s.id = r.slice_id
INNER JOIN track AS t ON t.id = s.track_id
WHERE r.op_name NOT IN ('_SOURCE', '_SINK') AND NOT contains(t.process, 'memcpy')
ORDER BY ALL
"""


def test_runs_are_those_that_it_was_made_of(tmp_path: Path) -> None:
    run = plain(RESNET / "run_meta.gz", tmp_path / "run")
    graph = plain(RESNET / "graph.pbtxt.gz", tmp_path)
    profile = write_profile(run, graph, tmp_path / "profile" / "profile_3")
    found, expected = rows(profile, RUNS), rows(run, RUNS)
    in_both = {row[0] for row in found}
    # tfprof calls a node without what stands behind its colon.
    wanted = [row for row in expected if row[0] in in_both]
    assert len(in_both) > 1000
    first = min(row[1] for row in wanted)
    assert found == [(name, start - first, lasted) for name, start, lasted in wanted]


def test_bytes_are_those_that_it_says() -> None:
    messages = proto("core.profiler.tfprof_log_pb2")
    message = messages.ProfileProto.FromString((PROFILES / "profile_5").read_bytes())
    held = [
        held
        for node in message.nodes.values()
        for of_step in node.execs.values()
        for held in of_step.memory_execs
    ]
    outputs = [output for execution in held for output in execution.output_memory.values()]
    expected = (
        sum(execution.requested_bytes for execution in held),
        sum(execution.peak_bytes for execution in held),
        sum(execution.residual_bytes for execution in held),
    )
    sums = "SELECT SUM(requested_bytes), SUM(peak_bytes), SUM(live_bytes) FROM op_run"
    assert expected[0] > 0
    assert rows(PROFILES / "profile_5", sums) == [expected]
    tensors = "SELECT COUNT(*), SUM(allocated_bytes) FROM tensor"
    assert rows(PROFILES / "profile_5", tensors) == [(len(outputs), sum(output.bytes for output in outputs))]


def test_ops_have_the_types_inputs_and_attributes_of_their_graph(tmp_path: Path) -> None:
    run = plain(RESNET / "run_meta.gz", tmp_path / "run")
    graph = plain(RESNET / "graph.pbtxt.gz", tmp_path)
    profile = write_profile(run, graph, tmp_path / "profile" / "profile_3")
    nodes = "SELECT name, op_type FROM node WHERE name NOT LIKE 'function/%' ORDER BY ALL"
    assert rows(profile, nodes) == rows(graph, nodes)
    edges = "SELECT DISTINCT producer, consumer FROM edge ORDER BY ALL"
    assert rows(profile, edges) == rows(graph, edges)
    typed = """
SELECT COUNT(*) FROM op_run AS r INNER JOIN node AS n ON n.name = r.op_name AND n.op_type <> r.op_type
"""
    assert rows(profile, typed) == [(0,)]


def test_an_accelerator_is_as_busy_as_in_what_it_was_made_of(tmp_path: Path) -> None:
    run = plain(GPU, tmp_path / "run")
    profile = write_profile(run, None, tmp_path / "profile" / "profile_3")
    busy = """
SELECT d.name, SUM(s.dur_ps) FROM slice AS s
INNER JOIN track AS t ON t.id = s.track_id
INNER JOIN device AS d ON d.id = t.device_id
WHERE contains(t.origin, 'stream:all') GROUP BY d.name ORDER BY ALL
"""
    assert rows(run, busy)
    assert [row[1] for row in rows(profile, busy)] == [row[1] for row in rows(run, busy)]


def test_profiles_of_a_program_count_each_step_once() -> None:
    trace = stepscope.open(str(PROFILES))
    assert trace.query("SELECT step FROM step ORDER BY step").rows() == [(3,), (4,), (5,)]
    assert trace.query("SELECT path FROM source").rows() == [(str(PROFILES / "profile_5"),)]
    ((slug, detail),) = trace.query("SELECT slug, detail FROM source_note").rows()
    assert (slug, detail) == ("same-capture", "profile_4: the same recording, not read again")
    assert trace.query("SELECT process, name FROM track ORDER BY id").rows() == [
        (CPU, "lane 0"),
        (CPU, "lane 1"),
    ]
    answer = str(trace.answer)
    assert "Conv2DBackpropFilter" in answer
    assert "train.py:6 `model`" in answer


def test_a_step_that_is_kept_as_run_metadata_too_counts_once(tmp_path: Path) -> None:
    run = plain(SAMPLES / "tf1" / "session" / "run_meta_4.pb.gz", tmp_path)
    write_profile(run, None, tmp_path / "profile_9")
    assert rows(tmp_path, "SELECT format FROM source") == [("run_metadata",)]
    plain(SAMPLES / "tf1" / "session" / "run_meta_6.pb.gz", tmp_path)
    assert rows(tmp_path, "SELECT COUNT(*) FROM step") == [(2,)]


@pytest.mark.repeats("lake/test_lake.py compares them for every table")
def test_lines_of_a_lake_are_those_of_the_profile(tmp_path: Path) -> None:
    lines = "SELECT op_name, file, line, function FROM op_line ORDER BY ALL"
    stepscope.ingest([str(PROFILES)], tmp_path / "lake")
    with stepscope.open(lake=tmp_path / "lake") as lake:
        assert lake.query(lines).rows() == rows(PROFILES, lines)
        assert not lake.query("SELECT slug FROM source_note WHERE slug LIKE 'op-log%'").rows()


def test_cut_and_changed_bytes_end_in_a_result_or_an_error_of_ours(tmp_path: Path) -> None:
    data = (PROFILES / "profile_4").read_bytes()
    claimed = recognise(data[:HEAD_BYTES], "x")
    assert claimed.NAME == "tfprof_profile"
    damaged = [data[:length] for length in range(2000, len(data), 16001)]
    for at in range(40, len(data), 9001):
        damaged.append(data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :])
    for number, found in enumerate(damaged):
        path = tmp_path / f"profile_{number}"
        path.write_bytes(found)
        try:
            store = _core.decode("tfprof_profile", _core.Input.bytes(found), None)
        except _core.CoreError:
            continue
        facts = store.facts
        assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]
        with_notes = {note["slug"] for note in facts["notes"]}
        assert len(found) == len(data) or with_notes, "nothing says that the end is missing"
    shutil.copy(PROFILES / "profile_4", tmp_path / "whole")
    with pytest.raises(StepscopeError):
        stepscope.open(str(tmp_path / "nothing"))
