"""`stepscope pipeline`: a diagram for people, a document for programs, 2 when nothing can be said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stepscope.cli import main

SAMPLES = Path(__file__).resolve().parents[1] / "samples"


def test_a_py_function_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    recording = str(SAMPLES / "tf_data" / "map_py_function.xplane.pb")
    assert main(["pipeline", "--no-cache", "--format", "json", recording]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["format"], told["verdict"]) == (1, "input_bound")
    assert 0.2 <= told["wait_ratio"] <= 1
    assert told["bottleneck"]["stage"].rpartition("::")[2] in ("Map", "ParallelMapV2", "MapAndBatch")
    assert told["bottleneck"]["runs_python"]
    assert {"predicted_step_ps", "low", "high", "limits_next"} <= told["changes"][0].keys()
    assert main(["pipeline", "--no-cache", recording]) == 0
    drawn = capsys.readouterr().out
    assert "The input is the bottleneck" in drawn
    assert sum("◀ bottleneck" in line for line in drawn.splitlines()) == 1


def test_a_recording_without_a_pipeline_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    recording = str(next((SAMPLES / "chrome").glob("*.json*")))
    assert main(["pipeline", "--no-cache", "--format", "json", recording]) == 2
    shown = capsys.readouterr()
    assert json.loads(shown.out)["verdict"] == "unknown"
    assert "to do: record" in shown.err
