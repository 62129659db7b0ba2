"""`stepscope record` on five programs that nobody edited: they end as they would, and are recorded whole.

They are started as they are, with real TensorFlow and JAX, once alone and once recorded.
"""

import gzip
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from tests.asked import ask
from tests.capture.launching import PROGRAMS, facts, lines, record, run
from tests.later import installed, proto
from tests.tiers import some

NAMES = ("tf1_session", "tf1_callable", "tf1_monitored", "tf2_loop", "keras_fit", "jax_loop")
HOW = {
    "tf1_session": "session_run",
    "tf1_callable": "session_run",
    "tf1_monitored": "session_run",
    "tf2_loop": "function_call",
    "keras_fit": "keras_batch",
    "jax_loop": "jax",
}
STEPS = 8
RESOURCE = 20
"""The type of a handle, as types.proto numbers it."""
KINDS = {
    "xplane": ("tsl.profiler.protobuf.xplane_pb2", "XSpace"),
    "run_metadata": ("core.protobuf.config_pb2", "RunMetadata"),
    "graph": ("core.framework.graph_pb2", "GraphDef"),
    "partition_graph": ("core.framework.graph_pb2", "GraphDef"),
    "op_log": ("core.profiler.tfprof_log_pb2", "OpLogProto"),
    "model": ("core.framework.model_pb2", "ModelProto"),
}
"""Modules of TensorFlow and their messages."""


def both(name: str, python: str, folder: Path) -> dict[str, Any]:
    """Runs a program alone and recorded; what the capture says."""
    program = PROGRAMS / f"{name}.py"
    plain = run(python, program, cwd=folder)
    assert plain.returncode == 0, plain.stderr
    recorded = record("--out", "out", "--steps", str(STEPS), "--", python, program, cwd=folder)
    assert recorded.returncode == 0, recorded.stderr
    # Losses of all steps and the final weights, to the last bit.
    assert recorded.stdout == plain.stdout
    assert f"stepscope: recorded {STEPS} steps of " in recorded.stderr
    return facts(folder / "out")


@pytest.mark.parametrize("name", some(NAMES, ("tf1_session", "jax_loop"), "each runs a framework twice"))
def test_program(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    installed("jax" if name == "jax_loop" else "tensorflow")
    told = both(name, sys.executable, tmp_path)
    out = tmp_path / "out"
    assert told["format"] == 1
    assert told["recorded"]["steps"] == STEPS
    if name == "tf1_monitored":
        # It traces every ninth step by itself; the recording steps aside and goes on.
        assert [session.get("cut") for session in told["sessions"]] == ["a run that the program traced", None]
    else:
        assert told["recorded"]["sessions"] == len(told["sessions"]) == 1
    assert told["exit"] == {"code": 0, "signal": None, "error": None}
    assert told["devices"]
    assert told["cores"] == len(os.sched_getaffinity(0))
    assert all(isinstance(ns, int) for ns in told["cost"].values())
    whole(out, told)
    steps_of(out, told, HOW[name])
    if name.startswith("tf1"):
        session(out, told)
    elif name != "jax_loop":
        eager(out, told, name)
    else:
        # The recorder is between the program and JAX; no op is said to be made in it.
        made = "SELECT DISTINCT parse_filename(file) AS file FROM hlo_instruction WHERE file IS NOT NULL"
        assert ask(out, made) == [("jax_loop.py",)]
        capsys.readouterr()
        assert main(["memory", str(out / "device_memory.pb.gz"), "--format", "json"]) == 0
        held = json.loads(capsys.readouterr().out)
        lines = [holder["name"] for holder in held["allocators"][0]["at_peak"]["by_code"]]
        assert lines
        assert all("jax_loop.py:" in line for line in lines)
    capsys.readouterr()
    assert main(["--no-cache", str(out)]) == 0
    summary = capsys.readouterr().out
    assert "Recording" in summary
    assert "step" in summary.splitlines()[0]


def whole(out: Path, told: dict[str, Any]) -> None:
    """Every file is listed and every listed file can be read with public protos."""
    files = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert files == {"capture.json", *(file["path"] for file in told["files"])}
    for file in told["files"]:
        path = out / file["path"]
        if file["kind"] in ("steps", "machine", "garbage", "models", "stacks", "compilations", "memory"):
            assert lines(path)
        elif file["kind"] == "device_memory":
            assert gzip.decompress(path.read_bytes())
        elif file["kind"] != "datasets":
            from google.protobuf.unknown_fields import UnknownFieldSet

            message = parsed(file["kind"], path.read_bytes())
            assert message.ByteSize()
            assert len(UnknownFieldSet(message)) == 0
    for sample in lines(out / "machine.ndjson"):
        assert len(sample["cores"]) == os.cpu_count()
        assert all(0 <= share <= 1 for share in sample["cores"])
        assert sample["rss_bytes"] > 10 << 20


def parsed(kind: str, data: bytes) -> Any:
    """A file of a kind, read by TensorFlow's own classes."""
    module, name = KINDS[kind]
    return getattr(proto(module), name).FromString(data)


def steps_of(out: Path, told: dict[str, Any], how: str) -> None:
    """Steps are in order, and the recorded ones within their session."""
    rows = lines(out / "steps.ndjson")
    assert [row["step"] for row in rows] == list(range(len(rows)))
    assert {row["how"] for row in rows} == {how}
    assert all(row["begin_unix_ns"] <= row["call_unix_ns"] <= row["end_unix_ns"] for row in rows)
    recorded = [row for row in rows if row["recorded"]]
    assert len(recorded) == STEPS
    assert recorded[0]["step"] >= told["plan"]["warmup"]
    for session in told["sessions"]:
        mine, recorded = recorded[: session["steps"]], recorded[session["steps"] :]
        assert mine[0]["step"] == session["first_step"]
        assert mine[0]["begin_unix_ns"] >= session["begin_unix_ns"]
        assert mine[-1]["end_unix_ns"] <= session["end_unix_ns"]
    assert not recorded


@pytest.mark.repeats("each starts TensorFlow twice")
@pytest.mark.parametrize(("warmup", "behind"), [("3", 30), ("20", 0)])
def test_steps_behind_a_short_warm_up(warmup: str, behind: int, tmp_path: Path) -> None:
    """They tell what tracing cost the pipeline; after a long warm-up those before it do. Stacks are looked at
    for a while after either."""
    installed("tensorflow")
    program = [sys.executable, PROGRAMS / "tf2_loop.py", "100"]
    plain = run(*program, cwd=tmp_path)
    recorded = record("--out", "out", "--steps", "8", "--warmup", warmup, "--", *program, cwd=tmp_path)
    assert (recorded.returncode, recorded.stdout) == (0, plain.stdout)
    told = facts(tmp_path / "out")
    flags = [row["recorded"] for row in lines(tmp_path / "out" / "steps.ndjson")]
    before = flags.index(True)
    assert before >= int(warmup)
    assert flags[before : before + 8] == [True] * 8
    assert flags.count(True) == 8
    assert len(flags) >= before + 8 + behind
    assert told["recorded"] == {"steps": 8, "sessions": 1}
    assert told["ended_unix_ns"] >= told["sessions"][0]["end_unix_ns"]
    assert not told["problems"]


def session(out: Path, told: dict[str, Any]) -> None:
    """TensorFlow 1: traced runs beside the XPlane, the graph, and why there is no model."""
    traced = [row["step"] for row in lines(out / "steps.ndjson") if row.get("run_metadata")]
    assert [file["step"] for file in told["files"] if file["kind"] == "run_metadata"] == traced
    assert len(traced) == 3
    metadata = parsed("run_metadata", (out / f"run_metadata/step_{traced[0]}.pb").read_bytes())
    assert sum(len(device.node_stats) for device in metadata.step_stats.dev_stats) > 5
    assert len(metadata.partition_graphs) == len(list(out.glob(f"graphs/partition_{traced[0]}_*.pb"))) > 0
    log = parsed("op_log", (out / "op_log.pb").read_bytes())
    trainable = [entry.name for entry in log.log_entries if "_trainable_variables" in entry.types]
    assert trainable == ["w"]
    product = next(entry for entry in log.log_entries if entry.name == "MatMul")
    assert product.float_ops > 0
    places = {log.id_to_string[trace.file_id] for trace in product.code_def.traces}
    assert any("programs" in place for place in places)
    assert not any("stepscope/capture/" in place for place in places)
    assert [problem["what"] for problem in told["problems"]] == ["no model of a graph-mode iterator"]
    chain(out, told)


def eager(out: Path, told: dict[str, Any], name: str) -> None:
    """TensorFlow 2: models of the iterator from before and after the recording, and the graph."""
    assert told["problems"] == []
    samples = lines(out / "pipeline/models.ndjson")
    first, last = samples[0], samples[-1]
    assert last["elements"] - first["elements"] >= STEPS
    model = parsed("model", (out / "pipeline" / last["file"]).read_bytes())
    assert model.nodes[model.output].num_elements == last["elements"]
    graph = parsed("graph", (out / "graphs/graph.pb").read_bytes())
    assert any(
        node.op == "MatMul" for function in graph.library.function for node in function.node_def
    ) or any(node.op == "MatMul" for node in graph.node)
    variables = [node.attr["shape"].shape for node in graph.node if node.attr["dtype"].type == RESOURCE]
    assert any(shape.dim for shape in variables)  # of what is in them: their handles are scalars
    chain(out, told)


def chain(out: Path, told: dict[str, Any]) -> None:
    """Each transformation has the line on which it is written."""
    for row in json.loads((out / "pipeline/datasets.json").read_text()):
        for position, stage in enumerate(row["chain"]):
            assert stage["position"] == position
            assert stage["made"] >= position
            assert stage["inputs"] == ([position - 1] if position else [])
            text = Path(stage["file"]).read_text().splitlines()[stage["line"] - 1]
            assert stage["text"] == text.strip()
            assert stage["transformation"] in text
            assert stage["dataset"].endswith("Dataset")


@pytest.mark.repeats("it needs another Python")
@pytest.mark.parametrize("name", NAMES)
def test_older_tensorflow(name: str, tmp_path: Path) -> None:
    python = os.environ.get("STEPSCOPE_OLD_TF_PYTHON")
    if not python:
        pytest.skip("STEPSCOPE_OLD_TF_PYTHON names no Python with an older TensorFlow")
    if run(python, "-c", f"import {'jax' if name == 'jax_loop' else 'tensorflow'}", cwd=tmp_path).returncode:
        pytest.skip("not installed there")
    told = both(name, python, tmp_path)
    assert told["recorded"]["steps"] == STEPS
    whole(tmp_path / "out", told)


@pytest.mark.repeats("TensorFlow is recorded a second time")
def test_a_server_that_calls_the_signature_of_a_saved_model(tmp_path: Path) -> None:
    installed("tensorflow")
    program = PROGRAMS / "tf2_served.py"
    done = record("--out", "out", "--steps", str(STEPS), "--", sys.executable, program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"stepscope: recorded {STEPS} steps of score to out" in done.stderr
    assert "missing:" not in done.stderr
    told = facts(tmp_path / "out")
    assert told["recorded"]["steps"] == STEPS
    assert {"graph", "op_log"} <= {piece["kind"] for piece in told["files"]}
