"""Recordings that a program makes itself."""

import json
import os
import sys
from pathlib import Path

import pytest

from tests.capture.launching import PROGRAMS, facts, lines, run

of_tensorflow = pytest.mark.repeats("a program that records itself with TensorFlow, in six ways")
SOURCE = str(Path(__file__).resolve().parents[2] / "src")


@pytest.fixture(scope="module")
def tf2(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    pytest.importorskip("tensorflow")
    out = tmp_path_factory.mktemp("tf2")
    done = run(sys.executable, PROGRAMS / "tf2_from_code.py", out, cwd=out, PYTHONPATH=SOURCE)
    assert done.returncode == 0, done.stderr
    return out, done.stdout.splitlines()


@of_tensorflow
def test_what_the_program_is_told(tf2: tuple[Path, list[str]]) -> None:
    _, said = tf2
    assert said[:3] == ["within 4", "every 8", "own 3"]
    assert said[3].startswith("['nothing was recorded: no step was seen: no session was run")
    assert said[4] == "/keras is there already and not an empty folder"
    assert said[5:7] == ["busy 0", "then 2"]
    # What is called is TensorFlow's own again, and no second copy of the package was loaded.
    assert said[7] == "[] /traceback_utils.py"


@of_tensorflow
def test_context(tf2: tuple[Path, list[str]]) -> None:
    out = tf2[0] / "within"
    told = facts(out)
    assert told["mode"] == "code"
    assert told["problems"] == []
    rows = json.loads((out / "pipeline/datasets.json").read_text())
    assert [[stage.get("transformation") for stage in row["chain"]] for row in rows] == [
        ["", "", ""],
        ["range", "map", "batch", "prefetch"],
    ]
    lines_of = [stage["line"] for stage in rows[1]["chain"]]
    text = (PROGRAMS / "tf2_from_code.py").read_text().splitlines()
    assert "tf.data.Dataset.range" in text[lines_of[0] - 1]
    assert "prefetch(3)" in text[lines_of[3] - 1]
    assert rows[1]["chain"][3]["arguments"] == {"buffer_size": 3}
    assert "<lambda>" in rows[1]["chain"][1]["arguments"]["map_func"]
    assert {line["iterator"] for line in lines(out / "pipeline/models.ndjson")} == {0, 1}


@of_tensorflow
def test_every(tf2: tuple[Path, list[str]]) -> None:
    told = facts(tf2[0] / "every")
    assert [session["first_step"] for session in told["sessions"]] == [3, 13, 23, 33]
    assert sum(file["kind"] == "xplane" for file in told["files"]) == 4


@of_tensorflow
def test_own_steps(tf2: tuple[Path, list[str]]) -> None:
    rows = lines(tf2[0] / "own" / "steps.ndjson")
    assert {row["how"] for row in rows} == {"own"}
    assert [row["step"] for row in rows if row["recorded"]] == [4, 5, 6]
    # Those behind it tell what tracing cost; there are no more in the loop.
    assert [row["step"] for row in rows] == list(range(13))


@of_tensorflow
def test_keras(tf2: tuple[Path, list[str]]) -> None:
    told = facts(tf2[0] / "keras")
    assert told["sessions"][0]["how"] == "keras_batch"
    assert any(file["kind"] == "model" for file in told["files"])


@of_tensorflow
def test_busy(tf2: tuple[Path, list[str]]) -> None:
    (problem,) = facts(tf2[0] / "busy")["problems"]
    assert problem["what"] == "the profiler was busy"
    assert list((tf2[0] / "own_profiler").rglob("*.xplane.pb"))


@pytest.mark.repeats("each starts TensorFlow; programs that record themselves are recorded as others are")
def test_sessions(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    done = run(sys.executable, PROGRAMS / "tf1_from_code.py", tmp_path, cwd=tmp_path, PYTHONPATH=SOURCE)
    assert done.returncode == 0, done.stderr
    hook, session = tmp_path / "hook", tmp_path / "session"
    assert [row["step"] for row in lines(hook / "steps.ndjson")] == [3, 5, 7]
    assert [row["step"] for row in lines(session / "steps.ndjson")] == [5, 10, 15]
    for folder, steps in ((hook, (3, 5, 7)), (session, (5, 10, 15))):
        files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
        assert {f"run_metadata/step_{step}.pb" for step in steps} < files
        assert {f"run_metadata/timeline-{step}.json" for step in steps} < files
        assert {"graphs/graph.pb", "op_log.pb"} < files
        assert files == {"capture.json", *(file["path"] for file in facts(folder)["files"])}
    assert list(hook.glob("graphs/partition_3_*.pb"))
    assert not list(session.glob("graphs/partition_*"))
    memory = json.loads((hook / "run_metadata/timeline-5.json").read_text())["traceEvents"]
    flows = json.loads((session / "run_metadata/timeline-5.json").read_text())["traceEvents"]
    assert any(event["ph"] == "C" for event in memory)
    assert not any(event["ph"] == "C" for event in flows)


def test_imports_nothing(tmp_path: Path) -> None:
    code = (
        "import sys; from stepscope import capture; capture.record, capture.step, capture.Session\n"
        "print([n for n in sys.modules if n.split('.')[0] in ('tensorflow', 'jax', 'keras', 'duckdb', 'rich')"
        " or (n.startswith('stepscope.') and not n.startswith('stepscope.capture'))])"
    )
    done = run(sys.executable, "-c", code, cwd=tmp_path, **{**os.environ, "PYTHONPATH": SOURCE})
    assert done.stdout == "[]\n", done.stderr
