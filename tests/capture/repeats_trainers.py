"""Trainers of others for PyTorch, recorded without an edit: Hugging Face's Trainer, Accelerate, Lightning."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

import stepscope
from stepscope.cli import main
from tests.capture.launching import TORCH, facts, line_of, lines, record


@pytest.mark.parametrize(
    ("package", "program", "cause", "line", "function", "loader"),
    [
        ("transformers", "trainer.py", "input", "time.sleep", "__getitem__", ".train()"),
        ("accelerate", "accelerated.py", "input", "time.sleep", "collate", "accelerator.prepare("),
        ("lightning", "lit.py", "python", "sum(i % 3", "augment", "DataLoader(data, 32)"),
    ],
)
def test_a_trainer_is_recorded_as_the_program_that_it_trains(
    package: str,
    program: str,
    cause: str,
    line: str,
    function: str,
    loader: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    done = record("--out", "out", "--", sys.executable, TORCH / program, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "trained"), done.stderr
    told = facts(tmp_path / "out")
    assert told["problems"] == []
    assert told["sessions"][0]["name"].endswith(".step")
    recorded = [row for row in lines(tmp_path / "out" / "steps.ndjson") if row["recorded"]]
    assert len(recorded) >= 10
    with stepscope.open(str(tmp_path / "out")) as trace:
        answer = trace.summary().data["answer"]
        said = " ".join(trace.summary().headline)
    place = answer["place"]
    assert (answer["cause"], Path(place["file"]).name) == (cause, program)
    assert f"{program}:{line_of(program, line)} `{function}`" in said
    if program == "accelerated.py":
        # Two batches of 0.1 s each in a step: it ends with the update, not with each batch.
        assert all(row["end_unix_ns"] - row["begin_unix_ns"] >= 2 * 10**8 for row in recorded)
    assert main(["pipeline", "--no-cache", "--format", "json", str(tmp_path / "out")]) == 0
    said = " ".join(json.loads(capsys.readouterr().out)["evidence"])
    made = line_of(program, loader)
    assert f"{program}:{made} `main`, with num_workers=0" in said, "the program's line, not the trainer's"
