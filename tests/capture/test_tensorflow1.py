"""Real TensorFlow 1.15 on Python 3.7, and 1.1 on Python 3.6, recorded from outside and read here."""

import json
from pathlib import Path

import pytest

import stepscope
from tests.capture.launching import PROGRAMS, facts, lines, record, run
from tests.capture.olden import with_tensorflow

pytestmark = pytest.mark.repeats("needs a TensorFlow that only an older Python runs, and installs it")

NEW, OLD = ("3.7", "1.15.5"), ("3.6", "1.1.0")


@pytest.mark.parametrize(
    ("program", "version"),
    [
        ("session.py", NEW),
        ("session.py", OLD),
        ("monitored.py", NEW),
        ("monitored.py", OLD),
        ("estimator.py", NEW),
        ("keras.py", NEW),
    ],
    ids=lambda one: one if isinstance(one, str) else one[1],
)
def test_recorded_and_read(program: str, version: tuple[str, str], tmp_path: Path) -> None:
    python = with_tensorflow(*version)
    path = PROGRAMS / "tensorflow1" / program
    plain = run(python, path, cwd=tmp_path)
    assert plain.stdout.startswith("trained "), plain.stderr
    done = record("--out", "out", "--", python, path, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout), done.stderr
    out = tmp_path / "out"
    told = facts(out)
    assert told["versions"]["tensorflow"] == version[1]
    assert told["framework"] == ["tf1_session"]
    assert told["sessions"][0]["how"] == "session_run"
    assert "Enqueue" not in told["sessions"][0]["name"], "threads of the framework make no steps"
    kinds = [file["kind"] for file in told["files"]]
    assert kinds.count("run_metadata") == 10
    assert {"graph", "partition_graph", "steps"} <= set(kinds)
    assert ("op_log" in kinds) == (version == NEW)
    assert {problem["what"] for problem in told["problems"]} - {"no model of a graph-mode iterator"} == (
        {"no XPlane"} if version == NEW else {"no XPlane", "no op log"}
    )
    steps = lines(out / "steps.ndjson")
    traced = [line["step"] for line in steps if line.get("run_metadata")]
    sampled = [line["step"] for line in steps if line["recorded"] and not line.get("run_metadata")]
    with stepscope.open(str(out)) as trace:
        asked = "SELECT step FROM step WHERE recovered_from = $1 AND averaged = $2 ORDER BY step"
        assert [row.step for row in trace.query(asked, ["file", False])] == traced
        assert [row.step for row in trace.query(asked, ["recorder", True])][1:] == sampled[1:]
        (products,) = trace.query("SELECT count(*) AS many FROM slice WHERE name LIKE '%MatMul%'")
    assert products.many >= 10


def test_lines_of_the_pipeline(tmp_path: Path) -> None:
    """Of an Estimator the input_fn makes the datasets: each stage is known by its line."""
    python = with_tensorflow(*NEW)
    path = PROGRAMS / "tensorflow1" / "estimator.py"
    assert record("--out", "out", "--", python, path, cwd=tmp_path).returncode == 0
    (row,) = json.loads((tmp_path / "out" / "pipeline" / "datasets.json").read_text())
    text = path.read_text().splitlines()
    stages = [(stage["transformation"], text[stage["line"] - 1].strip()) for stage in row["chain"]]
    assert [name for name, _ in stages] == ["range", "map", "map", "batch"]
    assert "py_func(slow" in stages[1][1]
    assert stages[3][1] == "return dataset.batch(4)"
